//! What a model believes as output tensors.

use quorate::gp::data::{Frame, Schema, TargetCode};
use quorate::{Forecast, Model, Prediction};

use crate::error::Refusal;
use crate::limits::Limits;
use crate::tensor::{Datatype, Tensor};

/// Outputs of a model of numbers; with several targets each has the target's name and `_` in front.
const OF_NUMBERS: [&str; 7] = [
    "mean",
    "variance",
    "latent_variance",
    "prior_mean",
    "prior_variance",
    "quantiles",
    "covariance",
];
/// Outputs of a model of classes.
const OF_CLASSES: [&str; 3] = ["label", "probabilities", "classes"];

/// Outputs of a model of counts, amounts or lifetimes.
const OF_QUANTITIES: [&str; 3] = ["mean", "variance", "quantiles"];

/// Name, type and shape of an output; -1 stands for the number of rows, or of quantiles.
pub type Described = (String, Datatype, Vec<i64>);

/// The outputs a model has.
pub fn described(schema: &Schema) -> Vec<Described> {
    if let TargetCode::Classes(classes) = schema.target() {
        let count = classes.count() as i64;
        let shapes = [
            (Datatype::Bytes, vec![-1]),
            (Datatype::Fp64, vec![-1, count]),
            (Datatype::Bytes, vec![count]),
        ];
        let named = OF_CLASSES.iter().zip(shapes);
        return named
            .map(|(name, (datatype, shape))| ((*name).to_owned(), datatype, shape))
            .collect();
    }
    let several = schema.roles().targets().count() > 1;
    let prefixes: Vec<String> = match several {
        true => schema.roles().targets().map(|t| format!("{t}_")).collect(),
        false => vec![String::new()],
    };
    let names: &[&str] = match schema.target() {
        TargetCode::Quantity(_) => &OF_QUANTITIES,
        _ => &OF_NUMBERS,
    };
    let of_target = |prefix: &String| {
        let offered = names
            .iter()
            .filter(|name| !several || **name != "covariance");
        let each = offered.map(|name| {
            let shape = match *name {
                "quantiles" | "covariance" => vec![-1, -1],
                _ => vec![-1],
            };
            (format!("{prefix}{name}"), Datatype::Fp64, shape)
        });
        each.collect::<Vec<_>>()
    };
    prefixes.iter().flat_map(of_target).collect()
}

/// What is sent where a request names no output.
fn usual(schema: &Schema) -> Vec<String> {
    let offered = described(schema).into_iter().map(|(name, ..)| name);
    let endings: &[&str] = match schema.target() {
        TargetCode::Classes(_) => &["label", "probabilities"],
        _ => &["mean", "variance"],
    };
    offered
        .filter(|name| {
            let plain = |ending: &&str| name == *ending || name.ends_with(&format!("_{ending}"));
            endings.iter().any(plain) && !name.contains("latent_") && !name.contains("prior_")
        })
        .collect()
}

/// What a request wants to know.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Names of outputs; none for the usual ones.
    pub names: Vec<String>,
    /// Probabilities of the quantiles.
    pub quantiles: Vec<f64>,
    /// The function itself, without the noise of an observation.
    pub latent: bool,
}

