//! Each row predicted from all the others, without fitting again.

use super::LaplacePosterior;
use crate::Result;
use crate::likelihood::Latent;

impl LaplacePosterior {
    /// The belief about each row's latent value had the row not been seen, in the order of [`crate::data::Dataset::members`].
    ///
    /// At the mode a row looks like a factor of slope g and curvature W; taking it out of the Gaussian of variance s
    /// leaves variance `s / (1 - s W)` and mean `f - g s / (1 - s W)` (Vehtari et al. 2016, eq. 23-24). The mode does not
    /// move, so that a row of great influence is told a little too much about itself.
    pub fn leave_one_out(&self) -> Result<Vec<Latent>> {
        let fitted = self.latents(self.data().inputs())?;
        let mut taken = vec![0; self.data().rows()];
        let one = |member: &crate::data::Member| {
            let group = member.group;
            // Rows of a group stand in the order of the table, on both sides.
            let row = &self.seen().of_group(group)[taken[group]];
            taken[group] += 1;
            let f = self.mode()[group];
            let own = self.likelihood().derivatives(row, f);
            let (slope, curvature) = (row.weight * own.slope, row.weight * own.curvature);
            let spread = fitted[group].variance;
            let left = (1.0 - spread * curvature).max(1e-12);
            Latent {
                mean: f - slope * spread / left,
                variance: spread / left,
            }
        };
        Ok(self.data().members().iter().map(one).collect())
    }
}
