//! Text tables out.

use std::io::{self, Write};

use quorate_gp::data::{Column, ColumnType, Frame, Header};

use super::Encoded;
use crate::date;

/// Writes rows as text.
pub(crate) struct TextEncoder<W: Write> {
    output: W,
    delimiter: u8,
    line: Vec<u8>,
}

impl<W: Write> TextEncoder<W> {
    /// Writes the header line.
    pub fn start(output: W, header: &Header, delimiter: u8) -> Encoded<Self> {
        let mut encoder = Self {
            output,
            delimiter,
            line: Vec::new(),
        };
        for (index, name) in header.names.iter().enumerate() {
            encoder.separate(index);
            encoder.text(name);
        }
        encoder.end_line().map_err(|error| error.to_string())?;
        Ok(encoder)
    }

    pub fn write(&mut self, frame: &Frame) -> Encoded<()> {
        for row in 0..frame.rows() {
            for (index, column) in frame.columns.iter().enumerate() {
                self.separate(index);
                match column {
                    Column::Number(cells) => {
                        let written = self.number(cells[row], frame.header.types[index]);
                        written.map_err(|problem| {
                            format!(
                                "{} {problem}",
                                frame.location(row, &frame.header.names[index])
                            )
                        })?;
                    }
                    Column::Text(cells) => {
                        if let Some(text) = &cells[row] {
                            self.text(text);
                        }
                    }
                }
            }
            self.end_line().map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    pub fn finish(self) -> Encoded<W> {
        Ok(self.output)
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.line.push(self.delimiter);
        }
    }

    fn number(&mut self, cell: f64, column_type: ColumnType) -> Result<(), &'static str> {
        if cell.is_nan() {
            return Ok(());
        }
        match column_type {
            ColumnType::Boolean => {
                let word = if cell == 0.0 { "false" } else { "true" };
                self.line.extend_from_slice(word.as_bytes());
            }
            ColumnType::Date => {
                let date =
                    date::format(cell).ok_or("the date is outside of the years 0 to 9999")?;
                self.line.extend_from_slice(date.as_bytes());
            }
            ColumnType::Number | ColumnType::Text => push_number(&mut self.line, cell),
        }
        Ok(())
    }

    /// Text, in quotation marks where it could be mistaken for the end of its cell.
    fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let special = |byte: &u8| *byte == self.delimiter || matches!(byte, b'"' | b'\n' | b'\r');
        if !bytes.iter().any(special) {
            self.line.extend_from_slice(bytes);
            return;
        }
        self.line.push(b'"');
        for &byte in bytes {
            if byte == b'"' {
                self.line.push(b'"');
            }
            self.line.push(byte);
        }
        self.line.push(b'"');
    }

    fn end_line(&mut self) -> io::Result<()> {
        if self.line.is_empty() {
            // A line without any character would not be read as a row.
            self.line.extend_from_slice(b"\"\"");
        }
        self.line.push(b'\n');
        self.output.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

/// The shortest digits that are read back as the same number, with an exponent where there would be many zeros.
pub fn number_text(number: f64) -> String {
    let mut bytes = Vec::new();
    push_number(&mut bytes, number);
    String::from_utf8(bytes).unwrap_or_default()
}

fn push_number(line: &mut Vec<u8>, number: f64) {
    let size = number.abs();
    let plain = size == 0.0 || (1e-5..1e16).contains(&size) || !number.is_finite();
    // Writing into memory does not fail.
    let _ = if plain {
        write!(line, "{number}")
    } else {
        write!(line, "{number:e}")
    };
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn numbers_are_short_and_come_back_whole() {
        for (number, text) in [
            (0.1, "0.1"),
            (-3.0, "-3"),
            (1e300, "1e300"),
            (1.5e-7, "1.5e-7"),
            (123456.789, "123456.789"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number_text(number), text);
            assert_eq!(text.parse::<f64>().unwrap(), number);
        }
    }

    #[test]
    fn cells_are_quoted_where_needed() {
        let cells = ["plain", "a,b", "say \"hi\"", "two\nlines", ""];
        let column = cells
            .iter()
            .map(|&cell| Some(Arc::from(cell)))
            .chain([None]);
        let frame = Frame::from_columns(vec![("na,me", Column::Text(column.collect()))]).unwrap();
        let mut encoder = TextEncoder::start(Vec::new(), &frame.header, b',').unwrap();
        encoder.write(&frame).unwrap();
        assert_eq!(
            String::from_utf8(encoder.finish().unwrap()).unwrap(),
            "\"na,me\"\nplain\n\"a,b\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\"\"\n\"\"\n"
        );
    }
}
