//! Tables in every format, well made and damaged. One file a subject.
//!
//! One program for all of them: each further one would be linked with the whole library again.

mod columnar_tables;
mod common;
mod damaged_files;
mod real_data;
mod round_trips;
mod text_tables;
mod writing;
