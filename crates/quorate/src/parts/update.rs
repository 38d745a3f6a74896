//! One more part.

use quorate_gp::data::{Batches, Frame, InMemory};
use quorate_gp::watch::Watch;
use sha2::{Digest, Sha256};

use super::{bound, expansion};
use crate::answers::Method;
use crate::error::{Error, Result};
use crate::fit::Fitted;
use crate::landmarks::{
    CHUNK_ROWS, Committee, Cut, Ear, Listener, PartRecord, Streamed, SummaryTree,
};
use crate::model::Model;

impl Model {
    /// Absorbs the rows of a table as a further part, in one pass: the same result as fitting them as parts of one table
    /// under the same scaling, kernel and landmarks. Returns sentences for people about the rows.
    pub fn update(
        self,
        table: &Frame,
        name: &str,
        keep: bool,
        watch: &dyn Watch,
    ) -> Result<(Model, Vec<String>)> {
        self.update_stream(&mut InMemory::new(table.clone()), name, keep, watch)
    }

    /// The same for a table that is read as it comes; memory does not grow with its rows.
    pub fn update_stream(
        self,
        table: &mut dyn Batches,
        name: &str,
        keep: bool,
        watch: &dyn Watch,
    ) -> Result<(Model, Vec<String>)> {
        begin(&self, name, keep, watch)?;
        let (fitted, mut committee) = self.into_committee("be updated")?;
        check_name(&committee, name)?;
        let cut = further_cut(&fitted, CHUNK_ROWS);
        let landmarks = committee.under(bound(&fitted)?)?;
        let expansion = expansion(&fitted, &committee, &landmarks)?;
        let listener = Listener {
            schema: &fitted.schema,
            ear: Ear {
                landmarks: &landmarks,
                noise: fitted.found.noise,
                expansion: expansion.as_ref().map(|own| (&fitted.schema, own)),
            },
            cut: &cut,
        };
        let streamed = Streamed {
            chunk: CHUNK_ROWS,
            held_out: Vec::new(),
        };
        let mut tree = SummaryTree::of_outputs(committee.total.outputs());
        let pass = listener.hear(&mut tree, table, &streamed, &committee, watch)?;
        if pass.rows == 0 {
            return Err(Error::Spec(format!("part `{name}` has no rows")));
        }
        let summary = tree.total(landmarks.count())?;
        let record = PartRecord::of_pass(name, &pass, cut, streamed);
        committee.add(record, summary, keep || fitted.spec.keep_parts)?;
        Ok((Model::of_committee(fitted, committee)?, pass.notes))
    }
}

/// How the rows of a further part are given to experts.
pub(crate) fn further_cut(fitted: &Fitted, rows: usize) -> Cut {
    Cut {
        parts: fitted.spec.parts_through_landmarks(),
        part_size: match fitted.found.method {
            Method::Landmarks(shape) => shape.part_size,
            _ => rows,
        },
        held_out: 0,
        seed: 0,
    }
}

/// Binds a journal, where there is one, to the model and the part; its rows are compared as they come.
fn begin(model: &Model, name: &str, keep: bool, watch: &dyn Watch) -> Result<()> {
    let Some(journal) = watch.journal() else {
        return Ok(());
    };
    let bytes = Sha256::digest(crate::file::to_bytes(model)?);
    let print: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let version = env!("CARGO_PKG_VERSION");
    let work = format!("update by {version}: {print} {name:?} {keep}");
    Ok(journal.begin(&work)?)
}

fn check_name(committee: &Committee, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(Error::Spec("a part needs a name: use `--part-name`".into()));
    }
    let taken = committee.parts.iter().any(|part| part.record.name == name);
    if taken {
        return Err(Error::Spec(format!(
            "the model has a part `{name}` already: give this one another name with `--part-name`"
        )));
    }
    Ok(())
}
