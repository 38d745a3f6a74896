//! A committee of members fitted to a table.

use quorate_gp::data::{Classes, Dataset, Frame, Observed, Schema, TargetKind};
use quorate_gp::linalg::Matrix;
use quorate_gp::posterior::Predict;
use quorate_gp::watch::Watch;
use serde::{Deserialize, Serialize};

use super::{Ambiguity, Committee, CommitteeSpec, Guests, Jury, jury, latents, numbers};
use crate::classifier::{CLASSIFIERS, ClassRecipe, ClassSetting, class_kind};
use crate::error::{Error, Result};
use crate::member::{Expansion, MEMBERS, Recipe, Setting, kind};
use crate::prediction::Prediction;
use crate::spec::ModelSpec;
use crate::task::{ClassPrediction, Forecast, Scorecard, Through, decide};

/// Rows that are asked about together.
const BLOCK: usize = 8192;

/// Members, their rule, and the table they learned from, but for its rows.
pub struct CommitteeModel {
    pub(crate) members: Members,
    pub(crate) body: Body,
}

/// Everything about a fitted committee but its members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Members {
    pub spec: CommitteeSpec,
    pub schema: Schema,
    /// The rule that was taken.
    pub rule: String,
    /// Kind of each member.
    pub kinds: Vec<String>,
    /// Scores of rows by the members that have not seen them, where the maker leaves rows out.
    pub out_of_bag: Option<Scorecard>,
    /// Sentences for people.
    pub notes: Vec<String>,
    /// What makes counts, amounts and lifetimes of what members say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
}

/// The members.
pub(crate) enum Body {
    Numbers(Committee),
    Classes(Jury),
}

/// What a committee owes to the differences of its members, on some rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Differences {
    /// Mean squared error of the mean of the members, of the members, and what lies between, in squared units of the target.
    pub ambiguity: AmbiguityOf,
    /// Root mean squared error of each member.
    pub members: Vec<f64>,
}

/// [`Ambiguity`] as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AmbiguityOf {
    /// Of the mean of the members.
    pub committee: f64,
    /// Mean of the members' own.
    pub members: f64,
    /// What averaging gains.
    pub ambiguity: f64,
}

impl CommitteeModel {
    /// Fits members to a table. Kinds that the registry does not know are looked for among the guests.
    pub fn fit(
        spec: &CommitteeSpec,
        table: &Frame,
        guests: &dyn Guests,
        watch: &dyn Watch,
    ) -> Result<Self> {
        if spec.members.is_empty() || spec.count == Some(0) {
            return Err(Error::Spec("a committee needs at least one member".into()));
        }
        if !spec
            .strength
            .is_none_or(|share| (0.0..=1.0).contains(&share))
        {
            return Err(Error::Spec(
                "the strength of noise or flips is a share: between 0 and 1".into(),
            ));
        }
        let reading = ModelSpec {
            task: spec.task,
            likelihood: spec.likelihood,
            exposure: spec.exposure.clone(),
            event: spec.event.clone(),
            censored: spec.censored.clone(),
            ..ModelSpec::new(&spec.target)
        };
        let (task, remark) = decide(&reading, table)?;
        let (schema, mut notes) = Schema::learn_as(task, table, &spec.roles())?;
        notes.extend(remark);
        let data = schema.training_data(table)?;
        let mut through = None;
        let (body, kinds, out_of_bag, rule) = match (task, schema.target().classes()) {
            (TargetKind::Classes, Some(classes)) => {
                let rule = jury::chosen_rule(spec)?;
                let recipes = class_recipes(spec, &schema, classes, &data, guests, watch)?;
                let (jury, seats) = jury::fit(spec, rule, &recipes, classes, &data, watch)?;
                let score = jury::out_of_bag(&jury, &seats, classes, &data, watch)?;
                let name = |seat: &super::Seat| recipes[seat.recipe].0.clone();
                (
                    Body::Classes(jury),
                    seats.iter().map(name).collect(),
                    score.map(Scorecard::Classes),
                    rule.name,
                )
            }
            (TargetKind::Quantity(_), _) => {
                let rule = latents::chosen_rule(spec)?;
                let (committee, seats, found, remark) =
                    latents::fit(spec, rule, &schema, &data, watch)?;
                through = Some(found);
                notes.extend(remark);
                let name = |seat: &super::Seat| spec.members[seat.recipe].clone();
                let kinds = seats.iter().map(name).collect();
                (Body::Numbers(committee), kinds, None, rule.name)
            }
            _ => {
                let rule = numbers::chosen_rule(spec)?;
                let recipes = recipes(spec, &schema, &data, guests, watch)?;
                let (committee, seats) = numbers::fit(spec, rule, &recipes, &data, watch)?;
                let score = numbers::out_of_bag(&committee, &seats, &schema, &data, watch)?;
                let name = |seat: &super::Seat| recipes[seat.recipe].0.clone();
                (
                    Body::Numbers(committee),
                    seats.iter().map(name).collect(),
                    score.map(Scorecard::Number),
                    rule.name,
                )
            }
        };
        Ok(Self {
            members: Members {
                spec: spec.clone(),
                schema,
                rule: rule.to_owned(),
                kinds,
                out_of_bag,
                notes,
                through,
            },
            body,
        })
    }

