//! Tables on disk or on standard input, read as a verb needs them.

use std::path::{Path, PathBuf};

use quorate::landmarks::CHUNK_ROWS;
use quorate::model::{survey, survey_first};
use quorate::{Model, ModelSpec, PartChoice, TaskChoice};
use quorate_gp::data::{Batches, Chunks, ColumnType, Frame, Header, Stray, Survey, read_all};
use quorate_table::{OpenOptions, TableWriter, open};

use crate::failure::Result;
use crate::text::Console;

/// A table to learn from, after a first look at it.
pub struct Training {
    path: PathBuf,
    survey: Survey,
    /// The rows behind those seen, of a table that passes once.
    rest: Option<(Frame, Box<dyn Batches>)>,
}

impl Training {
    /// Looks at a table; columns that the specification does not use are not read where it says so.
    pub fn open(path: &Path, spec: &ModelSpec, console: &Console) -> Result<Self> {
        let mut needed = vec![spec.target.clone()];
        needed.extend(spec.further_targets.iter().cloned());
        needed.extend(spec.weight.iter().chain(&spec.noise).cloned());
        let companions = spec.exposure.iter().chain(&spec.event);
        needed.extend(companions.chain(&spec.censored).cloned());
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
        judge_strays(&*source, spec, console)?;
        let (survey, rest) = if is_file(path) {
            (survey(&mut source, spec.seed)?, None)
        } else {
            let (survey, next) = survey_first(&mut source)?;
            let next = next.unwrap_or_else(|| Frame::empty(source.header().clone()));
            (survey, Some((next, source)))
        };
        Ok(Self {
            path: path.to_owned(),
            survey,
            rest,
        })
    }

    /// How long the table is, and a sample of its rows.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// The table from its first row on. A stream can be had once.
    pub fn rows(&mut self) -> Result<Box<dyn Batches>> {
        if let Some((next, rest)) = self.rest.take() {
            let first = self.survey.sample.clone();
            let behind = Chunks::behind(next, rest, CHUNK_ROWS);
            return Ok(Box::new(Chunks::behind(first, behind, CHUNK_ROWS)));
        }
        // Types are known by now: a table of text need not be looked through again to find them.
        let header = &self.survey.sample.header;
        let types = header.names.iter().cloned().zip(header.types.clone());
        let options = OpenOptions::default()
            .expect(types.collect())
            .columns(header.names.clone());
        Ok(open(&self.path, &options)?)
    }

    /// All rows.
    pub fn whole(mut self) -> Result<Frame> {
        if self.survey.is_whole() {
            return Ok(self.survey.sample);
        }
        let mut rows = self.rows()?;
        drop(self);
        Ok(read_all(&mut rows)?)
    }
}

/// All rows of a table of inputs: the columns that a table to learn from has and the specification uses.
pub fn inputs_like(path: &Path, spec: &ModelSpec, header: &Header) -> Result<Frame> {
    let others: Vec<&String> = [
        Some(&spec.target),
        spec.weight.as_ref(),
        spec.noise.as_ref(),
        spec.exposure.as_ref(),
        spec.event.as_ref(),
        spec.censored.as_ref(),
    ]
    .into_iter()
    .flatten()
    .chain(&spec.ignore)
    .collect();
    let used = |name: &String| match &spec.inputs {
        Some(inputs) => inputs.contains(name),
        None => !others.contains(&name),
    };
    let named = header.names.iter().cloned().zip(header.types.clone());
    let types: Vec<(String, ColumnType)> = named.filter(|(name, _)| used(name)).collect();
    let names = types.iter().map(|(name, _)| name.clone()).collect();
    let options = OpenOptions::default().expect(types).columns(names);
    Ok(read_all(&mut open(path, &options)?)?)
}

/// The inputs and the target of a model, and known noise where there is some, as the model knows them, batch by batch.
pub fn scoring(path: &Path, model: &Model, console: &Console) -> Result<Box<dyn Batches>> {
    let mut types = model.schema().expected_types();
    types.extend(model.schema().companion_types());
    types.extend(model.schema().target_types());
    let names = types.iter().map(|(name, _)| name.clone()).collect();
    announced(
        open(path, &with_noise(path, model, types, names)?)?,
        console,
    )
}

