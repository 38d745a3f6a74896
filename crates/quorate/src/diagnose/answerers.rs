//! Who answered: the rows, neighbourhoods or landmarks behind a model's answers, as places on a map.

use quorate_gp::data::{Dataset, Inputs, random_rows};
use quorate_gp::linalg::{Factor, Matrix, MatrixRef, dot};
use quorate_gp::posterior::Predict;
use serde::Serialize;

use super::{MapColumns, SampledRow};
use crate::answers::Answers;
use crate::error::Result;
use crate::landmarks::{Committee, LandmarkBelief};
use crate::local::LocalAnswers;
use crate::model::Model;

/// Examples of experts that are shown.
const EXAMPLES: usize = 5;

/// Where a model's answers come from. Places are in the inputs' own units, one number an axis of the map.
#[derive(Clone, Debug, PartialEq)]
pub enum Answerers {
    /// All rows answer every question.
    AllRows {
        /// A sample of them.
        rows: Vec<Vec<f64>>,
    },
    /// The rows nearest to each question.
    Nearest {
        /// A sample of all rows.
        rows: Vec<Vec<f64>>,
        /// Some questions, far from each other, with the rows that answered them.
        experts: Vec<Expert>,
    },
    /// All parts, about blocks of questions.
    Parts {
        /// A sample of the rows of each part.
        parts: Vec<Vec<Vec<f64>>>,
    },
    /// Landmarks, which heard every part.
    Landmarks {
        /// Their places.
        places: Vec<Vec<f64>>,
        /// Share of the prior variance that the rows removed at each, between 0 and 1.
        known: Vec<f64>,
        /// What each part brought.
        parts: Vec<PartShare>,
    },
}

/// A question and the rows that answered it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expert {
    /// Where the question is.
    pub question: Vec<f64>,
    /// Where its nearest rows are.
    pub rows: Vec<Vec<f64>>,
}

/// What a part brought to the sum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PartShare {
    /// Name of the part.
    pub name: String,
    /// Its rows.
    pub rows: usize,
    /// Its share of the effective parameters, trace(B^-1 B_i): over all parts they add up to gamma. Known where the
    /// part's own summary was kept.
    pub effective_parameters: Option<f64>,
}

impl Model {
    /// Who answers this model's questions; at most `sampled` training rows are shown, and examples are chosen among
    /// `questions`.
    pub fn answerers(&self, questions: &[SampledRow], sampled: usize) -> Result<Answerers> {
        let map = self.map_columns()?;
        Ok(match self.answers()? {
            Answers::Exact(posterior) => Answerers::AllRows {
                rows: places(&map, posterior.data().inputs(), sampled, self.spec().seed),
            },
            Answers::Latent(latent) => Answerers::AllRows {
                rows: places(&map, latent.data().inputs(), sampled, self.spec().seed),
            },
            Answers::Coupled(posterior) => Answerers::AllRows {
                rows: places(&map, posterior.data().inputs(), sampled, self.spec().seed),
            },
            Answers::Mixture(mixture) => Answerers::AllRows {
                rows: places(&map, mixture.rows().inputs()?, sampled, self.spec().seed),
            },
            Answers::Local(local) => Answerers::Nearest {
                rows: places(&map, local.data().inputs(), sampled, self.spec().seed),
                experts: experts(&map, local, questions)?,
            },
            Answers::Supported(supported) => {
                let local = supported.local();
                Answerers::Nearest {
                    rows: places(&map, local.data().inputs(), sampled, self.spec().seed),
                    experts: experts(&map, local, questions)?,
                }
            }
            Answers::Joint(joint) => {
                let members = joint.members().iter().map(|member| member.part());
                let all: usize = members.clone().map(Dataset::rows).sum();
                // Every part gets its share of the rows shown, and one at least.
                let parts = members.map(|data| {
                    let most = (data.rows() * sampled).div_ceil(all.max(1)).max(1);
                    places(&map, data.inputs(), most, self.spec().seed)
                });
                Answerers::Parts {
                    parts: parts.collect(),
                }
            }
            Answers::Landmarks(belief) => {
                let inputs = belief.landmarks().inputs();
                let (after, before) = (belief.marginals(inputs)?, belief.prior(inputs));
                let known = (0..inputs.rows())
                    .map(|row| 1.0 - after.variance[(row, 0)] / before.variance[(row, 0)])
                    .map(|share| share.clamp(0.0, 1.0))
                    .collect();
                Answerers::Landmarks {
                    places: (0..inputs.rows())
                        .map(|row| map.place(inputs.row(row)))
                        .collect(),
                    known,
                    parts: self
                        .committee()
                        .map_or_else(Vec::new, |committee| parts(committee, belief)),
                }
            }
        })
    }
}

