//! The tensors of a model that keeps its rows: distinct inputs with their known noise, and the members of each.

use quorate_gp::data::Dataset;
use safetensors::tensor::{Dtype, SafeTensors};

use super::{Tensor, bad, bytes_of, matrix, numbers, words};
use crate::error::Result;

pub fn tensors(data: &Dataset) -> Vec<Tensor> {
    let members = data.members();
    let of_members = |value: &dyn Fn(usize) -> [u8; 8]| -> Vec<u8> {
        (0..members.len()).flat_map(value).collect()
    };
    let count = vec![members.len()];
    let width = data.inputs().width();
    vec![
        Tensor(
            "inputs",
            Dtype::F64,
            vec![data.rows(), width],
            bytes_of(data.inputs().values()),
        ),
        Tensor(
            "known_noise",
            Dtype::F64,
            vec![data.rows()],
            bytes_of(data.known_noise()),
        ),
        Tensor(
            "group",
            Dtype::U64,
            count.clone(),
            of_members(&|i| (members[i].group as u64).to_le_bytes()),
        ),
        targets(data),
        Tensor(
            "weight",
            Dtype::F64,
            count,
            of_members(&|i| members[i].weight.to_le_bytes()),
        ),
    ]
}

/// The targets of each member: a vector, or a matrix with a column for each output where there are several.
fn targets(data: &Dataset) -> Tensor {
    let members = data.members().len();
    let shape = match data.outputs() {
        1 => vec![members],
        outputs => vec![members, outputs],
    };
    let values: Vec<f64> = (0..members).flat_map(|i| data.own_targets(i)).collect();
    Tensor("target", Dtype::F64, shape, bytes_of(&values))
}

/// The rows of a file, whose schema says how many columns and outputs they have.
pub fn read(tensors: &SafeTensors<'_>, expected_width: usize, outputs: usize) -> Result<Dataset> {
    let (distinct, width, inputs) = matrix(tensors, "inputs")?;
    if width != expected_width {
        return Err(bad("inputs", "rows and schema disagree in width".into()));
    }
    let known = numbers(tensors, "known_noise")?;
    let target = numbers(tensors, "target")?;
    let weight = numbers(tensors, "weight")?;
    let group: Vec<usize> = words(tensors, "group", Dtype::U64)?
        .map(|word| u64::from_le_bytes(word) as usize)
        .collect();
    let members = target.len() / outputs.max(1);
    if target.len() != members * outputs
        || known.len() != distinct
        || weight.len() != members
        || group.len() != members
        || group.iter().any(|&g| g >= distinct)
    {
        return Err(bad("rows", "the lengths of its tensors disagree".into()));
    }
    let mut values = Vec::with_capacity(members * width);
    for &g in &group {
        values.extend_from_slice(&inputs[g * width..(g + 1) * width]);
    }
    let noise = group.iter().map(|&g| known[g]).collect();
    Ok(Dataset::with_outputs(
        values,
        width,
        target,
        outputs,
        Some(weight),
        Some(noise),
    )?)
}
