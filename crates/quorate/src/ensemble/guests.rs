//! Members from outside the registry: whoever embeds the library may bring its own.

use quorate_gp::data::Classes;

use crate::classifier::{ClassRecipe, Classifier};
use crate::error::Result;
use crate::member::{Expansion, Member, Recipe, State};

/// Members that a shell brings along, known by names that the registry does not have.
pub trait Guests: Sync {
    /// The recipe of that name for numbers; inputs are to be expanded before a guest sees them.
    fn recipe(&self, name: &str, expansion: &Expansion) -> Option<Box<dyn Recipe>>;

    /// The recipe of that name for these classes.
    fn class_recipe(
        &self,
        name: &str,
        expansion: &Expansion,
        classes: &Classes,
    ) -> Option<Box<dyn ClassRecipe>>;

    /// A member of that name from its state.
    fn restore(&self, name: &str, state: &State) -> Option<Result<Box<dyn Member>>>;

    /// A member of that name that tells classes apart, from its state.
    fn restore_class(&self, name: &str, state: &State) -> Option<Result<Box<dyn Classifier>>>;
}

/// Nobody from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoGuests;

impl Guests for NoGuests {
    fn recipe(&self, _: &str, _: &Expansion) -> Option<Box<dyn Recipe>> {
        None
    }

    fn class_recipe(&self, _: &str, _: &Expansion, _: &Classes) -> Option<Box<dyn ClassRecipe>> {
        None
    }

    fn restore(&self, _: &str, _: &State) -> Option<Result<Box<dyn Member>>> {
        None
    }

    fn restore_class(&self, _: &str, _: &State) -> Option<Result<Box<dyn Classifier>>> {
        None
    }
}
