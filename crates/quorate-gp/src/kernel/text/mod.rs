//! The text form of kernels: reading, printing, storing.
//!
//! ```text
//! expr   := term { '+' term }
//! term   := factor { '*' factor }
//! factor := number [ 'fixed' ] | atom | '(' expr ')'
//! atom   := name [ '(' arg { ',' arg } ')' ] [ '[' column { ',' column } ']' ]
//! arg    := 'ard' | key '=' value [ 'fixed' ]
//! value  := number | '[' number { ',' number } ']' | word
//! column := bare word | "quoted"
//! ```
//!
//! The tree is always in one normal form, a sum of products: parentheses that hold a single term, or that stand alone
//! in a sum, dissolve, and the numbers of a product become one.

mod arguments;
mod catalogue;
mod lexer;
mod nearest;
mod parse;
mod print;
mod serial;
mod tree;

pub(super) use catalogue::{Family, Key, LEAST, MOST};
pub(super) use nearest::suggestion;
pub use print::column_text;
pub(super) use print::{Place, number};
pub use tree::Kernel;
pub(super) use tree::{Atom, Factor, Scale, Term};
