//! Columns that hold counts, and other numbers behind a likelihood: alone, and given their parents.

use quorate_gp::data::{Column, Frame, Quantity, Sighting};
use quorate_gp::likelihood::{Latent, Likelihood, NegativeBinomial, Poisson};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::conditional::{normal, numbers};
use super::sample::uniform;
use crate::error::{Error, Result};
use crate::task::QuantityPrediction;

/// Counts without parents: a negative binomial, or a Poisson where they do not scatter more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Mean count.
    pub mean: f64,
    /// Size of the negative binomial, whose variance is `mean + mean^2 / size`; none for a Poisson.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
}

impl Tally {
    /// By the first two moments.
    pub fn of(name: &str, column: &Column) -> Result<Self> {
        let cells = whole(name, column)?;
        let count = cells.len().max(1) as f64;
        let mean = cells.iter().sum::<f64>() / count;
        let spread = cells.iter().map(|cell| (cell - mean).powi(2)).sum::<f64>() / count;
        Ok(Self {
            // Half a count where there was none.
            mean: mean.max(0.5 / count),
            size: (spread > mean).then(|| mean * mean / (spread - mean)),
        })
    }

    /// False for what no column of counts has.
    pub(super) fn is_sound(&self) -> bool {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        positive(self.mean) && self.size.is_none_or(positive)
    }

    fn likelihood(&self) -> (Likelihood, Latent) {
        let latent = Latent {
            mean: self.mean.ln(),
            variance: 0.0,
        };
        let likelihood = match self.size {
            Some(size) => Likelihood::NegativeBinomial(NegativeBinomial { size }),
            None => Likelihood::Poisson(Poisson {}),
        };
        (likelihood, latent)
    }

    /// Log probability of a count: `r^r m^y / (r + m)^(r + y)` times the binomial coefficient.
    pub fn log_probability(&self, count: f64) -> f64 {
        let m = self.mean;
        match self.size {
            Some(r) => {
                ln_gamma(count + r) - ln_gamma(r) - ln_gamma(count + 1.0)
                    + r * (r / (r + m)).ln()
                    + count * (m / (r + m)).ln()
            }
            None => count * m.ln() - m - ln_gamma(count + 1.0),
        }
    }

    /// A count drawn.
    pub fn draw(&self, random: &mut ChaCha12Rng) -> f64 {
        let (likelihood, latent) = self.likelihood();
        likelihood.quantile(latent, uniform(random))
    }
}

/// Refuses a cell of these columns that is no count, by its place in the table; missing cells teach nothing.
pub fn check(table: &Frame, names: &[String]) -> Result<()> {
    for name in names {
        let problem = match table.column(name) {
            Some(Column::Number(cells)) => {
                let found = cells
                    .iter()
                    .position(|cell| !cell.is_nan() && !is_count(*cell));
                found.map(|row| (row, cells[row].to_string()))
            }
            Some(Column::Text(cells)) => {
                let found = cells.iter().position(Option::is_some);
                found.map(|row| (row, "text".to_owned()))
            }
            None => None,
        };
        if let Some((row, found)) = problem {
            let problem = format!(
                "found {found} where a count is expected: counts are 0, 1, 2, ..; correct the cell or leave `{name}` out of the counts"
            );
            return Err(quorate_gp::Error::data(table.location(row, name), problem).into());
        }
    }
    Ok(())
}

fn is_count(cell: f64) -> bool {
    cell.is_finite() && cell >= 0.0 && cell.fract() == 0.0
}

/// The cells of a column of counts.
pub fn whole<'a>(name: &str, column: &'a Column) -> Result<&'a [f64]> {
    let cells = numbers(column)?;
    match cells.iter().find(|cell| !is_count(**cell)) {
        Some(cell) => Err(Error::Spec(format!(
            "`{name}` holds counts, which {cell} is not: leave it out of the counts"
        ))),
        None => Ok(cells),
    }
}

/// A target of each row: the latent value first, then what the likelihood makes of it.
pub fn draw(told: &QuantityPrediction, random: &mut ChaCha12Rng) -> Column {
    let cells = (0..told.rows()).map(|row| {
        let (likelihood, belief) = match told.draws.is_empty() {
            true => (told.likelihood, told.latent(row)),
            false => {
                let all = &told.draws;
                let place = (uniform(random) * all.len() as f64) as usize;
                let own = &all[place.min(all.len() - 1)];
                let (mean, variance) = (own.latent_mean[row], own.latent_variance[row]);
                (own.likelihood, Latent { mean, variance })
            }
        };
        let latent = Latent {
            mean: belief.mean + belief.variance.sqrt() * normal(random),
            variance: 0.0,
        };
        told.code
            .unit
            .undo(likelihood.quantile(latent, uniform(random)))
    });
    Column::Number(cells.collect())
}

/// Log density of the cells.
pub fn log_densities(name: &str, told: &QuantityPrediction, column: &Column) -> Result<Vec<f64>> {
    let cells = match told.code.quantity {
        Quantity::Count => whole(name, column)?,
        _ => numbers(column)?,
    };
    let seen = cells.iter().map(|&value| Sighting {
        value,
        exposure: 1.0,
        observed: true,
    });
    Ok(seen
        .enumerate()
        .map(|(row, seen)| told.log_density(row, &seen))
        .collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use quorate_gp::likelihood::Observation;

    use super::*;

    #[test]
    fn tallies_are_those_of_the_likelihoods_and_add_up_to_one() {
        for cells in [vec![0.0, 1.0, 2.0, 1.0], vec![0.0, 0.0, 9.0, 1.0, 0.0, 2.0]] {
            let tally = Tally::of("n", &Column::Number(cells.clone())).unwrap();
            let sum: f64 = (0..400)
                .map(|n| tally.log_probability(f64::from(n)).exp())
                .sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            let (likelihood, latent) = tally.likelihood();
            for cell in cells {
                let theirs = likelihood.log_predictive(&Observation::of(cell), latent);
                assert!((tally.log_probability(cell) - theirs).abs() < 1e-9);
            }
        }
        assert!(Tally::of("n", &Column::Number(vec![0.5])).is_err());
        assert!(Tally::of("n", &Column::Number(vec![-1.0])).is_err());
    }
}
