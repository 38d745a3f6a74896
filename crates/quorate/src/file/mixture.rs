//! The tensors of a mixture: its rows, and what they say to each process.

use quorate_gp::data::Dataset;
use safetensors::tensor::{Dtype, SafeTensors};

use super::{Tensor, bad, bytes_of, matrix, rows};
use crate::error::Result;
use crate::mixture::{MixtureState, Sites};

pub fn tensors(state: &MixtureState) -> Vec<Tensor> {
    let mut tensors = rows::tensors(&state.data);
    if state.sites.is_empty() {
        // Experts with weights are told in the JSON text.
        return tensors;
    }
    let shape = vec![state.sites.len(), state.data.members().len()];
    let all = |own: &dyn Fn(&Sites) -> Vec<f64>| -> Vec<u8> {
        state
            .sites
            .iter()
            .flat_map(|sites| bytes_of(&own(sites)))
            .collect()
    };
    let precision = all(&|sites| sites.precision.clone());
    let shift = all(&|sites| sites.shift.clone());
    tensors.push(Tensor(
        "site_precision",
        Dtype::F64,
        shape.clone(),
        precision,
    ));
    tensors.push(Tensor("site_shift", Dtype::F64, shape, shift));
    tensors
}

pub fn read(tensors: &SafeTensors<'_>, width: usize, outputs: usize) -> Result<MixtureState> {
    let data: Dataset = rows::read(tensors, width, outputs)?;
    if !tensors.names().contains(&"site_precision") {
        return Ok(MixtureState {
            data,
            sites: Vec::new(),
        });
    }
    let (processes, members, precision) = matrix(tensors, "site_precision")?;
    let (again, columns, shift) = matrix(tensors, "site_shift")?;
    if members != data.members().len() || (again, columns) != (processes, members) {
        return Err(bad("sites", "they and the rows disagree".into()));
    }
    let sites = precision
        .chunks(members.max(1))
        .zip(shift.chunks(members.max(1)));
    Ok(MixtureState {
        data,
        sites: sites
            .map(|(precision, shift)| Sites {
                precision: precision.to_vec(),
                shift: shift.to_vec(),
            })
            .collect(),
    })
}
