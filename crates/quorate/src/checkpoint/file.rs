//! The file of a checkpoint: a line that names the format, a line with the SHA-256 of what follows, a line of JSON, then
//! numbers as eight bytes each, little-endian: every step, then the sum.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};

const FORMAT: &str = "quorate-checkpoint 1";

/// What is written down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notes {
    /// Which work it is; empty before any began.
    pub work: String,
    /// Outcomes of steps, in their order.
    pub steps: Vec<Vec<f64>>,
    /// Pieces in the sum.
    pub pieces: u64,
    /// The newest sum.
    pub sum: Vec<f64>,
}

/// The line of JSON.
#[derive(Serialize, Deserialize)]
struct Head {
    work: String,
    steps: Vec<usize>,
    pieces: u64,
    sum: usize,
}

/// Replaces the file whole: what is there stays until the new one is complete.
pub fn write(path: &Path, notes: &Notes) -> Result<()> {
    let fail = |source| Error::Io {
        path: path.to_owned(),
        source,
    };
    let beside = beside(path);
    let outcome = write_to(&beside, notes).and_then(|()| fs::rename(&beside, path));
    outcome.map_err(|source| {
        // Half a checkpoint is of no use to anybody; failing to remove it changes nothing.
        let _ = fs::remove_file(&beside);
        fail(source)
    })
}

/// Where the new file grows: always the same place, so that what a killed process left is written over.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    path.with_file_name(name)
}

fn write_to(path: &Path, notes: &Notes) -> std::io::Result<()> {
    let head = Head {
        work: notes.work.clone(),
        steps: notes.steps.iter().map(Vec::len).collect(),
        pieces: notes.pieces,
        sum: notes.sum.len(),
    };
    let mut body = serde_json::to_vec(&head)?;
    body.push(b'\n');
    for number in notes.steps.iter().flatten().chain(&notes.sum) {
        body.extend_from_slice(&number.to_le_bytes());
    }
    let mut file = File::create(path)?;
    write!(file, "{FORMAT}\n{}\n", checksum(&body))?;
    file.write_all(&body)?;
    file.sync_data()
}

/// Reads a checkpoint; anything but a whole one is an error.
pub fn read(path: &Path) -> Result<Notes> {
    // A device may have no end.
    if !path.is_file() {
        return Err(Error::Spec(format!(
            "{}: is no ordinary file; a checkpoint needs one",
            path.display()
        )));
    }
    let bytes = fs::read(path).map_err(|source| Error::Io {
        path: path.to_owned(),
        source,
    })?;
    parse(&bytes).ok_or_else(|| Error::ModelFile {
        origin: path.display().to_string(),
        problem:
            "this is not a checkpoint of this program, or it is damaged: remove it, or name another"
                .into(),
    })
}

/// The notes in the bytes of a file.
pub fn parse(bytes: &[u8]) -> Option<Notes> {
    let rest = bytes.strip_prefix(FORMAT.as_bytes())?;
    let rest = rest.strip_prefix(b"\n")?;
    let (sum, body) = rest.split_at_checked(64)?;
    let body = body.strip_prefix(b"\n")?;
    if checksum(body).as_bytes() != sum {
        return None;
    }
    let end = body.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&body[..end]).ok()?;
    let (words, left) = body[end + 1..].as_chunks::<8>();
    if !left.is_empty() {
        return None;
    }
    let numbers: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
    let mut left = &numbers[..];
    let mut take = |count: usize| {
        let (taken, rest) = left.split_at_checked(count)?;
        left = rest;
        Some(taken.to_vec())
    };
    let steps = head.steps.iter().map(|count| take(*count));
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let sum = take(head.sum)?;
    left.is_empty().then_some(Notes {
        work: head.work,
        steps,
        pieces: head.pieces,
        sum,
    })
}

fn checksum(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn notes() -> Notes {
        Notes {
            work: "fit of «x»\nwith lines".into(),
            steps: vec![vec![0.1, -1.0 / 3.0], Vec::new(), vec![f64::NAN]],
            pieces: 7,
            sum: vec![1e300, 2.0],
        }
    }

    #[test]
    fn notes_come_back_to_the_last_bit_and_nothing_is_left_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        for _ in 0..2 {
            write(&path, &notes()).unwrap();
            let back = read(&path).unwrap();
            assert_eq!(back.work, notes().work);
            assert_eq!(back.steps[0], notes().steps[0]);
            assert!(back.steps[1].is_empty() && back.steps[2][0].is_nan());
            assert_eq!((back.pieces, back.sum), (7, notes().sum));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_damaged_or_foreign_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        write(&path, &notes()).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 4;
            assert!(parse(&bytes).is_none(), "byte {at}");
            assert!(parse(&whole[..at]).is_none(), "{at} bytes");
        }
        fs::write(&path, "x,y\n1,2\n").unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains("not a checkpoint"), "{message}");
    }
}
