//! A damaged file must end in an error, also where a library gives up with a panic.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    /// True while this thread runs guarded work, whose panics are reported as errors and not on the terminal.
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs library code on bytes that may be damaged; a panic becomes the message of an error.
///
/// The reader is not used again after an error, so what the panic left behind is never seen.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    silence_guarded_panics();
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(before);
    result.map_err(|panic| {
        let reason = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        damaged(reason)
    })
}

/// Puts a hook before the present one that keeps guarded panics off the terminal; all others pass unchanged.
fn silence_guarded_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                before(panic);
            }
        }));
    });
}

/// The problem of a file whose bytes make no sense.
pub(crate) fn damaged(reason: impl std::fmt::Display) -> String {
    format!("the file is damaged or incomplete ({reason})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_message() {
        assert_eq!(guarded(|| 7), Ok(7));
        let message = guarded(|| -> u8 { panic!("row {}", 3) });
        assert_eq!(
            message,
            Err("the file is damaged or incomplete (row 3)".into())
        );
        assert!(!GUARDED.get());
    }
}
