//! A table answered by its nearest rows, with landmarks that carry everything else.

use quorate_gp::data::{Dataset, Inputs, Schema};
use quorate_gp::watch::Watch;

use super::calibrate::calibrate;
use super::landmarks::{held_out, landmark_inputs};
use super::{Found, local};
use crate::answers::{Answers, Method};
use crate::error::Result;
use crate::landmarks::{
    Committee, Cut, LandmarkBelief, Landmarks, PartRecord, SummaryTree, absorb,
};
use crate::local::{LocalAnswers, SupportedAnswers, SupportedShape};
use crate::partition::{Labels, PartedRows, Partition};
use crate::spec::ModelSpec;
use crate::task::judge_held_out;

/// Rows of one part behind the landmarks unless told otherwise.
const PART_SIZE: usize = 500;
/// Name of the rows of a fit.
const PART_NAME: &str = "part-1";

pub fn fit(
    spec: &ModelSpec,
    schema: &Schema,
    data: Dataset,
    labels: Option<&Labels>,
    watch: &dyn Watch,
) -> Result<(Found, PartedRows, Committee, Answers)> {
    let how = Cut {
        parts: spec.parts.clone().unwrap_or_default(),
        part_size: spec.part_size.unwrap_or(PART_SIZE).max(1),
        held_out: held_out(data.rows()),
        seed: spec.seed,
    };
    let (best, tried) = local::learn(spec, schema, &data, watch)?;
    let kernel = best.kernel.kernel();
    let calibrated = calibrate(spec, schema, &kernel, best.noise, &data, watch)?;
    let noise = calibrated.noise;
    let bound = kernel.bind(schema.columns())?;
    let wanted = spec.landmark_count().unwrap_or(1).max(1);
    let chosen = landmark_inputs(spec, schema, &bound, data.inputs(), wanted, watch)?;
    let width = data.inputs().width();
    let landmarks = Landmarks::new(
        bound.clone(),
        Inputs::new(&chosen, chosen.len() / width, width)?,
    )?;
    let shape = SupportedShape {
        neighbourhood: local::neighbourhood(spec),
        landmarks: landmarks.count(),
        part_size: how.part_size,
        replace_touched: spec.replace_touched,
    };

    // Rows held out form parts of their own, so that the sum without them is on the way to the sum with them.
    let (held, others) = how.held_out_rows(data.rows());
    let partition = Partition {
        choice: &how.parts,
        size: how.part_size,
        seed: how.seed,
    };
    let lists = |rows: &[usize]| -> Result<Vec<Vec<usize>>> {
        let lists = partition.assign(&bound, &data.select(rows), labels, watch)?;
        let back = |list: &Vec<usize>| list.iter().map(|&place| rows[place]).collect();
        Ok(lists.iter().map(back).collect())
    };
    let (seen, last) = (lists(&others)?, lists(&held)?);
    let all: Vec<Vec<usize>> = seen.iter().chain(&last).cloned().collect();
    let rows = PartedRows::new(data, &all);
    let mut tree = SummaryTree::of_outputs(rows.data.outputs());
    absorb(&mut tree, &landmarks, noise, &rows.data.split(&seen), watch)?;
    let before = tree.clone().total(landmarks.count())?;

    watch.progress("scoring rows held out", 0, 1);
    let (others, asked) = rows.without(&held);
    let near =
        |data: &Dataset| LocalAnswers::new(bound.clone(), noise, data.clone(), shape.neighbourhood);
    let belief = LandmarkBelief::new(landmarks.clone(), &before)?;
    let local = near(&others.data);
    let marginals =
        SupportedAnswers::new(local, belief, &before, &others, shape).marginals(asked.inputs())?;
    let judged = judge_held_out(spec, schema, &asked, &marginals, noise)?;
    watch.progress("scoring rows held out", 1, 1);

    absorb(&mut tree, &landmarks, noise, &rows.data.split(&last), watch)?;
    let mut committee = Committee::new(&landmarks, rows.data.outputs(), rows.data.inputs());
    let record = PartRecord::new(PART_NAME, &rows.data, how);
    committee.add(record, tree.total(landmarks.count())?, false)?;
    let jitter = landmarks.factor().jitter();
    let belief = LandmarkBelief::new(landmarks, &committee.total)?;
    let outcome = format!(
        "{}{}{} Scores are of {} random rows, predicted from the others.",
        local::outcome(&tried, &kernel, &best.record, spec.learn),
        calibrated.remark,
        judged.remark,
        judged.scores.rows()
    );
    let found = Found {
        method: Method::Supported(shape),
        kernel,
        noise,
        jitter,
        log_evidence: Some(belief.log_evidence()),
        effective_parameters: Some(belief.effective_parameters()),
        leave_one_out: judged.scores,
        link: judged.link,
        spread: judged.spread,
        through: None,
        candidates: if tried.len() > 1 { tried } else { Vec::new() },
        history: Vec::new(),
        conditional: Some(best.record),
        outcome,
        hyperposterior: None,
        mixture: None,
    };
    let local = near(&rows.data);
    let answers = SupportedAnswers::new(local, belief, &committee.total, &rows, shape);
    Ok((
        found,
        rows,
        committee,
        Answers::Supported(Box::new(answers)),
    ))
}
