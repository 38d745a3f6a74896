//! Rows cut into parts, parts absorbed into a summary.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::kernel::BoundKernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::watch::{Piece, Watch};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Landmarks, Summary, SummaryTree};
use crate::error::Result;
use crate::expand::Expansion;
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

/// How rows are heard: with Gaussian noise, or as working targets at a common function.
#[derive(Clone, Copy)]
pub struct Ear<'a> {
    /// The landmarks with their kernel.
    pub landmarks: &'a Landmarks,
    /// The noise of the rows, or of their working targets beyond their own.
    pub noise: GaussianNoise,
    /// Where rows with a likelihood expand, and how their targets are read.
    pub expansion: Option<(&'a Schema, &'a Expansion)>,
}

impl Ear<'_> {
    /// Cuts rows into parts and adds them to a tree.
    pub fn hear(
        &self,
        tree: &mut SummaryTree,
        data: &Dataset,
        how: &Cut,
        labels: Option<&Labels>,
        watch: &dyn Watch,
    ) -> Result<()> {
        let kernel = self.landmarks.kernel();
        let Some((schema, expansion)) = self.expansion else {
            let parts = cut(kernel, data, how, labels, watch)?;
            return absorb(tree, self.landmarks, self.noise, &parts, watch);
        };
        let working = expansion.working(schema, data)?;
        let parts = cut(kernel, &working.data, how, None, watch)?;
        absorb(tree, self.landmarks, self.noise, &parts, watch)?;
        Ok(tree.push(working.rest(self.landmarks.count()))?)
    }

    /// The summary of the rows of a named part, the way they were cut.
    pub fn summarise(
        &self,
        data: &Dataset,
        how: &Cut,
        labels: Option<&Labels>,
        watch: &dyn Watch,
    ) -> Result<Summary> {
        let functions = match self.expansion {
            Some(_) => 1,
            None => data.outputs(),
        };
        let mut tree = SummaryTree::of_outputs(functions);
        let (held, others) = how.held_out_rows(data.rows());
        for rows in data.split(&[others, held]) {
            self.hear(&mut tree, &rows, how, labels, watch)?;
        }
        Ok(tree.total(self.landmarks.count())?)
    }
}
