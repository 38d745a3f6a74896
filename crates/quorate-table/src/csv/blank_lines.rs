//! Empty lines of a table of one column, which are rows whose cell is missing.
//!
//! The reader of rows passes over empty lines. In a table of several columns that is right: a row has delimiters. With one
//! column an empty line is how an empty cell is written, and rows behind it would answer for the wrong question.

use std::io::{self, Read};

/// Bytes taken from the text at a time.
const TAKEN: usize = 64 * 1024;

/// Text of a table of one column that has `""` in place of every empty line behind its header.
pub(crate) struct BlankLines<R> {
    text: R,
    taken: Vec<u8>,
    /// What is to be handed on, and how much of it has been.
    ready: Vec<u8>,
    given: usize,
    place: Place,
    /// True behind the header; empty lines above it are nothing.
    in_rows: bool,
    /// True when the byte before was a carriage return that ended a line: a line feed belongs to it.
    after_return: bool,
}

/// Where in a line a byte stands.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Start,
    Plain,
    Quoted,
    /// Behind a quotation mark inside quotation marks: the end of the cell, or the first of two that mean one.
    Closing,
}

impl<R: Read> BlankLines<R> {
    pub fn new(text: R) -> Self {
        Self {
            text,
            taken: vec![0; TAKEN],
            ready: Vec::new(),
            given: 0,
            place: Place::Start,
            in_rows: false,
            after_return: false,
        }
    }

    fn pass(&mut self, byte: u8) {
        let ends_line = byte == b'\n' || byte == b'\r';
        let second_half = byte == b'\n' && self.after_return;
        self.after_return = false;
        self.place = match (self.place, byte) {
            (Place::Quoted, b'"') => Place::Closing,
            (Place::Quoted, _) => Place::Quoted,
            (Place::Start | Place::Closing, b'"') => Place::Quoted,
            (Place::Start, _) if second_half => Place::Start,
            (place, _) if ends_line => {
                if place == Place::Start && self.in_rows {
                    self.ready.extend_from_slice(b"\"\"");
                }
                self.in_rows |= place != Place::Start;
                self.after_return = byte == b'\r';
                Place::Start
            }
            _ => Place::Plain,
        };
        self.ready.push(byte);
    }
}

impl<R: Read> Read for BlankLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.ready.len() {
            let count = self.text.read(&mut self.taken)?;
            self.ready.clear();
            self.given = 0;
            for index in 0..count {
                self.pass(self.taken[index]);
            }
        }
        let count = buffer.len().min(self.ready.len() - self.given);
        buffer[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Hands its text out a byte at a time.
    struct Slow<'t>(&'t [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = buffer.len().min(self.0.len()).min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn an_empty_line_is_a_row_and_a_final_newline_is_not() {
        for (text, expected) in [
            ("x\n1\n\n3\n", "x\n1\n\"\"\n3\n"),
            ("x\n1\n\n3", "x\n1\n\"\"\n3"),
            ("x\r\n1\r\n\r\n3\r\n", "x\r\n1\r\n\"\"\r\n3\r\n"),
            ("x\r1\r\r3\r", "x\r1\r\"\"\r3\r"),
            ("\n\nx\n\n\n2\n", "\n\nx\n\"\"\n\"\"\n2\n"),
            ("x\n\"a\n\nb\"\n\n", "x\n\"a\n\nb\"\n\"\"\n"),
            ("x\n\"a\"\"\n\n\"\n\n", "x\n\"a\"\"\n\n\"\n\"\"\n"),
            ("x\na\"b\n\nc\n", "x\na\"b\n\"\"\nc\n"),
            ("", ""),
        ] {
            let mut whole = String::new();
            BlankLines::new(text.as_bytes())
                .read_to_string(&mut whole)
                .unwrap();
            assert_eq!(whole, expected, "{text:?}");
            let mut slow = String::new();
            BlankLines::new(Slow(text.as_bytes()))
                .read_to_string(&mut slow)
                .unwrap();
            assert_eq!(slow, expected, "{text:?}, byte by byte");
        }
    }
}
