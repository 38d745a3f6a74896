//! Formats of files, told by their first bytes and by their names.

use std::path::Path;

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with one row a line; the delimiter of the header line is found when reading.
    Csv,
    /// The same, compressed with gzip.
    CsvGz,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC, the file form (also called Feather version 2).
    Arrow,
    /// Arrow IPC, the stream form.
    ArrowStream,
}

/// Bytes at the start of a file that tell every format.
pub(crate) const SNIFFED: usize = 8;

impl Format {
    /// The format that the first bytes tell; CSV when they tell nothing.
    pub fn of_bytes(start: &[u8]) -> Format {
        if start.starts_with(b"PAR1") {
            Format::Parquet
        } else if start.starts_with(b"ARROW1") {
            Format::Arrow
        } else if start.starts_with(&[0x1f, 0x8b]) {
            Format::CsvGz
        } else if start.starts_with(&[0xff; 4]) {
            // The mark before every message of a stream; no text starts so.
            Format::ArrowStream
        } else {
            Format::Csv
        }
    }

    /// The format that the name of a file tells.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        match name.rsplit_once('.').map(|(_, extension)| extension)? {
            "csv" | "tsv" | "txt" => Some(Format::Csv),
            "gz" => Some(Format::CsvGz),
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "feather" | "ipc" => Some(Format::Arrow),
            "arrows" => Some(Format::ArrowStream),
            _ => None,
        }
    }

    /// The format of a file to read: what its bytes tell, unless its name says that it is text. Nothing is known of a
    /// file of which the name promises another format than the bytes tell.
    pub(crate) fn of_input(path: &Path, start: &[u8]) -> Result<Format, String> {
        let told = Format::of_bytes(start);
        if start.starts_with(b"PK\x03\x04") {
            return Err("is a zip archive or a spreadsheet; export the table as CSV".into());
        }
        match (Format::of_name(path), told) {
            // A column may be called PAR1.
            (Some(Format::Csv), Format::Parquet | Format::Arrow) => Ok(Format::Csv),
            (Some(Format::Parquet), told) if told != Format::Parquet => {
                Err("is not a Parquet file; it is damaged or has the wrong name".into())
            }
            (Some(Format::Arrow | Format::ArrowStream), Format::Csv | Format::Parquet) => {
                Err("is not an Arrow file; it is damaged or has the wrong name".into())
            }
            (_, told) => Ok(told),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(name: &str, start: &[u8]) -> Option<Format> {
        Format::of_input(Path::new(name), start).ok()
    }

    #[test]
    fn bytes_tell_the_format_and_names_may_contradict() {
        assert_eq!(input("a.csv", b"x,y\n"), Some(Format::Csv));
        assert_eq!(input("a.csv", b"PAR1,y\n"), Some(Format::Csv));
        assert_eq!(input("a.csv", &[0x1f, 0x8b, 8]), Some(Format::CsvGz));
        assert_eq!(input("data", b"PAR1\x15"), Some(Format::Parquet));
        assert_eq!(input("data", b"ARROW1\0\0"), Some(Format::Arrow));
        assert_eq!(input("a.feather", &[0xff; 8]), Some(Format::ArrowStream));
        assert_eq!(input("a.csv.gz", b"x,y\n"), Some(Format::Csv));
        assert_eq!(input("a.parquet", b"x,y\n"), None);
        assert_eq!(input("a.arrow", b"x,y\n"), None);
        assert_eq!(input("a.xlsx", b"PK\x03\x04"), None);
        assert_eq!(input("a.csv", b""), Some(Format::Csv));
    }

    #[test]
    fn names_tell_the_format_of_an_output() {
        assert_eq!(Format::of_name(Path::new("x/a.CSV")), Some(Format::Csv));
        assert_eq!(Format::of_name(Path::new("a.csv.gz")), Some(Format::CsvGz));
        assert_eq!(Format::of_name(Path::new("a.parqet")), None);
        assert_eq!(Format::of_name(Path::new("a")), None);
    }
}