impl Wanted {
    /// The outputs for the rows of a table.
    pub fn answer(
        &self,
        model: &Model,
        table: &Frame,
        limits: &Limits,
    ) -> Result<Vec<Tensor>, Refusal> {
        let schema = model.schema();
        let names = match self.names.is_empty() {
            true => usual(schema),
            false => self.names.clone(),
        };
        let offered = described(schema);
        for name in &names {
            if !offered.iter().any(|(known, ..)| known == name) {
                let known: Vec<&str> = offered.iter().map(|(known, ..)| known.as_str()).collect();
                return Err(Refusal::bad(format!(
                    "there is no output `{name}`; there are {}",
                    known.join(", ")
                )));
            }
        }
        let forecast = model.forecast(table)?;
        let needs_prior = names.iter().any(|name| name.contains("prior_"));
        let prior = needs_prior.then(|| model.prior(table)).transpose()?;
        let tensor = |name: &String| match &forecast {
            Forecast::Classes(said) => {
                let labels = said.classes.labels();
                Ok(match name.as_str() {
                    "label" => {
                        let chosen = said
                            .decisions()
                            .into_iter()
                            .map(|code| labels[code].as_str());
                        Tensor::text("label", chosen)
                    }
                    "classes" => Tensor::text("classes", labels.iter().map(String::as_str)),
                    _ => {
                        let shape = vec![said.rows(), said.classes.count()];
                        Tensor::numbers("probabilities", shape, said.probabilities.clone())
                    }
                })
            }
            Forecast::Quantity(said) => {
                let rows = said.rows();
                Ok(match name.as_str() {
                    "mean" => Tensor::numbers(name, vec![rows], said.mean()),
                    "variance" => {
                        let spread = said.deviation(self.latent).into_iter();
                        Tensor::numbers(name, vec![rows], spread.map(|s| s * s).collect())
                    }
                    _ => {
                        let levels = self.quantiles.iter();
                        let each: Vec<Vec<f64>> =
                            levels.map(|p| said.quantile(*p, self.latent)).collect();
                        let cells = (0..rows).flat_map(|row| each.iter().map(move |own| own[row]));
                        let shape = vec![rows, self.quantiles.len()];
                        Tensor::numbers(name, shape, cells.collect())
                    }
                })
            }
            Forecast::Number(said) => {
                let before = match &prior {
                    Some(Forecast::Number(before)) => Some(before),
                    _ => None,
                };
                self.number(name, name, said, before, model, table, limits)
            }
            Forecast::Numbers(each) => {
                let own = each.iter().enumerate().find_map(|(index, (target, said))| {
                    let ending = name.strip_prefix(&format!("{target}_"))?;
                    OF_NUMBERS
                        .contains(&ending)
                        .then_some((index, ending, said))
                });
                let (index, ending, said) =
                    own.ok_or_else(|| Refusal::bad(format!("there is no output `{name}`")))?;
                let before = match &prior {
                    Some(Forecast::Numbers(before)) => before.get(index).map(|(_, said)| said),
                    _ => None,
                };
                self.number(name, ending, said, before, model, table, limits)
            }
        };
        names.iter().map(tensor).collect()
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "what one of eight outputs may need"
    )]
    fn number(
        &self,
        name: &str,
        what: &str,
        said: &Prediction,
        before: Option<&Prediction>,
        model: &Model,
        table: &Frame,
        limits: &Limits,
    ) -> Result<Tensor, Refusal> {
        let rows = said.mean.len();
        let plain = |cells: Vec<f64>| Ok(Tensor::numbers(name, vec![rows], cells));
        match (what, before) {
            ("mean", _) => plain(said.mean.clone()),
            ("variance", _) => plain(said.variance(self.latent)),
            ("latent_variance", _) => plain(said.latent_variance.clone()),
            ("prior_mean", Some(before)) => plain(before.mean.clone()),
            ("prior_variance", Some(before)) => plain(before.latent_variance.clone()),
            ("quantiles", _) => {
                let each: Vec<Vec<f64>> = self
                    .quantiles
                    .iter()
                    .map(|p| said.quantile(*p, self.latent))
                    .collect();
                let cells = (0..rows).flat_map(|row| each.iter().map(move |own| own[row]));
                let shape = vec![rows, self.quantiles.len()];
                Ok(Tensor::numbers(name, shape, cells.collect()))
            }
            ("covariance", _) => {
                if rows > limits.joint_rows {
                    return Err(Refusal::new(
                        axum::http::StatusCode::PAYLOAD_TOO_LARGE,
                        format!(
                            "a covariance of {rows} rows; at most {} are answered",
                            limits.joint_rows
                        ),
                    ));
                }
                let joint = model.predict_joint(table)?;
                Ok(Tensor::numbers(
                    name,
                    vec![rows, rows],
                    joint.covariance(self.latent),
                ))
            }
            _ => Err(Refusal::bad(format!("there is no output `{name}`"))),
        }
    }
}
