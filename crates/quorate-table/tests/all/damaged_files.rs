//! Damaged files give a table or an error, never a panic: a loop of seeded mutations of small valid files.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Float64Array};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use common::{mixed_frame, write_table};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::{WriterProperties, WriterVersion};
use quorate_table::fuzz::read_bytes;

/// A small generator of our own, so that a failing seed can be run again (Steele et al. 2014, SplitMix64).
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Changes, cuts, doubles or overwrites some bytes.
fn mutate(bytes: &[u8], random: &mut Seeded) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(4) {
        let place = random.below(bytes.len());
        match random.below(8) {
            0 => bytes.truncate(place),
            1 => {
                let end = (place + random.below(16)).min(bytes.len());
                bytes.drain(place..end);
            }
            2 => {
                let end = (place + random.below(64)).min(bytes.len());
                let copy = bytes[place..end].to_vec();
                let target = random.below(bytes.len());
                bytes.splice(target..target, copy);
            }
            3 => {
                let extreme = [0x00, 0x7f, 0x80, 0xff][random.below(4)];
                let end = (place + 1 + random.below(8)).min(bytes.len());
                bytes[place..end].fill(extreme);
            }
            4 if !bytes.is_empty() => bytes[place] = random.next() as u8,
            5 if !bytes.is_empty() => bytes[place] = bytes[place].wrapping_add(1),
            _ if !bytes.is_empty() => bytes[place] ^= 1 << random.below(8),
            _ => {}
        }
    }
    bytes
}

fn batch() -> RecordBatch {
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    for row in 0..60 {
        words.append_option((row % 7 != 0).then(|| ["red", "green", "blue"][row % 3]));
    }
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values(
        (0..60).map(|row| f64::from(row % 9)),
    ));
    let words: ArrayRef = Arc::new(words.finish());
    RecordBatch::try_from_iter([("a", numbers), ("b", words)]).unwrap()
}

fn parquet(compression: Compression, version: WriterVersion) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_writer_version(version)
        .set_data_page_row_count_limit(20)
        .set_write_batch_size(10)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch().schema(), Some(properties)).unwrap();
    writer.write(&batch()).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow(compression: Option<CompressionType>, stream: bool) -> Vec<u8> {
    let options = IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap();
    let mut bytes = Vec::new();
    if stream {
        let mut writer =
            StreamWriter::try_new_with_options(&mut bytes, &batch().schema(), options).unwrap();
        writer.write(&batch()).unwrap();
        writer.finish().unwrap();
    } else {
        let mut writer =
            FileWriter::try_new_with_options(&mut bytes, &batch().schema(), options).unwrap();
        writer.write(&batch()).unwrap();
        writer.finish().unwrap();
    }
    bytes
}

fn small_files() -> Vec<(&'static str, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str| {
        let path = folder.path().join(name);
        write_table(Path::new(&path), &[mixed_frame()]).unwrap();
        std::fs::read(path).unwrap()
    };
    let mut plain_zip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    plain_zip.write_all(&written("t.csv")).unwrap();
    vec![
        ("text", written("t.csv")),
        ("zipped text", written("t.csv.gz")),
        ("stored text", plain_zip.finish().unwrap()),
        ("parquet, ours", written("t.parquet")),
        (
            "parquet, plain",
            parquet(Compression::UNCOMPRESSED, WriterVersion::PARQUET_1_0),
        ),
        (
            "parquet, version 2",
            parquet(Compression::UNCOMPRESSED, WriterVersion::PARQUET_2_0),
        ),
        (
            "parquet, zstd",
            parquet(
                Compression::ZSTD(Default::default()),
                WriterVersion::PARQUET_2_0,
            ),
        ),
        (
            "parquet, lz4",
            parquet(Compression::LZ4_RAW, WriterVersion::PARQUET_1_0),
        ),
        (
            "parquet, gzip",
            parquet(
                Compression::GZIP(Default::default()),
                WriterVersion::PARQUET_1_0,
            ),
        ),
        ("arrow, ours", written("t.arrow")),
        ("arrow, plain", arrow(None, false)),
        ("arrow, lz4", arrow(Some(CompressionType::LZ4_FRAME), false)),
        ("arrow, zstd", arrow(Some(CompressionType::ZSTD), false)),
        ("arrow stream", arrow(None, true)),
        (
            "arrow stream, lz4",
            arrow(Some(CompressionType::LZ4_FRAME), true),
        ),
    ]
}

/// Mutations of each file; `QUORATE_MUTATIONS` asks for more.
fn mutations() -> u64 {
    std::env::var("QUORATE_MUTATIONS")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(400)
}

#[test]
fn whole_files_are_read() {
    for (name, bytes) in small_files() {
        assert!(read_bytes(&bytes) >= 2, "{name}");
    }
}

#[test]
fn mutated_files_never_panic() {
    for (name, bytes) in small_files() {
        let mut read = 0;
        for seed in 0..mutations() {
            let damaged = mutate(&bytes, &mut Seeded(seed));
            match catch_unwind(AssertUnwindSafe(|| read_bytes(&damaged))) {
                Ok(count) => read += count.min(1),
                Err(_) => panic!("{name}, seed {seed}: panicked"),
            }
        }
        eprintln!(
            "{name}: {read} of {} mutated files could still be read",
            mutations()
        );
    }
}

#[test]
fn every_truncation_is_survived() {
    for (_, bytes) in small_files() {
        for length in 0..bytes.len() {
            read_bytes(&bytes[..length]);
        }
    }
}

#[test]
fn a_dictionary_that_promises_too_much_is_refused_before_memory_is_taken() {
    let numbers: ArrayRef = Arc::new(Float64Array::from_iter_values(
        (0..60).map(|row| f64::from(row % 3)),
    ));
    let batch = RecordBatch::try_from_iter([("a", numbers)]).unwrap();
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(true)
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    // In the head of the dictionary page: field 7, a structure whose first field, the number of values, is 3.
    let head = [0x4c, 0x15, 0x06];
    let place = bytes.windows(3).position(|window| window == head).unwrap() + 2;
    bytes.splice(place..=place, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let options = quorate_table::OpenOptions::default();
    let mut table =
        quorate_table::open_bytes(bytes, quorate_table::Format::Parquet, "t.parquet", &options)
            .unwrap();
    let message = table.next_batch().unwrap_err().to_string();
    assert!(
        message.contains("2147483647 dictionary values do not fit"),
        "{message}"
    );
}
