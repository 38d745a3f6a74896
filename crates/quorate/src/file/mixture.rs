//! The tensors of a mixture: its rows, and what they say to each process.

use quorate_gp::data::Dataset;
use safetensors::tensor::{Dtype, SafeTensors};

use super::{Tensor, bad, bytes_of, committee, matrix, rows};
use crate::error::Result;
use crate::landmarks::Summary;
use crate::mixture::{Heard, MixtureState, Sites};

pub fn tensors(state: &MixtureState) -> Vec<Tensor> {
    let mut tensors = rows::tensors(&state.data);
    if let Some(heard) = &state.heard {
        tensors.extend(of_heard(heard, state.data.inputs().width()));
        return tensors;
    }
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

/// What all rows said to the landmarks: the landmarks, then one sum for each process.
fn of_heard(heard: &Heard, width: usize) -> [Tensor; 3] {
    let (processes, count) = (heard.summaries.len(), heard.landmarks.len() / width.max(1));
    let all = |own: &dyn Fn(&Summary) -> Vec<f64>| -> Vec<u8> {
        let each = heard.summaries.iter();
        each.flat_map(|summary| bytes_of(&own(summary))).collect()
    };
    let tensor = |name, shape: [usize; 2], bytes| Tensor(name, Dtype::F64, shape.to_vec(), bytes);
    [
        tensor("landmarks", [count, width], bytes_of(&heard.landmarks)),
        tensor(
            "process_information",
            [processes, committee::packed(count)],
            all(&committee::pack),
        ),
        tensor(
            "process_vector",
            [processes, count],
            all(&committee::vector),
        ),
    ]
}

fn heard(tensors: &SafeTensors<'_>, expected_width: usize) -> Result<Heard> {
    let (count, width, landmarks) = matrix(tensors, "landmarks")?;
    let (processes, packed, information) = matrix(tensors, "process_information")?;
    let (again, length, vectors) = matrix(tensors, "process_vector")?;
    let numbers = landmarks.iter().chain(&information).chain(&vectors);
    if width != expected_width
        || count == 0
        || packed != committee::packed(count)
        || (again, length) != (processes, count)
        || numbers.clone().any(|number| !number.is_finite())
    {
        return Err(bad("landmarks", "they and the sums disagree".into()));
    }
    let each = information.chunks(packed).zip(vectors.chunks(count));
    let summaries = each.map(|(information, vector)| {
        committee::unpack(count, 1, information, vector, committee::Scalars::default())
    });
    Ok(Heard {
        landmarks,
        summaries: summaries.collect::<Result<_>>()?,
    })
}

pub fn read(tensors: &SafeTensors<'_>, width: usize, outputs: usize) -> Result<MixtureState> {
    let data: Dataset = rows::read(tensors, width, outputs)?;
    let has = |name| tensors.names().contains(&name);
    if !has("site_precision") {
        let heard = match has("process_information") {
            true => Some(heard(tensors, width)?),
            false => None,
        };
        return Ok(MixtureState {
            data,
            sites: Vec::new(),
            heard,
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
        heard: None,
        sites: sites
            .map(|(precision, shift)| Sites {
                precision: precision.to_vec(),
                shift: shift.to_vec(),
            })
            .collect(),
    })
}
