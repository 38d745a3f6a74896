//! Other ways to scale the columns of a schema: outliers closer, logarithms, and the proportions of columns that grow together.

use super::Schema;
use crate::Result;
use crate::data::encoded::Encoded;
use crate::data::encoder::{Encoder, Rule};
use crate::data::frame::{Column, Frame};
use crate::data::proportions::{Place, Proportions};
use crate::data::rows::Rows;

impl Schema {
    /// Brings numbers that lie far from all others of their column closer, for models that find out for themselves how
    /// columns matter; the notes name those columns. The table is the one that the schema was learned from.
    pub fn squeeze_outliers(&mut self, frame: &Frame) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        self.scale_anew(frame, |encoder, frame, position, weights| {
            notes.extend(encoder.squeeze_outliers(frame, position, weights));
        })?;
        Ok(notes)
    }

    /// Takes the logarithms of columns whose training numbers are positive; their names.
    pub fn take_logarithms(&mut self, frame: &Frame) -> Result<Vec<String>> {
        let mut taken = Vec::new();
        self.scale_anew(frame, |encoder, frame, position, weights| {
            if encoder.take_logarithms(frame, position, weights) {
                taken.push(encoder.name.clone());
            }
        })?;
        Ok(taken)
    }

    /// Tells those of some columns whose logarithms are taken by their size and their shape that grow together; true where there are such.
    pub fn take_proportions(&mut self, frame: &Frame, of: &[String]) -> Result<bool> {
        let rows = Rows::of_training(frame, &self.roles)?;
        let encoded = self.encode_inputs(rows.frame())?;
        let mut named = self.placed(of);
        // A cell without a number would have the shape of none.
        let missing = self.missing_cells();
        named.retain(|(name, _)| missing.iter().all(|(own, _)| own != name));
        let found = Proportions::learn(&named, &encoded.values, encoded.width, rows.weights());
        let any = found.is_some();
        if let Some(found) = found {
            self.tell_by_proportions(found);
        }
        Ok(any)
    }

    /// Where those of the columns stand that hold squeezed numbers.
    pub(super) fn placed(&self, of: &[String]) -> Vec<(String, Place)> {
        let mut offset = 0;
        let mut named = Vec::new();
        for encoder in &self.encoders {
            match encoder.rule {
                Rule::Number(scale) if scale.squeezed.is_some() && of.contains(&encoder.name) => {
                    let deviation = scale.standard.deviation;
                    named.push((encoder.name.clone(), Place { offset, deviation }));
                }
                _ => {}
            }
            offset += encoder.columns().len();
        }
        named
    }

    pub(super) fn tell_by_proportions(&mut self, proportions: Proportions) {
        for (_, place) in self.placed(&proportions.columns) {
            // Near the centre, while the other columns stay where they are.
            self.columns[place.offset].deviation *= proportions.shape / place.deviation;
        }
        self.proportions = Some(proportions);
    }

    /// Names of the columns that are told by their common size and their shapes; none where columns are told one by one.
    pub fn proportions(&self) -> &[String] {
        self.proportions.as_ref().map_or(&[], |own| &own.columns)
    }

    /// Replaces the logarithms of columns that grow together by their size and their shapes. A cell that is missing has the size
    /// of the others: with the mean of its column it would tell of a shape that nobody saw.
    pub(super) fn tell_shapes(&self, frame: &Frame, encoded: &mut Encoded) {
        let Some(proportions) = &self.proportions else {
            return;
        };
        let placed = self.placed(&proportions.columns);
        let places: Vec<Place> = placed.iter().map(|(_, place)| *place).collect();
        let cells = placed.iter().map(|(name, _)| match frame.column(name) {
            Some(Column::Number(cells)) => cells.as_slice(),
            _ => &[],
        });
        let cells: Vec<&[f64]> = cells.collect();
        let rows = encoded.values.chunks_exact_mut(encoded.width);
        for (index, row) in rows.enumerate() {
            let is_missing = |cells: &&[f64]| cells.get(index).is_some_and(|own| own.is_nan());
            let missing: Vec<bool> = cells.iter().map(is_missing).collect();
            proportions.apply(&places, &missing, row);
        }
    }

    fn scale_anew(
        &mut self,
        frame: &Frame,
        mut change: impl FnMut(&mut Encoder, &Frame, usize, &[f64]),
    ) -> Result<()> {
        let rows = Rows::of_training(frame, &self.roles)?;
        let frame = rows.frame();
        for encoder in &mut self.encoders {
            let named = |name: &String| *name == encoder.name;
            if let Some(position) = frame.header.names.iter().position(named) {
                change(encoder, frame, position, rows.weights());
            }
        }
        self.columns = self.encoders.iter().flat_map(Encoder::columns).collect();
        Ok(())
    }
}
