//! Paths named by the documentation exist.

use std::path::{Component, Path};

use super::tree::Text;

/// Top-level names that make a word in backticks a path of this repository.
const PLACES: &[&str] = &[
    ".cargo/", ".ci/", "benches/", "crates/", "docs/", "fuzz/", "golden/", "python/", "xtask/",
];

/// One sentence for each path in a Markdown file that leads nowhere.
pub fn missing_paths(root: &Path, texts: &[Text]) -> Vec<String> {
    let mut sentences = Vec::new();
    for text in texts.iter().filter(|text| text.path.ends_with(".md")) {
        let folder = Path::new(&text.path).parent().unwrap_or(Path::new(""));
        for (line, number) in text.content.lines().zip(1..) {
            let code = code_paths(line).map(|path| root.join(path));
            let links = link_targets(line).map(|path| root.join(folder).join(path));
            for path in code.chain(links).filter(|path| !path.exists()) {
                let shown = path.strip_prefix(root).unwrap_or(&path).display();
                sentences.push(format!("{}:{number}: `{shown}` does not exist", text.path));
            }
        }
    }
    sentences
}

/// Words in backticks that name a place of this repository.
fn code_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| PLACES.iter().any(|place| word.starts_with(place)))
        .filter(|word| !word.contains([' ', '*', '<', '{']))
}

/// Targets of Markdown links that are neither web addresses nor places on the same page.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter_map(|target| target.split('#').next())
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(' '))
        .filter(|target| {
            let first = Path::new(target).components().next();
            !matches!(first, Some(Component::RootDir))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tree;
    use crate::workspace;

    #[test]
    fn paths_and_links_are_told_from_other_words() {
        let line = "`crates/quorate-gp/src` uses `rayon`, see [the map](ARCHITECTURE.md#map) and [this](https://x.org/a)";
        assert_eq!(
            code_paths(line).collect::<Vec<_>>(),
            ["crates/quorate-gp/src"]
        );
        assert_eq!(link_targets(line).collect::<Vec<_>>(), ["ARCHITECTURE.md"]);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_reported() {
        let texts = [tree::Text {
            path: "ARCHITECTURE.md".into(),
            content: "The core is `crates/no-such-crate/`.".into(),
        }];
        assert_eq!(missing_paths(&workspace::root(), &texts).len(), 1);
    }

    #[test]
    fn every_path_in_our_documentation_exists() -> Result<(), String> {
        let root = workspace::root();
        let files = tree::files(&root)?;
        let texts = tree::read_texts(&root, &files);
        assert_eq!(missing_paths(&root, &texts), Vec::<String>::new());
        assert!(texts.iter().any(|text| text.path == "ARCHITECTURE.md"));
        Ok(())
    }
}
