//! The tensors of a landmarks model: landmarks, the sum of all parts, and the parts that were kept.

use quorate_gp::linalg::Matrix;
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::{Tensor, bad, bytes_of, matrix, numbers};
use crate::error::Result;
use crate::landmarks::{Committee, Part, PartRecord, Summary};

/// What goes into the header's JSON text.
#[derive(Serialize, Deserialize)]
pub struct Record {
    /// Least and greatest value of each encoded column.
    range: Vec<(f64, f64)>,
    total: Scalars,
    parts: Vec<StoredPart>,
    /// Sums at draws of the hyperparameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drawn: Vec<Scalars>,
}

/// The numbers of a summary that are no tensors.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Scalars {
    log_evidence: f64,
    rows: f64,
}

#[derive(Serialize, Deserialize)]
struct StoredPart {
    #[serde(flatten)]
    record: PartRecord,
    /// Present where the part's own summary was kept; summaries follow in the order of the parts.
    kept: Option<Scalars>,
}

impl Record {
    pub fn of(committee: &Committee) -> Self {
        let part = |part: &Part| StoredPart {
            record: part.record.clone(),
            kept: part.kept.as_ref().map(scalars),
        };
        Self {
            range: committee.range.clone(),
            total: scalars(&committee.total),
            parts: committee.parts.iter().map(part).collect(),
            drawn: committee.drawn.iter().map(scalars).collect(),
        }
    }
}

pub(super) fn scalars(summary: &Summary) -> Scalars {
    Scalars {
        log_evidence: summary.log_evidence,
        rows: summary.rows,
    }
}

pub fn tensors(committee: &Committee) -> Vec<Tensor> {
    let count = committee.total.landmarks();
    let kept: Vec<&Summary> = committee
        .parts
        .iter()
        .filter_map(|part| part.kept.as_ref())
        .collect();
    let mut tensors = vec![
        Tensor(
            "landmarks",
            Dtype::F64,
            vec![count, committee.width],
            bytes_of(&committee.landmarks),
        ),
        Tensor(
            "information",
            Dtype::F64,
            vec![packed(count)],
            bytes_of(&pack(&committee.total)),
        ),
        Tensor(
            "vector",
            Dtype::F64,
            shape(&[], &committee.total),
            bytes_of(&vector(&committee.total)),
        ),
    ];
    if let Some(anchor) = &committee.anchor {
        let bytes = bytes_of(anchor);
        tensors.push(Tensor("anchor", Dtype::F64, vec![count], bytes));
    }
    let drawn: Vec<&Summary> = committee.drawn.iter().collect();
    let several = [
        ("part_information", "part_vector", kept),
        ("draw_information", "draw_vector", drawn),
    ];
    for (information_name, vector_name, summaries) in several {
        if summaries.is_empty() {
            continue;
        }
        let information: Vec<f64> = (summaries.iter())
            .flat_map(|summary| pack(summary))
            .collect();
        let vectors: Vec<f64> = (summaries.iter())
            .flat_map(|summary| vector(summary))
            .collect();
        tensors.push(Tensor(
            information_name,
            Dtype::F64,
            vec![summaries.len(), packed(count)],
            bytes_of(&information),
        ));
        tensors.push(Tensor(
            vector_name,
            Dtype::F64,
            shape(&[summaries.len()], summaries[0]),
            bytes_of(&vectors),
        ));
    }
    tensors
}

/// The shape of a summary's vector behind other axes: an axis of outputs only where there are several.
fn shape(before: &[usize], summary: &Summary) -> Vec<usize> {
    let outputs = (summary.outputs() > 1).then_some(summary.outputs());
    let axes = before.iter().copied().chain(outputs);
    axes.chain([summary.landmarks()]).collect()
}

/// A summary's vector, output after output.
pub(super) fn vector(summary: &Summary) -> Vec<f64> {
    (0..summary.outputs())
        .flat_map(|output| summary.vector.col_as_slice(output))
        .copied()
        .collect()
}

