//! Rules about what a library's code may name: the arrows inside `quorate-gp`, the matrix library, the outside world.

use super::exceptions::{LIBRARIES, MODULES};
use super::tree::Text;

/// The core's folder.
const CORE: &str = "crates/quorate-gp/src/";
/// The only folder that names the matrix library.
const MATRICES: &str = "crates/quorate-gp/src/linalg/";
/// What only shells do.
const SHELL_WORDS: &[&str] = &[
    "println!",
    "print!(",
    "std::env::",
    "env::var",
    "process::exit",
    "ThreadPoolBuilder",
];

/// One sentence for each line that names what its place may not.
pub fn violations(texts: &[Text]) -> Vec<String> {
    let mut sentences = Vec::new();
    for text in texts.iter().filter(|text| text.path.ends_with(".rs")) {
        let Some(library) = LIBRARIES
            .iter()
            .find(|folder| text.path.starts_with(*folder))
        else {
            continue;
        };
        for (number, line) in code(&text.content) {
            let mut report = |what: String| {
                sentences.push(format!("{}:{number}: {what}", text.path));
            };
            for word in SHELL_WORDS.iter().filter(|word| line.contains(*word)) {
                report(format!("`{word}` belongs to the shells, not to {library}"));
            }
            if line.contains("faer::") && !text.path.starts_with(MATRICES) {
                report(format!("the matrix library is named in {MATRICES} only"));
            }
            if let Some(inner) = text.path.strip_prefix(CORE) {
                for module in named_modules(line).filter(|module| against(inner, module)) {
                    report(format!("uses the module `{module}`, against the layers"));
                }
            }
        }
    }
    sentences
}

/// Lines of code with their numbers: no comments, and nothing from the tests at the foot of the file.
fn code(content: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..)
        .zip(content.lines())
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

/// Modules of the core that a line names.
fn named_modules(line: &str) -> impl Iterator<Item = &str> {
    line.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}

/// Whether a file of the core stands below the module it uses.
fn against(file: &str, used: &str) -> bool {
    let own = file.split(['/', '.']).next().unwrap_or_default();
    let level = |name: &str| MODULES.iter().position(|level| level.contains(&name));
    matches!((level(own), level(used)), (Some(own), Some(used)) if used > own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, content: &str) -> usize {
        let text = Text {
            path: path.into(),
            content: content.into(),
        };
        violations(&[text]).len()
    }

    #[test]
    fn arrows_of_the_core_run_one_way() {
        let line = "use crate::posterior::Exact;\n";
        assert_eq!(broken("crates/quorate-gp/src/learn/evidence.rs", line), 0);
        assert_eq!(broken("crates/quorate-gp/src/posterior/joint.rs", line), 0);
        assert_eq!(broken("crates/quorate-gp/src/kernel/radial.rs", line), 1);
        assert_eq!(broken("crates/quorate-gp/src/error.rs", line), 1);
    }

    #[test]
    fn only_one_folder_names_the_matrix_library() {
        let line = "let matrix = faer::Mat::<f64>::zeros(2, 2);\n";
        assert_eq!(broken("crates/quorate-gp/src/linalg/factor.rs", line), 0);
        assert_eq!(broken("crates/quorate-gp/src/posterior/exact.rs", line), 1);
    }

    #[test]
    fn libraries_do_not_print_outside_their_tests_and_comments() {
        let path = "crates/quorate/src/model.rs";
        assert_eq!(broken(path, "fn f() { println!(\"x\"); }\n"), 1);
        assert_eq!(
            broken(
                path,
                "/// println!(\"x\");\n#[cfg(test)]\nprintln!(\"x\");\n"
            ),
            0
        );
        assert_eq!(
            broken("crates/quorate-cli/src/main.rs", "println!(\"x\");\n"),
            0
        );
    }
}
