//! Rows cut into parts, parts absorbed into a summary.

use quorate_gp::data::{Dataset, random_rows};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::watch::{Piece, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Landmarks, Summary, SummaryTree};
use crate::error::Result;
use crate::partition::{Labels, PartChoice, Partition};

/// Experts at work at the same time: bounds the memory, whatever the number of rows. The sum does not depend on it.
const WAVE: usize = 8;

/// How the rows of a named part were given to experts: enough to do it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// By what rows are put into parts.
    #[serde(default)]
    pub parts: PartChoice,
    /// Rows of one expert, at most.
    pub part_size: usize,
    /// Random rows that were scored first and absorbed last.
    pub held_out: usize,
    /// Seed of their choice, and of random parts and clusters.
    pub seed: u64,
}

impl Cut {
    /// The same for rows that have lost the column by which parts were to be formed: those held out of a stream.
    pub fn without_column(&self) -> Cut {
        let parts = match &self.parts {
            PartChoice::Column(_) => PartChoice::Tree,
            other => other.clone(),
        };
        Cut {
            parts,
            ..self.clone()
        }
    }

    /// The rows held out and the others, both in increasing order.
    pub fn held_out_rows(&self, rows: usize) -> (Vec<usize>, Vec<usize>) {
        let held = random_rows(rows, self.held_out, self.seed ^ 0x6865_6c64);
        let mut is_held = vec![false; rows];
        held.iter().for_each(|&row| is_held[row] = true);
        let others = (0..rows).filter(|&row| !is_held[row]).collect();
        (held, others)
    }
}

/// The rows of each expert.
pub fn cut(
    kernel: &BoundKernel,
    data: &Dataset,
    how: &Cut,
    labels: Option<&Labels>,
    watch: &dyn Watch,
) -> Result<Vec<Dataset>> {
    let partition = Partition {
        choice: &how.parts,
        size: how.part_size,
        seed: how.seed,
    };
    Ok(data.split(&partition.assign(kernel, data, labels, watch)?))
}

/// Adds parts to a tree, in their order and a few at a time.
pub fn absorb(
    tree: &mut SummaryTree,
    landmarks: &Landmarks,
    noise: GaussianNoise,
    parts: &[Dataset],
    watch: &dyn Watch,
) -> Result<()> {
    for (wave, some) in parts.chunks(WAVE).enumerate() {
        watch.check()?;
        watch.progress("absorbing parts", wave * WAVE, parts.len());
        let journal = watch.journal();
        match journal.map_or(Piece::New, |journal| journal.piece()) {
            Piece::Earlier => continue,
            Piece::Last(sum) => {
                *tree = SummaryTree::from_numbers(landmarks.count(), tree.outputs(), &sum)?;
                continue;
            }
            Piece::New => {}
        }
        let summaries: Vec<Summary> = some
            .par_iter()
            .map(|part| Summary::of_part(landmarks, noise, part))
            .collect::<quorate_gp::Result<_>>()?;
        for summary in summaries {
            tree.push(summary)?;
        }
        if let Some(journal) = journal {
            journal.keep(&mut || tree.to_numbers())?;
        }
    }
    watch.progress("absorbing parts", parts.len(), parts.len());
    Ok(())
}

/// The summary of the rows of a named part, the way they were cut.
pub fn summarise(
    landmarks: &Landmarks,
    noise: GaussianNoise,
    data: &Dataset,
    how: &Cut,
    labels: Option<&Labels>,
    watch: &dyn Watch,
) -> Result<Summary> {
    let mut tree = SummaryTree::of_outputs(data.outputs());
    let (held, others) = how.held_out_rows(data.rows());
    for rows in data.split(&[others, held]) {
        let parts = cut(landmarks.kernel(), &rows, how, labels, watch)?;
        absorb(&mut tree, landmarks, noise, &parts, watch)?;
    }
    Ok(tree.total(landmarks.count())?)
}
