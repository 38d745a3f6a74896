//! The tensors of a model whose rows are in parts: the rows, and the part of each.

use safetensors::tensor::{Dtype, SafeTensors};

use super::{Tensor, bad, rows, words};
use crate::error::Result;
use crate::partition::PartedRows;

pub fn tensors(parted: &PartedRows) -> Vec<Tensor> {
    let mut tensors = rows::tensors(&parted.data);
    let bytes = parted.part_of.iter();
    tensors.push(Tensor(
        "part",
        Dtype::U64,
        vec![parted.part_of.len()],
        bytes
            .flat_map(|&part| u64::from(part).to_le_bytes())
            .collect(),
    ));
    tensors
}

pub fn read(
    tensors: &SafeTensors<'_>,
    expected_width: usize,
    outputs: usize,
) -> Result<PartedRows> {
    let data = rows::read(tensors, expected_width, outputs)?;
    let parts: Vec<u64> = words(tensors, "part", Dtype::U64)?
        .map(u64::from_le_bytes)
        .collect();
    // A part has at least one row, so there are no more parts than rows.
    if parts.len() != data.rows() || parts.iter().any(|&part| part >= data.rows() as u64) {
        return Err(bad("part", "it and the rows disagree".into()));
    }
    let part_of = parts.into_iter().map(|part| part as u32).collect();
    Ok(PartedRows { data, part_of })
}
