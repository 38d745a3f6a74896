//! The learned encoding of a table: names, categories, scaling, and what becomes of missing cells.

use serde::{Deserialize, Serialize};

use crate::error::Location;
use crate::{Error, Result};

use super::classes::Classes;
use super::columns::InputColumn;
use super::dataset::Dataset;
use super::encoded::Encoded;
use super::encoder::{Encoder, Rule};
use super::frame::{Column, ColumnType, Frame, first_text};
use super::names::unknown_column;
use super::number::NumberScale;
use super::proportions::Proportions;
use super::quantity::{self, QuantityCode};
use super::roles::Roles;
use super::rows::Rows;
use super::scale::Scale;
use super::target::{Observed, TargetCode, TargetKind};

/// How the rows of a table become numbers for the mathematics: learned once from the training rows, kept in the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Schema {
    roles: Roles,
    target: TargetCode,
    scales: Vec<Scale>,
    encoders: Vec<Encoder>,
    proportions: Option<Proportions>,
    columns: Vec<InputColumn>,
}

/// What a file holds of a schema; the encoded columns follow from it.
#[derive(Serialize, Deserialize)]
struct Stored {
    roles: Roles,
    target: TargetCode,
    inputs: Vec<Encoder>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    proportions: Option<Proportions>,
}

impl From<Schema> for Stored {
    fn from(schema: Schema) -> Stored {
        Stored {
            roles: schema.roles,
            target: schema.target,
            inputs: schema.encoders,
            proportions: schema.proportions,
        }
    }
}

impl TryFrom<Stored> for Schema {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Schema> {
        let bad = |what: &str| Error::Invalid(format!("the stored schema is damaged: {what}"));
        if !stored.target.is_sound() {
            return Err(bad("scaling of the target"));
        }
        let columns = match &stored.target {
            TargetCode::Numbers(scales) => scales.len(),
            TargetCode::Number(_) | TargetCode::Classes(_) | TargetCode::Quantity(_) => 1,
        };
        if columns != 1 + stored.roles.further_targets.len() {
            return Err(bad("number of targets"));
        }
        if stored.inputs.is_empty() {
            return Err(bad("no input column"));
        }
        if let Some(encoder) = stored.inputs.iter().find(|encoder| !encoder.is_sound()) {
            return Err(bad(&format!("input column `{}`", encoder.name)));
        }
        let mut schema = Schema::assemble(stored.roles, stored.target, stored.inputs);
        if let Some(proportions) = stored.proportions {
            let placed = schema.placed(&proportions.columns);
            if !proportions.is_sound() || placed.len() != proportions.columns.len() {
                return Err(bad("proportions of columns"));
            }
            schema.tell_by_proportions(proportions);
        }
        Ok(schema)
    }
}

impl Schema {
    /// Learns encoding and scaling from the training rows.
    ///
    /// The notes are plain sentences for people («column `id` is constant and was dropped»). Rows of weight 0 are
    /// absent: neither checked nor counted. Mean and deviation are weighted, so weight k equals k copies.
    pub fn learn(frame: &Frame, roles: &Roles) -> Result<(Schema, Vec<String>)> {
        Schema::learn_as(TargetKind::Numbers, frame, roles)
    }

    /// The same for a target of a given kind.
    pub fn learn_as(
        kind: TargetKind,
        frame: &Frame,
        roles: &Roles,
    ) -> Result<(Schema, Vec<String>)> {
        let positions = roles.input_positions(&frame.header)?;
        let rows = Rows::of_training(frame, roles)?;
        let mut notes = rows.notes();
        let frame = rows.frame();

        let (target, remarks) = learn_target(kind, frame, roles, rows.weights())?;
        notes.extend(remarks);

        let mut encoders = Vec::with_capacity(positions.len());
        for position in positions {
            let (encoder, note) = Encoder::learn(frame, position, rows.weights())?;
            encoders.extend(encoder);
            notes.extend(note);
        }
        if encoders.is_empty() {
            let reason = if notes.is_empty() {
                String::new()
            } else {
                format!(" ({})", notes.join("; "))
            };
            return Err(Error::data(
                Location::in_source(&frame.header.source),
                format!(
                    "no input column is left to predict from{reason}; add a column whose values differ"
                ),
            ));
        }
        Ok((Schema::assemble(roles.clone(), target, encoders), notes))
    }

    /// The encoded input columns, in order.
    pub fn columns(&self) -> &[InputColumn] {
        &self.columns
    }

    /// Which column plays which part.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// How targets become numbers.
    pub fn target(&self) -> &TargetCode {
        &self.target
    }

    /// Mean of the target over the training rows; of the first output where there are several.
    pub fn target_mean(&self) -> f64 {
        self.scales[0].mean
    }

    /// Standard deviation of the target over the training rows; of the first output where there are several.
    pub fn target_deviation(&self) -> f64 {
        self.scales[0].deviation
    }

    /// Centre and width of the target, for undoing its standardisation; of the first output where there are several.
    pub fn target_scale(&self) -> Scale {
        self.scales[0]
    }

