//! What people read: numbers, aligned tables, and where the words go.

mod console;
mod date;
mod kernel;
mod number;
mod table;

pub use console::Console;
pub use date::date;
pub use kernel::readable_kernel;
pub use number::{bytes, count, duration, percent, significant};
pub use table::{Align, Table, printable};

use anstyle::{AnsiColor, Effects, Style};

/// Headings of a page.
pub const HEADING: Style = Style::new().effects(Effects::BOLD);
/// Commands and file names to copy.
pub const LITERAL: Style = AnsiColor::Cyan.on_default();
/// What is of less weight: units, explanations.
pub const FAINT: Style = Style::new().effects(Effects::DIMMED);
