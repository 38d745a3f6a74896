//! Rules about crates: which are banned, doubled, foreign, or used from the wrong layer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::exceptions::{BANNED, DUPLICATES, LAYERS, LINKS, TOLERATED};
use super::tree::Text;
use crate::process::Outcome;

/// What the rules need to know about one package of the resolved graph.
#[derive(Clone, Debug, Default)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub licence: Option<String>,
    /// Where the package comes from; none for our own.
    pub source: Option<String>,
    pub links: bool,
    pub manifest: PathBuf,
    /// Names of the packages it really uses, with the chosen features, for any platform.
    pub uses: BTreeSet<String>,
    /// Those among them that its tests, examples and benchmarks alone use.
    pub uses_in_tests: BTreeSet<String>,
}

impl Package {
    pub fn title(&self) -> String {
        format!("crate {} {}", self.name, self.version)
    }
}

/// The packages of the resolved graph.
pub fn packages(metadata: &Value) -> Outcome<Vec<Package>> {
    let text = |value: &Value| value.as_str().map(String::from);
    let empty = Vec::new();
    let list = metadata["packages"].as_array().unwrap_or(&empty);
    let nodes = metadata["resolve"]["nodes"].as_array().unwrap_or(&empty);
    let names: BTreeMap<&str, &str> = list
        .iter()
        .filter_map(|package| Some((package["id"].as_str()?, package["name"].as_str()?)))
        .collect();
    let uses = |id: &Value, wanted: fn(&Value) -> bool| -> BTreeSet<String> {
        nodes
            .iter()
            .find(|node| node["id"] == *id)
            .and_then(|node| node["deps"].as_array())
            .unwrap_or(&empty)
            .iter()
            .filter(|used| wanted(used))
            .filter_map(|used| names.get(used["pkg"].as_str()?).map(ToString::to_string))
            .collect()
    };
    let packages: Vec<Package> = list
        .iter()
        .map(|package| Package {
            name: text(&package["name"]).unwrap_or_default(),
            version: text(&package["version"]).unwrap_or_default(),
            licence: text(&package["license"]),
            source: text(&package["source"]),
            links: package["links"].is_string(),
            manifest: text(&package["manifest_path"]).unwrap_or_default().into(),
            uses: uses(&package["id"], |_| true),
            uses_in_tests: uses(&package["id"], only_in_tests),
        })
        .collect();
    if packages.iter().any(|package| package.source.is_none()) {
        Ok(packages)
    } else {
        Err("cargo metadata lists no package of this workspace".into())
    }
}

/// Whether a dependency is for development only.
fn only_in_tests(used: &Value) -> bool {
    let kinds = used["dep_kinds"].as_array();
    kinds.is_some_and(|kinds| kinds.iter().all(|kind| kind["kind"] == "dev"))
}

/// Crates that need more than the Rust toolchain to build.
pub fn banned(packages: &[Package]) -> Vec<String> {
    let mut sentences = Vec::new();
    let tolerated: BTreeMap<&str, &[&str]> = TOLERATED
        .iter()
        .map(|(name, users, _)| (*name, *users))
        .collect();
    for package in packages {
        let name = package.name.as_str();
        if BANNED.contains(&name) {
            let allowed = tolerated.get(name).copied().unwrap_or_default();
            let users = packages.iter().filter(|user| user.uses.contains(name));
            for user in users.filter(|user| !allowed.contains(&user.name.as_str())) {
                sentences.push(format!("{} uses {name}, which is banned", user.title()));
            }
        }
        if package.links && !LINKS.iter().any(|(allowed, _)| *allowed == name) {
            sentences.push(format!("{} links a native library", package.title()));
        }
    }
    let present: BTreeSet<&str> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let excepted = TOLERATED.iter().map(|(name, ..)| *name);
    for name in excepted.chain(LINKS.iter().map(|(name, _)| *name)) {
        if !present.contains(name) {
            sentences.push(format!(
                "the exception for crate {name} is not needed any more"
            ));
        }
    }
    sentences
}

/// Crates in several versions: each costs compile time and bytes.
pub fn duplicates(packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions
            .entry(&package.name)
            .or_default()
            .push(&package.version);
    }
    versions.retain(|_, list| list.len() > 1);
    let mut sentences: Vec<String> = versions
        .iter()
        .filter(|(name, _)| !DUPLICATES.iter().any(|(allowed, _)| allowed == *name))
        .map(|(name, list)| format!("crate {name} is present in versions {}", list.join(" and ")))
        .collect();
    for (name, _) in DUPLICATES {
        if !versions.contains_key(name) {
            sentences.push(format!(
                "the exception for doubled crate {name} is not needed any more"
            ));
        }
    }
    sentences
}

