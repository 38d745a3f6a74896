//! How a text table is written: byte-order mark, delimiter, and what an empty line means.

use std::io::{self, Cursor, Read};

use super::blank_lines::BlankLines;

/// Bytes looked at to find the delimiter; a longer header line is judged by its beginning.
const LOOKED_AT: u64 = 64 * 1024;

/// Finds the delimiter and hands the text back from its first byte behind the byte-order mark; in a table of one column,
/// with empty lines as rows.
pub(crate) fn detect(mut text: Box<dyn Read>) -> io::Result<(u8, Box<dyn Read>)> {
    let mut start = Vec::new();
    text.by_ref().take(LOOKED_AT).read_to_end(&mut start)?;
    if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
        return Err(io::Error::other(
            "the text is UTF-16; save the table as UTF-8",
        ));
    }
    let mark = if start.starts_with(&[0xef, 0xbb, 0xbf]) {
        3
    } else {
        0
    };
    let found = delimiter(&start[mark..]);
    let mut start = Cursor::new(start);
    start.set_position(mark as u64);
    let text = start.chain(text);
    Ok(match found {
        Some(delimiter) => (delimiter, Box::new(text)),
        None => (b',', Box::new(BlankLines::new(text))),
    })
}

/// The delimiter that occurs most often in the header line, outside quotation marks; none when there is one column.
fn delimiter(text: &[u8]) -> Option<u8> {
    const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];
    let mut counts = [0usize; CANDIDATES.len()];
    let mut quoted = false;
    for &byte in text.trim_ascii_start() {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if quoted => {}
            _ => {
                if let Some(index) = CANDIDATES.iter().position(|&candidate| candidate == byte) {
                    counts[index] += 1;
                }
            }
        }
    }
    let mut best = 0;
    for index in 1..CANDIDATES.len() {
        if counts[index] > counts[best] {
            best = index;
        }
    }
    (counts[best] > 0).then_some(CANDIDATES[best])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_header_line_tells_the_delimiter() {
        for (text, expected) in [
            ("a,b\n1;2;3;4", Some(b',')),
            ("a;b,c;d\n", Some(b';')),
            ("a\tb\n", Some(b'\t')),
            ("a|b|c\n", Some(b'|')),
            ("\"a;b;c\",d\n", Some(b',')),
            ("alone\n1\n", None),
            ("\"a;b\"\n1\n", None),
            ("\n\na;b\n", Some(b';')),
            ("", None),
        ] {
            assert_eq!(delimiter(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_passed_over_and_utf_16_refused() {
        let (_, mut rest) = detect(Box::new(&b"\xef\xbb\xbfa,b\n"[..])).unwrap();
        let mut text = String::new();
        rest.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n");
        assert!(detect(Box::new(&b"\xff\xfea\0"[..])).is_err());
    }
}
