//! Forecasts as columns of a table: the one place where a task decides what `predict` writes.

use std::str::FromStr;
use std::sync::Arc;

use quorate::{ClassPrediction, Error, Forecast, Model, Prediction, QuantityPrediction};
use quorate_gp::data::{Classes, Column, ColumnType, Quantity, TargetCode};

use crate::failure::Result;

/// A number between 0 and 1, both excluded, with the text it was given as.
#[derive(Clone, Debug)]
pub struct Probability {
    pub value: f64,
    pub text: String,
}

impl FromStr for Probability {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value < 1.0 => Ok(Self {
                value,
                text: text.to_owned(),
            }),
            _ => Err("expected a number between 0 and 1, such as 0.9".to_owned()),
        }
    }
}

/// A time with the text it was given as.
#[derive(Clone, Debug)]
pub struct Time {
    pub value: f64,
    pub text: String,
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Ok(Self {
                value,
                text: text.to_owned(),
            }),
            _ => Err("expected a positive number, such as 30".to_owned()),
        }
    }
}

/// What is wanted of a forecast.
#[derive(Clone, Debug)]
pub struct Wish {
    /// Probability between `lower` and `upper`.
    pub interval: Probability,
    /// Further quantiles.
    pub quantiles: Vec<Probability>,
    /// The function itself, without the noise of an observation.
    pub latent: bool,
    /// Counts whose probability is wanted.
    pub counts: Vec<u64>,
    /// Times at which the survival of a lifetime is wanted.
    pub survival: Vec<Time>,
}

impl Wish {
    /// Names and types of the columns that forecasts of a model become.
    pub fn header(&self, model: &Model) -> Result<Vec<(String, ColumnType)>> {
        let numbers = |prefix: &str| -> Vec<(String, ColumnType)> {
            let plain = ["mean", "std", "lower", "upper"].map(String::from);
            let quantiles = self.quantiles.iter().map(|p| format!("q{}", p.text));
            let names = plain.into_iter().chain(quantiles);
            names
                .map(|name| (format!("{prefix}{name}"), ColumnType::Number))
                .collect()
        };
        let target = model.schema().target();
        let kind = target.quantity().map(|code| code.quantity);
        if !self.counts.is_empty() && kind != Some(Quantity::Count) {
            let problem = "`--probability-of` is about counts, which this model does not predict";
            return Err(Error::Spec(problem.into()).into());
        }
        if !self.survival.is_empty() && kind != Some(Quantity::Positive) {
            let problem = "`--survival-at` is about lifetimes, which this model does not predict";
            return Err(Error::Spec(problem.into()).into());
        }
        match target {
            TargetCode::Number(_) => Ok(numbers("")),
            TargetCode::Quantity(code) => {
                let mut names = numbers("");
                if code.quantity == Quantity::Positive {
                    names.insert(1, ("median".to_owned(), ColumnType::Number));
                }
                let counts = self.counts.iter().map(|count| format!("p_{count}"));
                let times = self.survival.iter();
                let times = times.map(|time| format!("survival_{}", time.text));
                names.extend(counts.chain(times).map(|name| (name, ColumnType::Number)));
                Ok(names)
            }
            TargetCode::Numbers(_) => {
                let targets = model.schema().roles().targets();
                Ok(targets
                    .flat_map(|name| numbers(&format!("{name}_")))
                    .collect())
            }
            TargetCode::Classes(classes) => {
                if self.latent || !self.quantiles.is_empty() {
                    return Err(Error::Spec(
                        "`--latent` and `--quantiles` are about numbers, and this model predicts classes"
                            .into(),
                    )
                    .into());
                }
                let label = ("label".to_owned(), classes.column_type());
                let labels = classes.labels().iter();
                let shares = labels.map(|label| (format!("p_{label}"), ColumnType::Number));
                Ok(std::iter::once(label).chain(shares).collect())
            }
        }
    }

    /// The columns of a forecast.
    pub fn columns(&self, forecast: &Forecast) -> Vec<Column> {
        match forecast {
            Forecast::Number(prediction) => self.of_number(prediction),
            Forecast::Numbers(each) => {
                let each = each.iter();
                each.flat_map(|(_, prediction)| self.of_number(prediction))
                    .collect()
            }
            Forecast::Classes(prediction) => of_classes(prediction),
            Forecast::Quantity(prediction) => self.of_quantity(prediction),
        }
    }

    fn of_quantity(&self, prediction: &QuantityPrediction) -> Vec<Column> {
        let tail = (1.0 - self.interval.value) / 2.0;
        let quantile = |p: f64| Column::Number(prediction.quantile(p, self.latent));
        let mut columns = vec![Column::Number(prediction.mean())];
        if prediction.code.quantity == Quantity::Positive {
            columns.push(quantile(0.5));
        }
        columns.push(Column::Number(prediction.deviation(self.latent)));
        columns.extend([quantile(tail), quantile(1.0 - tail)]);
        columns.extend(self.quantiles.iter().map(|p| quantile(p.value)));
        let counts = self.counts.iter();
        columns.extend(counts.map(|&count| Column::Number(prediction.probability(count))));
        let times = self.survival.iter();
        columns.extend(times.map(|time| Column::Number(prediction.survival(time.value))));
        columns
    }

    fn of_number(&self, prediction: &Prediction) -> Vec<Column> {
        let tail = (1.0 - self.interval.value) / 2.0;
        let quantile = |p: f64| Column::Number(prediction.quantile(p, self.latent));
        let mut columns = vec![
            Column::Number(prediction.mean.clone()),
            Column::Number(prediction.deviation(self.latent)),
            quantile(tail),
            quantile(1.0 - tail),
        ];
        columns.extend(self.quantiles.iter().map(|p| quantile(p.value)));
        columns
    }
}

fn of_classes(prediction: &ClassPrediction) -> Vec<Column> {
    let label = labels(&prediction.classes, &prediction.decisions());
    let classes = 0..prediction.classes.count();
    let shares = classes.map(|class| {
        let rows = (0..prediction.rows()).map(|row| prediction.row(row)[class]);
        Column::Number(rows.collect())
    });
    std::iter::once(label).chain(shares).collect()
}

/// Labels in the type they had in the training table.
fn labels(classes: &Classes, codes: &[usize]) -> Column {
    if classes.column_type() == ColumnType::Text {
        let known: Vec<Arc<str>> = classes.labels().iter().map(|l| l.as_str().into()).collect();
        return Column::Text(
            codes
                .iter()
                .map(|&code| Some(known[code].clone()))
                .collect(),
        );
    }
    let number = |label: &String| match label.as_str() {
        "true" => 1.0,
        "false" => 0.0,
        digits => digits.parse().unwrap_or(f64::NAN),
    };
    let known: Vec<f64> = classes.labels().iter().map(number).collect();
    Column::Number(codes.iter().map(|&code| known[code]).collect())
}
