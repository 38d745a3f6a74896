//! A committee about counts, amounts and lifetimes: generalised linear members that speak of the function behind a likelihood.

use quorate_gp::data::{Dataset, Encoded, Quantity, Schema};
use quorate_gp::gaussian::Marginals;
use quorate_gp::watch::Watch;

use super::seats::{MakerChoice, Seat};
use super::{Committee, CommitteeSpec, numbers};
use crate::error::{Error, Result};
use crate::fusion::{Needs, Rule};
use crate::member::{
    LATENT_MEMBERS, LatentKind, LatentRecipe, Recipe, Setting, latent_kind, likelihood_of_counts,
};
use crate::task::{LikelihoodChoice, QuantityPrediction, Through};

/// The rule that a specification asks for, where it fuses beliefs about a function that nobody has seen.
pub fn chosen_rule(spec: &CommitteeSpec) -> Result<&'static Rule> {
    let name = match (&spec.rule, spec.maker) {
        (None, MakerChoice::All) => "model-averaging",
        _ => spec.rule_name(false),
    };
    let chosen = CommitteeSpec {
        rule: Some(name.to_owned()),
        ..spec.clone()
    };
    let rule = numbers::chosen_rule(&chosen)?;
    if !matches!(rule.needs, Needs::Opinions | Needs::Base | Needs::Evidence) {
        return Err(Error::Spec(format!(
            "the rule `{name}` learns from errors, and nobody has seen the function behind a count, an amount or a lifetime"
        )));
    }
    if !matches!(
        spec.maker,
        MakerChoice::Parts | MakerChoice::Bags | MakerChoice::All
    ) {
        return Err(Error::Spec(
            "members of counts, amounts and lifetimes come to their rows by the makers `parts`, `bags` and `all`"
                .into(),
        ));
    }
    Ok(rule)
}

/// Fits the members; also what makes targets of what they say, and a sentence where that was found out.
pub fn fit(
    spec: &CommitteeSpec,
    rule: &Rule,
    schema: &Schema,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<(Committee, Vec<Seat>, Through, Option<String>)> {
    let setting = Setting {
        columns: schema.columns(),
        seed: spec.seed,
        watch,
    };
    let counts = (schema.target().quantity()).is_some_and(|code| code.quantity == Quantity::Count);
    let kinds = spec.members.iter().map(|name| {
        latent_kind(name).ok_or_else(|| {
            let all = LATENT_MEMBERS.iter().map(|kind| kind.name);
            crate::compare::unknown("member", name, all)
        })
    });
    let kinds: Vec<&LatentKind> = kinds.collect::<Result<_>>()?;
    let (likelihood, remark) = match spec.likelihood {
        LikelihoodChoice::Auto if counts => {
            let (chosen, remark) = likelihood_of_counts(&kinds, &setting, schema, data)?;
            (chosen, Some(remark))
        }
        LikelihoodChoice::Auto => ("weibull".parse()?, None),
        given => (given.to_string().parse()?, None),
    };
    let each = kinds.iter().map(|kind| {
        watch.check()?;
        kind.prepare(&setting, schema, likelihood, data)
    });
    let each: Vec<LatentRecipe> = each.collect::<Result<_>>()?;
    // One likelihood makes targets of what all say together: that of the likeliest kind.
    let through = each
        .iter()
        .max_by(|a, b| a.log_evidence().total_cmp(&b.log_evidence()))
        .map(LatentRecipe::through)
        .ok_or_else(|| Error::Spec("a committee needs at least one member".into()))?;
    let recipes: Vec<(String, Box<dyn Recipe>)> = (spec.members.iter())
        .zip(each)
        .map(|(name, own)| -> (String, Box<dyn Recipe>) {
            (name.clone(), Box::new(own.with_through(through)))
        })
        .collect();
    let (committee, seats) = numbers::fit(spec, rule, &recipes, data, watch)?;
    Ok((committee, seats, through, remark))
}

/// What is believed about the targets behind beliefs about the latent function.
pub fn prediction(
    schema: &Schema,
    through: Through,
    encoded: &Encoded,
    first: usize,
    belief: &Marginals,
) -> Result<QuantityPrediction> {
    let code = schema
        .target()
        .quantity()
        .ok_or_else(|| Error::Spec("this committee is about numbers or classes".into()))?;
    let offset = |row: usize| encoded.offsets.get(first + row).copied().unwrap_or(0.0);
    let rows = 0..belief.mean.nrows();
    Ok(QuantityPrediction {
        code: *code,
        likelihood: through.likelihood,
        latent_mean: rows
            .clone()
            .map(|row| belief.mean[(row, 0)] + through.level + offset(row))
            .collect(),
        latent_variance: rows.map(|row| belief.variance[(row, 0)]).collect(),
        notes: Vec::new(),
        draws: Vec::new(),
    })
}