pub fn read(
    tensors: &SafeTensors<'_>,
    record: Record,
    expected_width: usize,
    outputs: usize,
) -> Result<Committee> {
    let (count, width, landmarks) = matrix(tensors, "landmarks")?;
    if width != expected_width || record.range.len() != width || count == 0 {
        return Err(bad("landmarks", "they and the schema disagree".into()));
    }
    let finite = |name: &str, values: Vec<f64>| {
        if values.iter().all(|value| value.is_finite()) {
            Ok(values)
        } else {
            Err(bad(name, "a number in it is not finite".into()))
        }
    };
    let landmarks = finite("landmarks", landmarks)?;
    let information = finite("information", numbers(tensors, "information")?)?;
    let vector = finite("vector", numbers(tensors, "vector")?)?;
    let total = unpack(count, outputs, &information, &vector, record.total)?;
    let kept = record
        .parts
        .iter()
        .filter(|part| part.kept.is_some())
        .count();
    let (information, vectors) = if kept == 0 {
        (Vec::new(), Vec::new())
    } else {
        (
            finite("part_information", numbers(tensors, "part_information")?)?,
            finite("part_vector", numbers(tensors, "part_vector")?)?,
        )
    };
    let mut next = information
        .chunks_exact(packed(count))
        .zip(vectors.chunks_exact(count * outputs));
    let mut parts = Vec::with_capacity(record.parts.len());
    for part in record.parts {
        let kept = match part.kept {
            None => None,
            Some(scalars) => {
                let (information, vector) = next
                    .next()
                    .ok_or_else(|| bad("part_information", "it is too short".into()))?;
                Some(unpack(count, outputs, information, vector, scalars)?)
            }
        };
        let record = part.record;
        parts.push(Part { record, kept });
    }
    let mut drawn = Vec::with_capacity(record.drawn.len());
    if !record.drawn.is_empty() {
        let information = finite("draw_information", numbers(tensors, "draw_information")?)?;
        let vectors = finite("draw_vector", numbers(tensors, "draw_vector")?)?;
        let sizes = (information.len(), vectors.len());
        if sizes
            != (
                record.drawn.len() * packed(count),
                record.drawn.len() * count,
            )
        {
            return Err(bad("draw_information", "it and the draws disagree".into()));
        }
        let each = information
            .chunks_exact(packed(count))
            .zip(vectors.chunks_exact(count));
        for ((information, vector), scalars) in each.zip(record.drawn) {
            drawn.push(unpack(count, outputs, information, vector, scalars)?);
        }
    }
    let anchor = match tensors.tensor("anchor") {
        Ok(_) => Some(finite("anchor", numbers(tensors, "anchor")?)?),
        Err(_) => None,
    };
    if anchor.as_ref().is_some_and(|anchor| anchor.len() != count) {
        return Err(bad("anchor", "it and the landmarks disagree".into()));
    }
    Ok(Committee {
        drawn,
        anchor,
        landmarks,
        width,
        range: record.range,
        total,
        parts,
    })
}

/// Entries of the lower triangle of a square matrix.
pub(super) fn packed(count: usize) -> usize {
    count * (count + 1) / 2
}

/// The lower triangle, column after column.
pub(super) fn pack(summary: &Summary) -> Vec<f64> {
    let count = summary.landmarks();
    let column = |column: usize| summary.information.col_as_slice(column)[column..].iter();
    (0..count).flat_map(column).copied().collect()
}

pub(super) fn unpack(
    count: usize,
    outputs: usize,
    lower: &[f64],
    vector: &[f64],
    scalars: Scalars,
) -> Result<Summary> {
    if lower.len() != packed(count) || vector.len() != count * outputs {
        return Err(bad("information", "it and the landmarks disagree".into()));
    }
    let mut information = Matrix::zeros(count, count);
    let mut start = 0;
    for column in 0..count {
        let end = start + count - column;
        information.col_as_slice_mut(column)[column..].copy_from_slice(&lower[start..end]);
        start = end;
    }
    Ok(Summary {
        information,
        vector: Matrix::from_fn(count, outputs, |row, output| vector[output * count + row]),
        log_evidence: scalars.log_evidence,
        rows: scalars.rows,
    })
}
