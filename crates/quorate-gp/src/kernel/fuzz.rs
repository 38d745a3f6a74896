//! What any text at all must satisfy; called with bytes by a mutation loop or a coverage-guided fuzzer.

use super::covariance::Covariance;
use super::text::Kernel;
use crate::Error;
use crate::data::{ColumnKind, InputColumn};

/// Parses the bytes as kernel text. Text that parses must print and read back as the same tree; a tree that binds
/// must come back from its written values with the same parameters, to the last bit.
///
/// # Panics
/// When one of these promises is broken: that is its purpose.
#[doc(hidden)]
pub fn fuzz_parse(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let kernel = match text.parse::<Kernel>() {
        Ok(kernel) => kernel,
        Err(Error::Kernel { position, .. }) => {
            assert!(
                position <= text.chars().count(),
                "the error points beyond the text"
            );
            return;
        }
        Err(_) => return,
    };
    assert_eq!(reread(&kernel), kernel);
    let structure: Kernel = kernel.structure().parse().expect("a structure parses");
    assert_eq!(structure.structure(), kernel.structure());
    let column = |name: &str, kind: ColumnKind, deviation: f64| InputColumn {
        name: name.to_owned(),
        kind,
        deviation,
    };
    let table = [
        column("a", ColumnKind::Number, 3.7),
        column("a", ColumnKind::Missing, 1.0),
        column("b c", ColumnKind::Number, 0.01),
        column("s", ColumnKind::Category { levels: 3 }, 1.0),
    ];
    if let Ok(bound) = kernel.bind(&table) {
        let written = bound.kernel();
        let again = reread(&written)
            .bind(&table)
            .expect("a written kernel binds");
        assert_eq!(again.parameters(), bound.parameters());
        assert_eq!(again.kernel(), written);
    }
}

fn reread(kernel: &Kernel) -> Kernel {
    kernel.to_string().parse().expect("a printed kernel parses")
}