fn places(map: &MapColumns, inputs: Inputs<'_>, most: usize, seed: u64) -> Vec<Vec<f64>> {
    random_rows(inputs.rows(), most, seed)
        .into_iter()
        .map(|row| map.place(inputs.row(row)))
        .collect()
}

/// Questions as far from each other on the map as can be had, with the rows that answered them.
fn experts(
    map: &MapColumns,
    local: &LocalAnswers,
    questions: &[SampledRow],
) -> Result<Vec<Expert>> {
    let mut chosen: Vec<usize> = Vec::new();
    let distance = |a: &SampledRow, b: &SampledRow| -> f64 {
        let pairs = a.place.iter().zip(&b.place);
        pairs.map(|(a, b)| (a - b).powi(2)).sum()
    };
    // Rows at the rim have lopsided neighbourhoods; the sample's inner nine tenths show more.
    let middle: Vec<usize> = inner(questions);
    while chosen.len() < EXAMPLES.min(middle.len()) {
        let next = middle.iter().copied().max_by(|&a, &b| {
            let nearest = |row: usize| {
                let others = chosen
                    .iter()
                    .map(|&other| distance(&questions[row], &questions[other]));
                others.fold(f64::INFINITY, f64::min)
            };
            nearest(a).total_cmp(&nearest(b)).then(b.cmp(&a))
        });
        match next {
            Some(next) if !chosen.contains(&next) => chosen.push(next),
            _ => break,
        }
    }
    chosen
        .into_iter()
        .map(|row| {
            let question = &questions[row];
            let width = question.inputs.len();
            let rows = local.nearest(Inputs::new(&question.inputs, 1, width)?);
            let inputs = local.data().inputs();
            Ok(Expert {
                question: map.own_units(&question.place),
                rows: rows.iter().map(|&row| map.place(inputs.row(row))).collect(),
            })
        })
        .collect()
}

/// The questions without the outermost twentieth at either end of each axis.
fn inner(questions: &[SampledRow]) -> Vec<usize> {
    let axes = questions.first().map_or(0, |row| row.place.len());
    let mut kept = vec![true; questions.len()];
    for axis in 0..axes {
        let mut values: Vec<f64> = questions.iter().map(|row| row.place[axis]).collect();
        values.sort_by(f64::total_cmp);
        let rim = values.len() / 20;
        let (low, high) = (values[rim], values[values.len() - 1 - rim]);
        for (kept, row) in kept.iter_mut().zip(questions) {
            *kept &= row.place[axis] >= low && row.place[axis] <= high;
        }
    }
    (0..questions.len()).filter(|&row| kept[row]).collect()
}

/// What each part brought: gamma = trace(B^-1 (B - I)) is a sum over parts, because B - I is.
fn parts(committee: &Committee, belief: &LandmarkBelief) -> Vec<PartShare> {
    let inverse = belief.factor().inverse_lower();
    committee
        .parts
        .iter()
        .map(|part| PartShare {
            name: part.record.name.clone(),
            rows: part.record.rows,
            effective_parameters: part.kept.as_ref().map(|summary| {
                trace_of_quotient(belief.factor(), inverse.as_ref(), &summary.information)
            }),
        })
        .collect()
}

/// `trace(B^-1 A)` with `B = L L'`, given `L^-1` and the lower triangle of A: the sum of the products of the entries of
/// `L^-1 A` and `L^-1`.
fn trace_of_quotient(factor: &Factor, inverse: MatrixRef<'_>, lower: &Matrix) -> f64 {
    let count = lower.nrows();
    let mut whole = Matrix::from_fn(count, count, |row, column| {
        lower[(row.max(column), row.min(column))]
    });
    factor.whiten(whole.as_mut());
    (0..count)
        .map(|column| {
            let inverse: Vec<f64> = (column..count).map(|row| inverse[(row, column)]).collect();
            dot(&whole.col_as_slice(column)[column..], &inverse)
        })
        .sum()
}