    /// How the table is read.
    pub fn schema(&self) -> &Schema {
        &self.members.schema
    }

    /// The choices it was fitted under.
    pub fn spec(&self) -> &CommitteeSpec {
        &self.members.spec
    }

    /// The rule by which its members answer.
    pub fn rule(&self) -> &str {
        &self.members.rule
    }

    /// Kind of each member.
    pub fn kinds(&self) -> &[String] {
        &self.members.kinds
    }

    /// Weights that the rule found for its members, the same everywhere; none for rules that have no such weights.
    pub fn weights(&self) -> Option<&[f64]> {
        match &self.body {
            Body::Numbers(committee) => committee
                .learned()
                .filter(|_| committee.fusion().has_weights())
                .map(|learned| learned.weights.as_slice()),
            Body::Classes(jury) => jury.weights(),
        }
    }

    /// What makes counts, amounts and lifetimes of what members say; none for numbers and classes.
    pub fn through(&self) -> Option<Through> {
        self.members.through
    }

    /// Scores of rows by the members that have not seen them; bags leave rows out.
    pub fn out_of_bag(&self) -> Option<&Scorecard> {
        self.members.out_of_bag.as_ref()
    }

    /// Sentences for people about the fit.
    pub fn notes(&self) -> &[String] {
        &self.members.notes
    }

    /// What is believed about the rows of a table.
    pub fn forecast(&self, table: &Frame, watch: &dyn Watch) -> Result<Forecast> {
        let encoded = self.schema().encode(table)?;
        let inputs = encoded.inputs();
        let mut forecast: Option<Forecast> = None;
        for first in (0..encoded.rows.max(1)).step_by(BLOCK) {
            watch.check()?;
            let last = (first + BLOCK).min(encoded.rows);
            let query = inputs.slice(first, last);
            let own = match (&self.body, self.members.through) {
                (Body::Numbers(committee), Some(through)) => {
                    let belief = committee.marginals(query)?;
                    let schema = self.schema();
                    let told = latents::prediction(schema, through, &encoded, first, &belief)?;
                    Forecast::Quantity(told)
                }
                (Body::Numbers(committee), None) => {
                    let belief = committee.marginals(query)?;
                    let scale = self.schema().target_scale();
                    let square = scale.deviation.powi(2);
                    let rows = 0..query.rows();
                    Forecast::Number(Prediction {
                        mean: rows
                            .clone()
                            .map(|row| scale.undo(belief.mean[(row, 0)]))
                            .collect(),
                        latent_variance: rows
                            .map(|row| square * belief.variance[(row, 0)])
                            .collect(),
                        noise_variance: vec![square * committee.council().noise(); query.rows()],
                        ..Prediction::default()
                    })
                }
                (Body::Classes(jury), _) => Forecast::Classes(ClassPrediction {
                    classes: self.classes()?.clone(),
                    probabilities: rows_of(&jury.probabilities(query)?),
                    notes: Vec::new(),
                }),
            };
            match &mut forecast {
                Some(all) => all.append(own),
                None => forecast = Some(own),
            }
        }
        let mut forecast =
            forecast.ok_or_else(|| Error::Spec("there are no rows to predict".into()))?;
        forecast.note(encoded.notes.iter().cloned());
        Ok(forecast)
    }