/// Everything that is not ours comes from crates.io.
pub fn foreign_sources(packages: &[Package]) -> Vec<String> {
    const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
    packages
        .iter()
        .filter_map(|package| {
            let source = package.source.as_deref()?;
            (source != REGISTRY).then(|| format!("{} comes from {source}", package.title()))
        })
        .collect()
}

/// Our own crates use each other in one direction only; tests and examples may look further.
pub fn wrong_layers(packages: &[Package]) -> Vec<String> {
    let ours: Vec<&Package> = packages
        .iter()
        .filter(|package| package.source.is_none())
        .collect();
    let mut sentences = Vec::new();
    for package in &ours {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == package.name) else {
            sentences.push(format!("{} has no place among the layers", package.title()));
            continue;
        };
        for other in &ours {
            let name = other.name.as_str();
            let uses = package.uses.contains(name) && !package.uses_in_tests.contains(name);
            if uses && !allowed.contains(&name) {
                sentences.push(format!(
                    "{} uses {name}, against the layers",
                    package.title()
                ));
            }
        }
    }
    sentences
}

/// Every crate of ours takes its lints from the workspace.
pub fn missing_lints(root: &Path, packages: &[Package], texts: &[Text]) -> Vec<String> {
    packages
        .iter()
        .filter(|package| package.source.is_none())
        .filter(|package| {
            let manifest = texts
                .iter()
                .find(|text| package.manifest == root.join(&text.path));
            !manifest.is_some_and(|text| inherits_lints(&text.content))
        })
        .map(|package| format!("{} does not inherit the workspace's lints", package.title()))
        .collect()
}

fn inherits_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim);
    lines.any(|line| line == "[lints]")
        && lines.find(|line| !line.is_empty()) == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str, uses: &[&str]) -> Package {
        Package {
            name: name.into(),
            version: version.into(),
            uses: uses.iter().map(ToString::to_string).collect(),
            ..Package::default()
        }
    }

    fn says(sentences: &[String], words: &str) -> bool {
        sentences.iter().any(|sentence| sentence.contains(words))
    }

    #[test]
    fn a_banned_crate_is_named_with_its_user_unless_tolerated() {
        let graph = [
            package("openssl-sys", "1.0.0", &[]),
            package("pkg-config", "1.0.0", &[]),
            package("tls", "1.0.0", &["openssl-sys"]),
            package("zstd-sys", "1.0.0", &["pkg-config"]),
        ];
        let sentences = banned(&graph);
        assert!(says(&sentences, "crate tls 1.0.0 uses openssl-sys"));
        assert!(!says(&sentences, "zstd-sys 1.0.0 uses"));
    }

    #[test]
    fn a_native_library_needs_an_exception() {
        let mut native = package("sqlite3-sys", "1.0.0", &[]);
        native.links = true;
        assert!(says(&banned(&[native]), "sqlite3-sys 1.0.0 links"));
    }

    #[test]
    fn two_versions_and_stale_exceptions_are_reported() {
        let graph = [
            package("left-pad", "1.0.0", &[]),
            package("left-pad", "2.0.0", &[]),
        ];
        let sentences = duplicates(&graph);
        assert!(says(
            &sentences,
            "left-pad is present in versions 1.0.0 and 2.0.0"
        ));
        assert!(says(&sentences, "crate syn is not needed"));
    }

    #[test]
    fn a_git_source_is_foreign() {
        let mut foreign = package("fork", "1.0.0", &[]);
        foreign.source = Some("git+https://example.org/fork".into());
        assert_eq!(foreign_sources(&[foreign]).len(), 1);
    }

    #[test]
    fn an_arrow_against_the_layers_is_reported() {
        let mut graph = [
            package("quorate-gp", "0.1.0", &["quorate-table"]),
            package("quorate-table", "0.1.0", &["quorate-gp"]),
        ];
        let sentences = wrong_layers(&graph);
        assert_eq!(sentences.len(), 1);
        assert!(says(&sentences, "quorate-gp 0.1.0 uses quorate-table"));
        graph[0].uses_in_tests.insert("quorate-table".into());
        assert!(wrong_layers(&graph).is_empty());
    }

    #[test]
    fn lints_must_be_inherited() {
        assert!(inherits_lints("[package]\n\n[lints]\nworkspace = true\n"));
        assert!(!inherits_lints(
            "[package]\n\n[lints.rust]\nunsafe_code = \"deny\"\n"
        ));
        assert!(!inherits_lints("[package]\nworkspace = true\n"));
    }
}