    /// Centre and width of each output.
    pub fn target_scales(&self) -> &[Scale] {
        &self.scales
    }

    /// Names and types of the target columns, and of the one that says which were observed: what a reader should expect
    /// of a table to be scored.
    pub fn target_types(&self) -> Vec<(String, ColumnType)> {
        let cells = match &self.target {
            TargetCode::Classes(classes) => classes.column_type(),
            _ => ColumnType::Number,
        };
        let flags = self.roles.event.iter().chain(&self.roles.censored);
        let names = self.roles.targets().map(|name| (name.to_owned(), cells));
        names
            .chain(flags.map(|name| (name.clone(), ColumnType::Number)))
            .collect()
    }

    /// Names and types of the columns that a table to predict has beside the inputs: the exposure.
    pub fn companion_types(&self) -> Vec<(String, ColumnType)> {
        let exposure = self.roles.exposure.iter();
        exposure
            .map(|name| (name.clone(), ColumnType::Number))
            .collect()
    }

    /// Names and types of the table columns that serve as inputs: what a reader should expect of a table to predict.
    pub fn expected_types(&self) -> Vec<(String, ColumnType)> {
        self.encoders
            .iter()
            .map(|encoder| (encoder.name.clone(), encoder.column_type))
            .collect()
    }

    /// The sorted levels of a category column.
    pub fn levels(&self, column: &str) -> Option<&[String]> {
        self.encoders
            .iter()
            .find(|encoder| encoder.name == column)
            .and_then(|encoder| match &encoder.rule {
                Rule::Category { levels } => Some(levels.as_slice()),
                Rule::Number(_) => None,
            })
    }

    /// How a number column is scaled; none for one that is told by its proportions to others.
    pub fn scale(&self, column: &str) -> Option<NumberScale> {
        self.encoders
            .iter()
            .find(|encoder| encoder.name == column && !self.proportions().contains(&encoder.name))
            .and_then(|encoder| match &encoder.rule {
                Rule::Number(scale) => Some(*scale),
                Rule::Category { .. } => None,
            })
    }

    /// Input columns that had missing cells in training, with their number.
    pub fn missing_cells(&self) -> Vec<(&str, usize)> {
        self.encoders
            .iter()
            .filter(|encoder| encoder.missing_cells > 0)
            .map(|encoder| (encoder.name.as_str(), encoder.missing_cells))
            .collect()
    }

    /// The training rows for the mathematics: standardised inputs and targets, weights, and known noise in units of the
    /// target's variance.
    pub fn training_data(&self, frame: &Frame) -> Result<Dataset> {
        let rows = Rows::of_training(frame, &self.roles)?;
        let noise = rows.known_noise(&self.roles, self.target_deviation())?;
        let encoded = self.encode_inputs(rows.frame())?;
        let targets = match self.observed(rows.frame())? {
            Observed::Numbers(columns) => (0..rows.frame().rows())
                .flat_map(|row| columns.iter().map(move |column| column[row]))
                .zip(self.scales.iter().cycle())
                .map(|(target, scale)| scale.apply(target))
                .collect(),
            Observed::Classes(codes) => {
                let mut targets = Vec::with_capacity(codes.len() * self.scales.len());
                if let TargetCode::Classes(classes) = &self.target {
                    for code in codes {
                        classes.spread(code, &self.scales, &mut targets);
                    }
                }
                targets
            }
            Observed::Quantities(seen) => {
                let mut targets = Vec::with_capacity(seen.len() * self.scales.len());
                if let TargetCode::Quantity(code) = &self.target {
                    for row in &seen {
                        code.spread(row, &mut targets);
                    }
                }
                targets
            }
        };
        Dataset::of_rows(
            rows.positions(),
            encoded.values,
            encoded.width,
            targets,
            self.scales.len(),
            rows.weights(),
            noise.as_deref(),
        )
    }

    /// Encodes the inputs of a table, and its exposures where the model has them; target, weight and noise need not be
    /// there.
    pub fn encode(&self, frame: &Frame) -> Result<Encoded> {
        let mut encoded = self.encode_inputs(frame)?;
        if let Some(exposures) = quantity::exposures(frame, &self.roles)? {
            encoded.offsets = exposures.into_iter().map(f64::ln).collect();
        }
        Ok(encoded)
    }

    /// Encodes the inputs of a table alone.
    pub fn encode_inputs(&self, frame: &Frame) -> Result<Encoded> {
        let mut encoded = Encoded::zeros(frame.rows(), self.columns.len());
        let mut offset = 0;
        for encoder in &self.encoders {
            let position = frame
                .header
                .position(&encoder.name)
                .ok_or_else(|| unknown_column(&frame.header, &encoder.name))?;
            let counts =
                encoder.encode(frame, position, &mut encoded.values, encoded.width, offset)?;
            let stand_in = match self.proportions().contains(&encoder.name) {
                true => "the size that the others of the row have",
                false => "its training mean",
            };
            encoded.count(encoder, counts, stand_in);
            offset += encoder.columns().len();
        }
        self.tell_shapes(frame, &mut encoded);
        Ok(encoded)
    }

