//! Tables on disk or on standard input, read as a verb needs them.

use std::path::{Path, PathBuf};

use quorate::{Model, ModelSpec, PartChoice};
use quorate_gp::data::{Batches, ColumnType, Frame, read_all};
use quorate_table::{OpenOptions, TableWriter, open};

use crate::failure::Result;
use crate::text::Console;

/// A table to learn from; columns that the specification does not use are not read where it says so.
pub fn training(path: &Path, spec: &ModelSpec, console: &Console) -> Result<Frame> {
    let mut needed = vec![spec.target.clone()];
    needed.extend(spec.weight.iter().chain(&spec.noise).cloned());
    if let Some(PartChoice::Column(name)) = &spec.parts {
        needed.push(name.clone());
    }
    let mut options = OpenOptions::default();
    if let Some(inputs) = &spec.inputs {
        // The column of parts may be an input as well.
        let others = needed.iter().filter(|name| !inputs.contains(name));
        options = options.columns(inputs.iter().chain(others).cloned().collect());
    }
    let mut source = open(path, &options.needed(needed))?;
    tell_notes(&*source, console);
    Ok(read_all(&mut *source)?)
}

/// The inputs and the target of a model, as the model knows them, batch by batch.
pub fn scoring(path: &Path, model: &Model, console: &Console) -> Result<Box<dyn Batches>> {
    let mut types = model.schema().expected_types();
    types.push((model.spec().target.clone(), ColumnType::Number));
    let names = types.iter().map(|(name, _)| name.clone()).collect();
    announced(
        open(path, &OpenOptions::default().expect(types).columns(names))?,
        console,
    )
}

/// Further rows for a model: its inputs, target, weight and known noise, as the model knows them.
pub fn further(path: &Path, model: &Model, console: &Console) -> Result<Frame> {
    let spec = model.spec();
    let mut types = model.schema().expected_types();
    let others = std::iter::once(&spec.target)
        .chain(&spec.weight)
        .chain(&spec.noise);
    types.extend(others.map(|name| (name.clone(), ColumnType::Number)));
    let mut names: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
    if let Some(PartChoice::Column(name)) = &spec.parts
        && !names.contains(name)
    {
        names.push(name.clone());
    }
    let mut source = open(path, &OpenOptions::default().expect(types).columns(names))?;
    tell_notes(&*source, console);
    Ok(read_all(&mut *source)?)
}

/// Which columns to copy beside the predictions.
#[derive(Clone, Copy, Debug)]
pub enum Keep<'a> {
    /// Those named.
    Columns(&'a [String]),
    /// All of the table.
    All,
}

/// The inputs of a model and the columns to keep, batch by batch. With `verbatim`, kept columns that are no inputs stay
/// the text they are in the file: an identifier such as `007` must not become 7.
pub fn queries(
    path: &Path,
    model: &Model,
    keep: Keep<'_>,
    verbatim: bool,
    console: &Console,
) -> Result<Box<dyn Batches>> {
    let mut types = model.schema().expected_types();
    let inputs: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
    let plain = OpenOptions::default().expect(types.clone());
    let kept = match keep {
        Keep::Columns(names) => names.to_vec(),
        // What else there is, only the table itself knows; standard input cannot be asked twice.
        Keep::All if path == Path::new("-") => {
            return announced(open(path, &plain.needed(inputs))?, console);
        }
        Keep::All => open(path, &plain.needed(inputs.clone()))?
            .header()
            .names
            .clone(),
    };
    let others = kept.iter().filter(|name| !inputs.contains(name));
    if verbatim {
        types.extend(others.clone().map(|name| (name.clone(), ColumnType::Text)));
    }
    let columns = inputs.iter().chain(others).cloned().collect();
    announced(
        open(path, &OpenOptions::default().expect(types).columns(columns))?,
        console,
    )
}

/// Writes a whole table to a file.
pub fn write(table: &Frame, path: &PathBuf) -> Result<()> {
    let mut writer = TableWriter::create(path, &table.header)?;
    writer.write(table)?;
    Ok(writer.finish()?)
}

fn announced(source: Box<dyn Batches>, console: &Console) -> Result<Box<dyn Batches>> {
    tell_notes(&*source, console);
    Ok(source)
}

fn tell_notes(source: &dyn Batches, console: &Console) {
    for note in source.notes() {
        console.note(note);
    }
}
