//! Bayesian linear regression on the inputs, or on their squares and products too.

use quorate_gp::data::Dataset;

use super::{Basis, Expansion, Member, Recipe, Setting, WeightSpace};
use crate::error::Result;

/// Products of more inputs than this would be more functions than most parts have rows.
pub const PRODUCTS_UP_TO: usize = 20;

struct Polynomial {
    basis: Basis,
    expansion: Expansion,
}

impl Recipe for Polynomial {
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>> {
        let fitted = WeightSpace::fit(self.basis.clone(), self.expansion.clone(), rows)?;
        Ok(Box::new(fitted))
    }
}

pub fn prepare_linear(setting: &Setting<'_>, _rows: &Dataset) -> Result<Box<dyn Recipe>> {
    Ok(polynomial(setting, Basis::Linear))
}

pub fn prepare_quadratic(setting: &Setting<'_>, _rows: &Dataset) -> Result<Box<dyn Recipe>> {
    let products_up_to = PRODUCTS_UP_TO;
    Ok(polynomial(setting, Basis::Quadratic { products_up_to }))
}

fn polynomial(setting: &Setting<'_>, basis: Basis) -> Box<dyn Recipe> {
    Box::new(Polynomial {
        basis,
        expansion: Expansion::of(setting.columns),
    })
}
