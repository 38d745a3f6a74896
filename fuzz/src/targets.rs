//! What is fuzzed: plain functions of bytes, and the words that mean something to them.

use std::path::PathBuf;

use quorate::ensemble::NoGuests;
use quorate_gp::kernel::Kernel;

use crate::corpus;
use crate::seal::sealed;

/// A reader of outside input.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name on the command line and of its folder in the corpus.
    pub name: &'static str,
    /// Reads the bytes and says whether they were accepted; must return.
    pub read: fn(&[u8]) -> bool,
    /// Pieces of the language that it reads.
    pub words: &'static [&'static [u8]],
}

impl Target {
    /// The folder of its corpus.
    pub fn corpus(&self) -> PathBuf {
        corpus::home().join("corpus").join(self.name)
    }
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target {
        name: "kernel",
        read: read_kernel,
        words: &[
            b"se",
            b"[a]",
            b"[\"b c\",a]",
            b"[s]",
            b"matern12",
            b"matern32",
            b"matern52",
            b"rq",
            b"periodic",
            b"linear",
            b"polynomial",
            b"constant",
            b"network",
            b"basis",
            b"category",
            b"ard",
            b"fixed",
            b"shape=",
            b"period=",
            b"length_scale=",
            b"degree=",
            b"offset=",
            b"weight=",
            b"bias=",
            b"functions=gaussian",
            b"functions=fourier",
            b"functions=polynomial",
            b"rank=",
            b"(",
            b")",
            b"[",
            b"]",
            b"+",
            b"*",
            b",",
            b"=",
            b"\"",
            b"\\",
            b"1e308",
            b"1e-308",
            b"-0",
            b"0",
            b"nan",
            b"inf",
            b"1e999",
            b"99999999999999999999",
            b"\xc3\xa9",
            b"\xff",
            b" ",
            b"\n",
        ],
    },
    Target {
        name: "table",
        read: read_table,
        words: &[
            b",",
            b"\n",
            b"\r\n",
            b"\r",
            b"\"",
            b"\"\"",
            b";",
            b"\t",
            b"NaN",
            b"nan",
            b"inf",
            b"-inf",
            b"1e999",
            b"-0",
            b"1e308",
            b"true",
            b"false",
            b"null",
            b"NA",
            b"2024-02-29",
            b"2023-02-29",
            b"2024-01-01T12:00:00Z",
            b"99999-01-01",
            b"0000-00-00",
            b"\xef\xbb\xbf",
            b"\xff",
            b"\0",
            b"\x1f\x8b\x08",
            b"PAR1",
            b"ARROW1",
            b"\xff\xff\xff\xff",
            b"x",
            b"y",
        ],
    },
    Target {
        name: "model",
        read: read_model,
        words: MODEL_WORDS,
    },
    Target {
        name: "committee",
        read: read_committee,
        words: MODEL_WORDS,
    },
];

/// Words of a model file.
const MODEL_WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\\"",
    b":",
    b",",
    b"null",
    b"true",
    b"1e999",
    b"-1",
    b"0",
    b"1.5",
    b"18446744073709551616",
    b"__metadata__",
    b"quorate",
    b"format",
    b"version",
    b"checksum",
    b"model",
    b"data_offsets",
    b"shape",
    b"dtype",
    b"F64",
    b"F32",
    b"U64",
    b"I64",
    b"BOOL",
    b"inputs",
    b"target",
    b"weight",
    b"group",
    b"known_noise",
];

/// The kernel's own promises are checked where the kernel lives: what is printed reads back, and binds to the same values.
fn read_kernel(bytes: &[u8]) -> bool {
    quorate_gp::kernel::fuzz_parse(bytes);
    String::from_utf8_lossy(bytes).parse::<Kernel>().is_ok()
}

fn read_table(bytes: &[u8]) -> bool {
    quorate_table::fuzz::read_bytes(bytes) > 0
}

/// Once as it is, once with the right checksum: damage would otherwise never come further than that check.
fn read_model(bytes: &[u8]) -> bool {
    let accepted = |bytes: &[u8]| quorate::file::from_bytes(bytes, "fuzz").is_ok();
    accepted(bytes) || sealed(bytes).is_some_and(|sealed| accepted(&sealed))
}

/// The file of a committee of members, in the same two ways.
fn read_committee(bytes: &[u8]) -> bool {
    let accepted =
        |bytes: &[u8]| quorate::file::members::from_bytes(bytes, "fuzz", &NoGuests).is_ok();
    accepted(bytes) || sealed(bytes).is_some_and(|sealed| accepted(&sealed))
}