/// How columns of a table are read, and beside them known noise, which a table to predict or to score may have or not.
fn with_noise(
    path: &Path,
    model: &Model,
    mut types: Vec<(String, ColumnType)>,
    mut columns: Vec<String>,
) -> Result<OpenOptions> {
    let noise = model.schema().roles().noise.as_ref();
    // Its type comes first: a column that is also kept as it is written serves as numbers.
    types.splice(0..0, noise.map(|name| (name.clone(), ColumnType::Number)));
    let options = OpenOptions::default().expect(types);
    let Some(noise) = noise.filter(|name| !columns.contains(name)) else {
        return Ok(options.columns(columns));
    };
    // Whether it is there only the table knows, and one that passes once cannot be asked twice.
    if !is_file(path) {
        return Ok(options.needed(columns));
    }
    let table = open(path, &options.clone().needed(columns.clone()))?;
    if table.header().position(noise).is_some() {
        columns.push(noise.clone());
    }
    Ok(options.columns(columns))
}

/// A sentence for people where a model knows the noise of its rows, and a table does not tell that of its own.
pub fn unknown_noise(table: &Header, model: &Model) -> Option<String> {
    let name = model.schema().roles().noise.as_ref()?;
    table.position(name).is_none().then(|| {
        format!("there is no column `{name}`: the known noise of each row was left out, and answers are narrower for it")
    })
}

fn is_file(path: &Path) -> bool {
    path != Path::new("-") && std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Further rows for a model, batch by batch: its inputs, target, weight and known noise, as the model knows them.
pub fn further(path: &Path, model: &Model, console: &Console) -> Result<Box<dyn Batches>> {
    let spec = model.spec();
    let mut types = model.schema().expected_types();
    types.extend(model.schema().companion_types());
    types.extend(model.schema().target_types());
    let others = spec.weight.iter().chain(&spec.noise);
    types.extend(others.map(|name| (name.clone(), ColumnType::Number)));
    let mut names: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
    if let Some(PartChoice::Column(name)) = &spec.parts
        && !names.contains(name)
    {
        names.push(name.clone());
    }
    let options = OpenOptions::default().expect(types).columns(names);
    announced(open(path, &options)?, console)
}

/// Which columns to copy beside the predictions.
#[derive(Clone, Copy, Debug)]
pub enum Keep<'a> {
    /// Those named.
    Columns(&'a [String]),
    /// All of the table.
    All,
}

/// The inputs of a model, known noise where there is some, and the columns to keep, batch by batch. With `verbatim`, kept columns that are no inputs stay
/// the text they are in the file: an identifier such as `007` must not become 7.
pub fn queries(
    path: &Path,
    model: &Model,
    keep: Keep<'_>,
    verbatim: bool,
    console: &Console,
) -> Result<Box<dyn Batches>> {
    let mut types = model.schema().expected_types();
    types.extend(model.schema().companion_types());
    let inputs: Vec<String> = types.iter().map(|(name, _)| name.clone()).collect();
    let noise = model.schema().roles().noise.iter();
    let noise = noise.map(|name| (name.clone(), ColumnType::Number));
    let plain = OpenOptions::default().expect(types.iter().cloned().chain(noise).collect());
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
        open(path, &with_noise(path, model, types, columns)?)?,
        console,
    )
}

/// Writes a whole table to a file.
pub fn write(table: &Frame, path: &PathBuf) -> Result<()> {
    let mut writer = TableWriter::create(path, &table.header)?;
    writer.write(table)?;
    Ok(writer.finish()?)
}

/// A few cells that are no numbers in a column of numbers: an error where numbers are needed, a note about an input.
fn judge_strays(source: &dyn Batches, spec: &ModelSpec, console: &Console) -> Result<()> {
    let is_class = matches!(spec.task, TaskChoice::Binary | TaskChoice::Multiclass);
    let companions = [
        &spec.weight,
        &spec.noise,
        &spec.exposure,
        &spec.event,
        &spec.censored,
    ];
    for stray in source.strays() {
        let name = &stray.column;
        let place = stray.location(&source.header().source);
        let problem = if spec.target == *name || spec.further_targets.contains(name) {
            if is_class {
                continue;
            }
            format!(
                "{stray}; correct the cell or remove the row, or use `--task multiclass` if these are labels of classes"
            )
        } else if companions.into_iter().flatten().any(|own| own == name) {
            format!("{stray}; correct the cell or remove the row")
        } else {
            let is_input = match &spec.inputs {
                Some(inputs) => inputs.contains(name),
                None => !spec.ignore.contains(name),
            };
            if is_input {
                tell_stray(stray, &source.header().source, console);
            }
            continue;
        };
        return Err(quorate_gp::Error::data(place, problem).into());
    }
    Ok(())
}

/// Says that an input became a category because of a few cells.
pub fn tell_stray(stray: &Stray, source: &str, console: &Console) {
    console.note(&format!(
        "{} {stray}: it was read as text, a category; correct the cell, or leave it empty if it is not known",
        stray.location(source)
    ));
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
