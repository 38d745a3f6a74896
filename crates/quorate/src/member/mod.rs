//! Members: whatever gives beliefs about the function at query points.
//!
//! A [`Kind`] is prepared on all rows, where it learns what its members have in common (a kernel, centres, a size), and the
//! [`Recipe`] it returns is then fitted to the rows of each member, in parallel and without further ado. Every kind there is
//! stands in [`MEMBERS`]: a new one is a file here and a line of that table.

mod basis;
mod behind;
mod evidence;
mod expand;
mod general;
mod gp;
mod linear;
mod network;
mod rbf;
pub mod state;
mod tree;
mod weights;

pub use basis::{Basis, WeightSpace};
pub use behind::{LATENT_MEMBERS, LatentKind, LatentRecipe, latent_kind, likelihood_of_counts};
pub use evidence::{EvidencePosterior, learn_evidence};
pub use expand::Expansion;
pub use general::{GeneralLinear, restore as restore_general};
pub use gp::ProcessMember;
pub(crate) use linear::PRODUCTS_UP_TO;
pub(crate) use network::normals;
pub use network::{Network, NetworkMember};
pub use rbf::{around as radial_basis_around, radial as radial_basis};
pub use state::State;
pub use tree::{Node, Tree, TreeMember, TreeShape};
pub use weights::InWeights;

use quorate_gp::data::{Dataset, InputColumn};
use quorate_gp::posterior::{ExactPosterior, Predict};
use quorate_gp::watch::Watch;

use crate::error::Result;

/// A fitted member. Its beliefs ([`Predict`]) are about the latent function, in standardised units.
pub trait Member: Predict {
    /// Variance of the noise that an observation adds, as the member sees it.
    fn noise_variance(&self) -> f64;

    /// Log evidence of its rows, for members that integrate over what they do not know.
    fn log_evidence(&self) -> Option<f64> {
        None
    }

    /// The Gaussian process behind the member, if that is what it is.
    fn process(&self) -> Option<&ExactPosterior> {
        None
    }

    /// All that is needed to make the member again.
    fn state(&self) -> Result<State>;
}

/// What members of a kind have in common; fits one to rows of its own.
pub trait Recipe: Send + Sync {
    /// A member that has seen these rows.
    fn fit(&self, rows: &Dataset) -> Result<Box<dyn Member>>;
}

/// What a kind may look at while it is prepared.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// What the columns of the inputs hold.
    pub columns: &'a [InputColumn],
    /// Seed of everything random.
    pub seed: u64,
    /// Who watches.
    pub watch: &'a dyn Watch,
}

/// A kind of member.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// What people type.
    pub name: &'static str,
    /// One sentence about it.
    pub sentence: &'static str,
    /// True where members say how likely their rows are under them.
    pub has_evidence: bool,
    /// True where members of one recipe are one Gaussian process seen from different rows.
    pub is_process: bool,
    /// Learns from all rows what members of the kind have in common.
    pub prepare: Prepare,
    /// Makes a member again from its state.
    pub restore: Restore,
}

type Prepare = fn(&Setting<'_>, &Dataset) -> Result<Box<dyn Recipe>>;
type Restore = fn(&State) -> Result<Box<dyn Member>>;

const fn line(
    name: &'static str,
    sentence: &'static str,
    (has_evidence, is_process): (bool, bool),
    prepare: Prepare,
    restore: Restore,
) -> Kind {
    Kind {
        name,
        sentence,
        has_evidence,
        is_process,
        prepare,
        restore,
    }
}

/// Every kind of member there is.
#[rustfmt::skip]
pub const MEMBERS: [Kind; 6] = [
    line("gp", "Gaussian process, hyperparameters shared", (true, true), gp::prepare, gp::restore),
    line("linear", "Bayesian linear regression by the evidence procedure", (true, false), linear::prepare_linear, basis::restore),
    line("quadratic", "the same with squares and products of the inputs", (true, false), linear::prepare_quadratic, basis::restore),
    line("rbf", "radial basis functions around shared centres, by the evidence procedure", (true, false), rbf::prepare, basis::restore),
    line("network", "Bayesian neural network with eight hidden units, by the evidence procedure with Laplace's method", (true, false), network::prepare, network::restore),
    line("tree", "regression tree, size of its leaves by cross-validation", (false, false), tree::prepare, tree::restore),
];

/// The kind of that name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    MEMBERS.iter().find(|kind| kind.name == name)
}
