//! The graph: which columns depend on which, in a small JSON form.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{Error, Result};

/// Who depends on whom. As JSON:
/// `{"exogenous": ["age"], "parents": {"rain": [], "wet": ["rain", "age"]}, "dependency": false}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// Columns that are given from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exogenous: Vec<String>,
    /// The parents of every other column.
    #[serde(with = "in_order")]
    pub parents: Vec<(String, Vec<String>)>,
    /// True for a dependency network, in which cycles are allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dependency: bool,
}

/// An object whose keys keep their order.
mod in_order {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Map, Value};

    pub fn serialize<S: Serializer>(
        pairs: &[(String, Vec<String>)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let entry =
            |(name, parents): &(String, Vec<String>)| (name.clone(), parents.clone().into());
        let map: Map<String, Value> = pairs.iter().map(entry).collect();
        map.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(String, Vec<String>)>, D::Error> {
        let map = Map::<String, Value>::deserialize(deserializer)?;
        map.into_iter()
            .map(
                |(name, parents)| match Vec::<String>::deserialize(parents) {
                    Ok(parents) => Ok((name, parents)),
                    Err(error) => Err(D::Error::custom(format!("parents of `{name}`: {error}"))),
                },
            )
            .collect()
    }
}

impl Graph {
    /// A dependency network: every column given all others.
    pub fn of_everybody(variables: &[String], exogenous: &[String]) -> Self {
        let parents = |name: &String| {
            let others = exogenous.iter().chain(variables);
            let others = others.filter(|other| *other != name).cloned().collect();
            (name.clone(), others)
        };
        Self {
            parents: variables.iter().map(parents).collect(),
            exogenous: exogenous.to_vec(),
            dependency: true,
        }
    }

    /// The columns that are not exogenous.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.parents.iter().map(|(name, _)| name.as_str())
    }

    /// The parents of a column; none for a column that has none or is exogenous.
    pub fn parents_of(&self, name: &str) -> &[String] {
        let found = self.parents.iter().find(|(own, _)| own == name);
        found.map_or(&[], |(_, parents)| parents)
    }

    /// Refuses parents that are not there, a column that is its own parent, and cycles where they are not allowed.
    pub fn check(&self) -> Result<()> {
        let known = |name: &String| {
            self.exogenous.contains(name) || self.variables().any(|own| own == name)
        };
        for (name, parents) in &self.parents {
            if self.exogenous.contains(name) {
                return Err(Error::Spec(format!(
                    "`{name}` is exogenous and has no conditional: leave it out of `parents`"
                )));
            }
            if let Some(own) = parents.iter().find(|parent| *parent == name) {
                return Err(Error::Spec(format!("`{own}` cannot be its own parent")));
            }
            if let Some(parent) = parents.iter().find(|parent| !known(parent)) {
                return Err(Error::Spec(format!(
                    "`{parent}`, a parent of `{name}`, is neither a variable nor exogenous"
                )));
            }
            let twice =
                (1..parents.len()).find(|&place| parents[..place].contains(&parents[place]));
            if let Some(place) = twice {
                return Err(Error::Spec(format!(
                    "`{}` is named twice among the parents of `{name}`",
                    parents[place]
                )));
            }
        }
        if self.parents.is_empty() {
            return Err(Error::Spec("a network needs at least one variable".into()));
        }
        if self.dependency {
            return Ok(());
        }
        self.order().map(|_| ())
    }

    /// The variables, each behind its parents; as they are for a dependency network.
    pub fn order(&self) -> Result<Vec<usize>> {
        if self.dependency {
            return Ok((0..self.parents.len()).collect());
        }
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.parents.len() {
            let placed = |name: &String| {
                self.exogenous.contains(name)
                    || order.iter().any(|&own| self.parents[own].0 == *name)
            };
            let next = (0..self.parents.len())
                .find(|own| !order.contains(own) && self.parents[*own].1.iter().all(placed));
            match next {
                Some(next) => order.push(next),
                None => {
                    let left = (0..self.parents.len()).filter(|own| !order.contains(own));
                    let names: Vec<&str> = left.map(|own| self.parents[own].0.as_str()).collect();
                    return Err(Error::Spec(format!(
                        "the graph has a cycle among {}: a dependency network may have one",
                        names.join(", ")
                    )));
                }
            }
        }
        Ok(order)
    }

    /// The layer of each variable: 0 without parents among the variables, else one more than the highest parent's.
    pub fn layers(&self) -> Result<Vec<usize>> {
        let mut layers = vec![0; self.parents.len()];
        if self.dependency {
            return Ok(layers);
        }
        for own in self.order()? {
            let parents = self.parents[own].1.iter();
            let above = parents.filter_map(|name| self.variables().position(|own| own == name));
            layers[own] = above.map(|parent| layers[parent] + 1).max().unwrap_or(0);
        }
        Ok(layers)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_is_read_checked_and_ordered() {
        let text = r#"{"exogenous":["age"],"parents":{"wet":["rain","age"],"rain":[]}}"#;
        let graph: Graph = serde_json::from_str(text).unwrap();
        graph.check().unwrap();
        assert_eq!(graph.order().unwrap(), [1, 0]);
        assert_eq!(graph.layers().unwrap(), [1, 0]);
        assert_eq!(serde_json::to_string(&graph).unwrap(), text);
        for (text, problem) in [
            (r#"{"parents":{"a":["b"],"b":["a"]}}"#, "cycle among a, b"),
            (r#"{"parents":{"a":["a"]}}"#, "its own parent"),
            (r#"{"parents":{"a":["c"]}}"#, "neither a variable"),
            (r#"{"parents":{"a":[],"b":["a","a"]}}"#, "named twice"),
            (r#"{"exogenous":["a"],"parents":{"a":[]}}"#, "is exogenous"),
            (r#"{"parents":{}}"#, "at least one variable"),
        ] {
            let graph: Graph = serde_json::from_str(text).unwrap();
            let message = graph.check().unwrap_err().to_string();
            assert!(message.contains(problem), "{message}");
        }
        let both = r#"{"parents":{"a":["b"],"b":["a"]},"dependency":true}"#;
        serde_json::from_str::<Graph>(both)
            .unwrap()
            .check()
            .unwrap();
    }
}