    /// The targets of a table in their own units, checked: none missing, none infinite.
    pub fn targets(&self, frame: &Frame) -> Result<Vec<f64>> {
        checked_targets(frame, &self.roles.target).map(<[f64]>::to_vec)
    }

    /// What was observed in a table, in its own units, checked: no target missing, none infinite, no label that training
    /// did not have.
    pub fn observed(&self, frame: &Frame) -> Result<Observed> {
        match &self.target {
            TargetCode::Classes(classes) => {
                let codes = classes.codes(frame, &self.roles.target)?;
                Ok(Observed::Classes(codes))
            }
            TargetCode::Number(_) | TargetCode::Numbers(_) => {
                let columns = self
                    .roles
                    .targets()
                    .map(|name| checked_targets(frame, name).map(<[f64]>::to_vec));
                Ok(Observed::Numbers(columns.collect::<Result<_>>()?))
            }
            TargetCode::Quantity(code) => {
                let values = checked_targets(frame, &self.roles.target)?;
                let seen = quantity::sightings(frame, values, &self.roles, code.quantity)?;
                Ok(Observed::Quantities(seen))
            }
        }
    }

    fn assemble(roles: Roles, target: TargetCode, encoders: Vec<Encoder>) -> Schema {
        let columns = encoders.iter().flat_map(Encoder::columns).collect();
        Schema {
            roles,
            scales: target.scales(),
            target,
            encoders,
            proportions: None,
            columns,
        }
    }
}

/// Learns how targets become numbers; notes say what a person should know.
fn learn_target(
    kind: TargetKind,
    frame: &Frame,
    roles: &Roles,
    weights: &[f64],
) -> Result<(TargetCode, Vec<String>)> {
    if kind == TargetKind::Classes {
        let (classes, notes) = Classes::learn(frame, &roles.target, weights)?;
        return Ok((TargetCode::Classes(classes), notes));
    }
    if let TargetKind::Quantity(quantity) = kind {
        let values = checked_targets(frame, &roles.target)?;
        let seen = quantity::sightings(frame, values, roles, quantity)?;
        quantity::check_seen(frame, roles, &seen)?;
        let code = QuantityCode::learn(quantity, &seen, weights);
        return Ok((TargetCode::Quantity(code), Vec::new()));
    }
    let mut notes = Vec::new();
    let mut scales = Vec::new();
    for name in roles.targets() {
        let targets = checked_targets(frame, name)?;
        let (mean, deviation) =
            Scale::measure(targets.iter().copied().zip(weights.iter().copied()));
        match deviation {
            None => notes.push(format!(
                "the target `{name}` is constant; its deviation was taken as 1"
            )),
            Some(small) if small < SMALLEST_DEVIATION => {
                return Err(Error::data(
                    Location::in_source(&frame.header.source).column(name),
                    format!(
                        "the target has a deviation of {small:.1e}, and squares of such numbers vanish; \
                         measure it in another unit"
                    ),
                ));
            }
            Some(_) => {}
        }
        scales.push(Scale {
            mean,
            deviation: deviation.unwrap_or(1.0),
        });
    }
    let code = match scales[..] {
        [scale] => TargetCode::Number(scale),
        _ => TargetCode::Numbers(scales),
    };
    Ok((code, notes))
}

/// The largest target: squares of errors of 10⁸ rows of such targets still have a finite sum, which scores need.
const LARGEST_TARGET: f64 = 1e150;
/// The least deviation of targets that differ: the variances of answers are still normal numbers.
const SMALLEST_DEVIATION: f64 = 1e-150;

/// The cells of the target column, none of them missing, infinite, or too large to be squared.
fn checked_targets<'f>(frame: &'f Frame, name: &str) -> Result<&'f [f64]> {
    let column = frame
        .column(name)
        .ok_or_else(|| unknown_column(&frame.header, name))?;
    let cells = match column {
        Column::Number(cells) => cells,
        Column::Text(cells) => {
            let (row, text) = first_text(cells);
            let shown = match text {
                Some(text) => format!("«{text}» is not a number"),
                None => "the target has no value".into(),
            };
            return Err(Error::data(
                frame.location(row, name),
                format!(
                    "{shown}; the target must be a column of numbers, or labels with `--task multiclass`"
                ),
            ));
        }
    };
    let usable = |cell: &f64| cell.abs() <= LARGEST_TARGET;
    match cells.iter().position(|cell| !usable(cell)) {
        None => Ok(cells),
        Some(row) => {
            let problem = match cells[row] {
                cell if cell.is_nan() => {
                    "the target is missing; remove the row or fill the cell".into()
                }
                cell if cell.is_infinite() => {
                    "the target is infinite; remove the row or correct the cell".into()
                }
                cell => format!(
                    "the target is {cell:e}, and squared errors of such numbers are no numbers; \
                     measure it in another unit, so that none exceeds {LARGEST_TARGET:e}"
                ),
            };
            Err(Error::data(frame.location(row, name), problem))
        }
    }
}

#[path = "schema_scaling.rs"]
mod scaling;

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "schema_properties.rs"]
mod properties;
