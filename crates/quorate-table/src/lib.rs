//! Tables in and predictions out: CSV, CSV.gz, Parquet, Arrow IPC, standard input and output.
//!
//! [`open`] gives a source of batches, whatever the format; [`TableWriter`] writes frames. Nothing here is ever held in
//! memory whole: a table may be larger than memory.
//!
//! ```
//! use quorate_gp::data::{Column, read_all};
//! use quorate_table::{Format, OpenOptions, open_bytes};
//!
//! let text = b"height,site,y\n1.5,north,10\n,south,12\n".to_vec();
//! let mut table = open_bytes(text, Format::Csv, "example.csv", &OpenOptions::default())?;
//! let frame = read_all(&mut *table)?;
//! assert_eq!(frame.rows(), 2);
//! assert_eq!(frame.column("y"), Some(&Column::Number(vec![10.0, 12.0])));
//! # Ok::<(), quorate_table::Error>(())
//! ```

mod cell;
mod columnar;
mod csv;
mod date;
mod error;
mod format;
pub mod fuzz;
mod open;
mod options;
mod plan;
mod write;

pub use error::{Error, Result};
pub use format::Format;
pub use open::{open, open_bytes, open_reader};
pub use options::OpenOptions;
pub use write::{TableWriter, number_text};