    /// What each member says about the rows of a table, in the target's own units: the mean of a number, or the
    /// probability of each class, row after row.
    pub fn opinions(&self, table: &Frame) -> Result<Vec<Vec<f64>>> {
        let encoded = self.schema().encode(table)?;
        match &self.body {
            Body::Numbers(committee) => {
                let said = committee.council().ask(encoded.inputs(), false)?;
                if let Some(through) = self.members.through {
                    let schema = self.schema();
                    let own = said.posteriors().iter().map(|belief| {
                        let told = latents::prediction(schema, through, &encoded, 0, belief)?;
                        Ok(told.mean())
                    });
                    return own.collect();
                }
                let scale = self.schema().target_scale();
                let own = said.posteriors().iter().map(|belief| {
                    let means = belief.mean.col_as_slice(0).iter();
                    means.map(|mean| scale.undo(*mean)).collect()
                });
                Ok(own.collect())
            }
            Body::Classes(jury) => {
                let said = jury.ask(encoded.inputs())?;
                Ok(said.iter().map(rows_of).collect())
            }
        }
    }

    /// What the mean of the members gains over the members, on rows whose target is known (Tresp 2001, *Committee Machines*,
    /// eq. 4); for numbers.
    pub fn differences(&self, table: &Frame) -> Result<Differences> {
        let Observed::Numbers(columns) = self.schema().observed(table)? else {
            return Err(Error::Spec(
                "the ambiguity of a committee is about numbers, and this one is about classes"
                    .into(),
            ));
        };
        let targets = columns.first().cloned().unwrap_or_default();
        let said = self.opinions(table)?;
        let count = said.len();
        let means = Matrix::from_fn(targets.len(), count, |row, member| said[member][row]);
        let Ambiguity {
            committee,
            members,
            ambiguity,
        } = Ambiguity::of(&targets, &means, &vec![1.0 / count as f64; count]);
        let error = |own: &Vec<f64>| {
            let squares = own.iter().zip(&targets).map(|(f, t)| (f - t).powi(2));
            (squares.sum::<f64>() / targets.len().max(1) as f64).sqrt()
        };
        Ok(Differences {
            ambiguity: AmbiguityOf {
                committee,
                members,
                ambiguity,
            },
            members: said.iter().map(error).collect(),
        })
    }

    fn classes(&self) -> Result<&Classes> {
        self.schema()
            .target()
            .classes()
            .ok_or_else(|| Error::Spec("this committee knows no classes".into()))
    }
}

/// The numbers of a matrix, row after row.
fn rows_of(matrix: &Matrix) -> Vec<f64> {
    let rows = 0..matrix.nrows();
    rows.flat_map(|row| (0..matrix.ncols()).map(move |column| matrix[(row, column)]))
        .collect()
}

fn recipes(
    spec: &CommitteeSpec,
    schema: &Schema,
    data: &Dataset,
    guests: &dyn Guests,
    watch: &dyn Watch,
) -> Result<Vec<(String, Box<dyn Recipe>)>> {
    let setting = Setting {
        columns: schema.columns(),
        seed: spec.seed,
        watch,
    };
    let expansion = Expansion::of(schema.columns());
    let each = spec.members.iter().map(|name| {
        watch.check()?;
        let recipe = match (kind(name), guests.recipe(name, &expansion)) {
            (Some(kind), _) => (kind.prepare)(&setting, data)?,
            (None, Some(guest)) => guest,
            (None, None) => {
                let all = MEMBERS.iter().map(|kind| kind.name);
                return Err(crate::compare::unknown("member", name, all));
            }
        };
        Ok((name.clone(), recipe))
    });
    each.collect()
}

fn class_recipes(
    spec: &CommitteeSpec,
    schema: &Schema,
    classes: &Classes,
    data: &Dataset,
    guests: &dyn Guests,
    watch: &dyn Watch,
) -> Result<Vec<(String, Box<dyn ClassRecipe>)>> {
    let setting = ClassSetting {
        columns: schema.columns(),
        classes,
        seed: spec.seed,
        watch,
    };
    let expansion = Expansion::of(schema.columns());
    let each = spec.members.iter().map(|name| {
        watch.check()?;
        let guest = guests.class_recipe(name, &expansion, classes);
        let recipe = match (class_kind(name), guest) {
            (Some(kind), _) => (kind.prepare)(&setting, data)?,
            (None, Some(guest)) => guest,
            (None, None) => {
                let all = CLASSIFIERS.iter().map(|kind| kind.name);
                return Err(crate::compare::unknown("member", name, all));
            }
        };
        Ok((name.clone(), recipe))
    });
    each.collect()
}
