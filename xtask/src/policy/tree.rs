//! Rules about our own files.

use std::path::{Path, PathBuf};

use crate::process::{self, Outcome};

/// A text file of the repository.
pub struct Text {
    /// Relative to the root, with forward slashes.
    pub path: String,
    pub content: String,
}

/// Files that git knows or would add, relative to the root.
pub fn files(root: &Path) -> Outcome<Vec<PathBuf>> {
    let list = process::read(
        std::process::Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard"])
            .current_dir(root),
    )?;
    let files: Vec<PathBuf> = list
        .lines()
        .map(PathBuf::from)
        .filter(|path| root.join(path).is_file())
        .collect();
    if files.is_empty() {
        return Err("git lists no file of this repository".into());
    }
    Ok(files)
}

/// The contents of those files that are text.
pub fn read_texts(root: &Path, files: &[PathBuf]) -> Vec<Text> {
    files
        .iter()
        .filter_map(|path| {
            let content = std::fs::read_to_string(root.join(path)).ok()?;
            let path = path.to_string_lossy().replace('\\', "/");
            Some(Text { path, content })
        })
        .collect()
}

/// Files that must be there.
pub fn missing_files(files: &[PathBuf]) -> Vec<String> {
    [
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "rust-toolchain.toml",
    ]
    .iter()
    .filter(|name| !files.iter().any(|path| path == Path::new(name)))
    .map(|name| format!("{name} is not committed"))
    .collect()
}

/// Source files so long that a second idea has probably moved in.
pub fn long_files(texts: &[Text]) -> Vec<String> {
    const MOST_LINES: usize = 500;
    texts
        .iter()
        .filter(|text| text.path.ends_with(".rs") || text.path.ends_with(".py"))
        .map(|text| (text, text.content.lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(text, lines)| format!("{} has {lines} lines; is there a second idea?", text.path))
        .collect()
}

/// Beginnings of paths that exist on one machine only. Written in two halves, so that this file follows its own rule.
const MACHINE_PATHS: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/Us", "ers/"),
    concat!("/wo", "rk/"),
    concat!("C:", "\\Users"),
];

/// Lines that name a folder of somebody's machine.
pub fn machine_paths(texts: &[Text]) -> Vec<String> {
    let mut sentences = Vec::new();
    for text in texts {
        for (line, number) in text.content.lines().zip(1..) {
            for path in MACHINE_PATHS {
                let alone = line
                    .match_indices(path)
                    .any(|(at, _)| starts_a_path(line, at));
                if alone {
                    sentences.push(format!("{}:{number}: names the folder {path}", text.path));
                }
            }
        }
    }
    sentences
}

/// Whether the slash at `at` begins a path, rather than continuing a relative one or a web address.
fn starts_a_path(line: &str, at: usize) -> bool {
    !line[..at]
        .chars()
        .next_back()
        .is_some_and(|before| before.is_alphanumeric() || ".-_*~}>".contains(before))
}

/// Frequent slips, each with the right spelling; the wrong one is written in two halves.
const SLIPS: &[(&str, &str, &str)] = &[
    ("acc", "omodate", "accommodate"),
    ("ach", "eive", "achieve"),
    ("arg", "uement", "argument"),
    ("beg", "ining", "beginning"),
    ("calib", "arat", "calibrat"),
    ("Chol", "eksy", "Cholesky"),
    ("comm", "ittment", "commitment"),
    ("comm", "itee", "committee"),
    ("com", "itt", "committ"),
    ("consis", "tant", "consistent"),
    ("covar", "aince", "covariance"),
    ("defin", "ately", "definitely"),
    ("depend", "ancy", "dependency"),
    ("deriv", "itive", "derivative"),
    ("determin", "sitic", "deterministic"),
    ("diag", "nol", "diagonal"),
    ("dis", "tribtu", "distribut"),
    ("exis", "tance", "existence"),
    ("Gaus", "ian", "Gaussian"),
    ("guar", "entee", "guarantee"),
    ("indep", "endant", "independent"),
    ("init", "alis", "initialis"),
    ("likel", "yhood", "likelihood"),
    ("mar", "gnial", "marginal"),
    ("neces", "ary", "necessary"),
    ("neigb", "our", "neighbour"),
    ("occ", "ured", "occurred"),
    ("occ", "urence", "occurrence"),
    ("para", "mater", "parameter"),
    ("prob", "abilty", "probability"),
    ("re", "cieve", "receive"),
    ("sep", "erat", "separat"),
    ("simult", "anous", "simultaneous"),
    ("suc", "essful", "successful"),
    ("thr", "eshhold", "threshold"),
    ("un", "fortunatly", "unfortunately"),
    ("var", "aince", "variance"),
];

/// Lines with a known slip, in any letter case.
pub fn misspellings(texts: &[Text]) -> Vec<String> {
    let slips: Vec<(String, &str)> = SLIPS
        .iter()
        .map(|(start, end, right)| (format!("{start}{end}").to_lowercase(), *right))
        .collect();
    let mut sentences = Vec::new();
    let prose = [".md", ".rs", ".py", ".toml"];
    for text in texts {
        if !prose.iter().any(|ending| text.path.ends_with(ending)) {
            continue;
        }
        for (line, number) in text.content.lines().zip(1..) {
            let lower = line.to_lowercase();
            for (wrong, right) in &slips {
                if lower.contains(wrong) {
                    let path = &text.path;
                    sentences.push(format!("{path}:{number}: `{wrong}` is spelt `{right}`"));
                }
            }
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, content: &str) -> Text {
        Text {
            path: path.into(),
            content: content.into(),
        }
    }

    #[test]
    fn a_machine_path_is_found_and_a_web_address_is_not() {
        let wrong = format!("see {}ann/notes", MACHINE_PATHS[0]);
        let texts = [
            text("a.md", &wrong),
            text("b.md", "https://example.org/home/page and crates/work/x"),
        ];
        let sentences = machine_paths(&texts);
        assert_eq!(sentences.len(), 1);
        assert!(sentences[0].starts_with("a.md:1:"));
    }

    #[test]
    fn slips_are_found_in_any_case_and_right_spellings_pass() {
        for (start, end, right) in SLIPS {
            let wrong = format!("One line.\nThe {}.", format!("{start}{end}").to_uppercase());
            assert!(!misspellings(&[text("a.md", &wrong)]).is_empty(), "{wrong}");
            assert!(misspellings(&[text("a.md", right)]).is_empty(), "{right}");
        }
    }

    #[test]
    fn long_sources_are_noticed_and_long_data_is_not() {
        let long = "x\n".repeat(501);
        let sentences = long_files(&[text("a.rs", &long), text("a.csv", &long)]);
        assert_eq!(sentences.len(), 1);
    }

    #[test]
    fn a_missing_lock_file_is_reported() {
        let sentences = missing_files(&[PathBuf::from("README.md")]);
        assert!(sentences.contains(&String::from("Cargo.lock is not committed")));
    }
}
