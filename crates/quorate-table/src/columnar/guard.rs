//! A damaged file must end in an error, also where a library gives up with a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs library code on bytes that may be damaged; a panic becomes the message of an error.
///
/// The reader is not used again after an error, so what the panic left behind is never seen.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let reason = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        damaged(reason)
    })
}

/// The problem of a file whose bytes make no sense.
pub(crate) fn damaged(reason: impl std::fmt::Display) -> String {
    format!("the file is damaged or incomplete ({reason})")
}
