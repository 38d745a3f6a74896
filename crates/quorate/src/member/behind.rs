//! Kinds of member behind a likelihood: fixed functions of the inputs for counts, amounts and lifetimes.
//!
//! Members of one recipe share the functions, the level of the latent function and the dispersions of the likelihood, so that what
//! they say of the latent function can be fused like anything else, and one likelihood makes targets of it.

use quorate_gp::data::{Dataset, Schema, random_rows};
use quorate_gp::likelihood::Likelihood;

use super::linear::PRODUCTS_UP_TO;
use super::{Basis, Expansion, GeneralLinear, Member, Recipe, Setting, radial_basis};
use crate::error::Result;
use crate::fit::{rough, started};
use crate::latent::observations;
use crate::task::Through;

/// Rows from which dispersions and level are learned.
const TRIAL_ROWS: usize = 2000;
/// Nats that the negative binomial must gain over Poisson.
const WORTH: f64 = 2.0;

/// A kind of member behind a likelihood.
#[derive(Clone, Copy, Debug)]
pub struct LatentKind {
    /// What people type.
    pub name: &'static str,
    /// One sentence about it.
    pub sentence: &'static str,
    functions: Functions,
}

/// The functions, from rough values of the latent function.
type Functions = fn(&Setting<'_>, &Dataset) -> Result<(Basis, Expansion)>;

const fn line(name: &'static str, sentence: &'static str, functions: Functions) -> LatentKind {
    LatentKind {
        name,
        sentence,
        functions,
    }
}

/// Every kind of member for counts, amounts and lifetimes.
#[rustfmt::skip]
pub const LATENT_MEMBERS: [LatentKind; 3] = [
    line("linear", "generalised linear model by the evidence with Laplace's method", linear),
    line("quadratic", "the same with squares and products of the inputs", quadratic),
    line("rbf", "the same with radial basis functions around shared centres", radial_basis),
];

/// The kind of that name.
pub fn latent_kind(name: &str) -> Option<&'static LatentKind> {
    LATENT_MEMBERS.iter().find(|kind| kind.name == name)
}

fn linear(setting: &Setting<'_>, _rows: &Dataset) -> Result<(Basis, Expansion)> {
    Ok((Basis::Linear, Expansion::of(setting.columns)))
}

fn quadratic(setting: &Setting<'_>, _rows: &Dataset) -> Result<(Basis, Expansion)> {
    let products_up_to = PRODUCTS_UP_TO;
    Ok((
        Basis::Quadratic { products_up_to },
        Expansion::of(setting.columns),
    ))
}

/// What members of such a kind share; fits one to rows of its own.
#[derive(Clone, Debug)]
pub struct LatentRecipe {
    schema: Schema,
    basis: Basis,
    expansion: Expansion,
    through: Through,
    log_evidence: f64,
}

impl LatentKind {
    /// Learns the functions, the level and the dispersions from all rows, or from many of them.
    pub fn prepare(
        &self,
        setting: &Setting<'_>,
        schema: &Schema,
        likelihood: Likelihood,
        rows: &Dataset,
    ) -> Result<LatentRecipe> {
        let some = rows.select(&random_rows(rows.rows(), TRIAL_ROWS, setting.seed));
        let (basis, expansion) = (self.functions)(setting, &rough(schema, &some)?)?;
        let start = started(schema, &some, likelihood)?;
        let seen = observations(schema, &some, start)?;
        let found = GeneralLinear::fit(
            basis.clone(),
            expansion.clone(),
            start.likelihood,
            &some,
            &seen,
        )?;
        Ok(LatentRecipe {
            schema: schema.clone(),
            basis,
            expansion,
            through: Through {
                likelihood: found.likelihood(),
                level: start.level + found.level(),
            },
            log_evidence: found.log_evidence().unwrap_or(f64::NEG_INFINITY),
        })
    }
}

impl LatentRecipe {
    /// What makes targets of the latent function.
    pub fn through(&self) -> Through {
        self.through
    }

    /// The same functions under another level and other dispersions: members of different kinds share those of one.
    pub fn with_through(mut self, through: Through) -> Self {
        self.through = through;
        self
    }

    /// Log evidence of the rows that dispersions were learned from: the same rows for all kinds.
    pub fn log_evidence(&self) -> f64 {
        self.log_evidence
    }
}

impl Recipe for LatentRecipe {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let seen = observations(&self.schema, rows, self.through)?;
        let fitted = GeneralLinear::fit_weights(
            self.basis.clone(),
            self.expansion.clone(),
            self.through.likelihood,
            rows,
            &seen,
        )?;
        Ok(Box::new(fitted))
    }
}

/// Poisson or negative binomial, by the evidence of the kind that is likeliest under each; with a sentence that says so.
pub fn likelihood_of_counts(
    kinds: &[&LatentKind],
    setting: &Setting<'_>,
    schema: &Schema,
    rows: &Dataset,
) -> Result<(Likelihood, String)> {
    let evidence = |name: &str| -> Result<f64> {
        let mut most = f64::NEG_INFINITY;
        for kind in kinds {
            setting.watch.check()?;
            let recipe = kind.prepare(setting, schema, name.parse()?, rows)?;
            most = most.max(recipe.log_evidence());
        }
        Ok(most)
    };
    let (poisson, negative) = (evidence("poisson")?, evidence("negative-binomial")?);
    let name = match negative > poisson + WORTH {
        true => "negative-binomial",
        false => "poisson",
    };
    let remark = format!(
        "chose the likelihood {name}: log evidence {poisson:.1} by Poisson, {negative:.1} by negative binomial"
    );
    Ok((name.parse()?, remark))
}
