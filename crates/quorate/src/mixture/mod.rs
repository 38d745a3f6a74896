//! Mixtures: models of a whole conditional density whose parts organise themselves.
//!
//! A mixture of Gaussian processes (Tresp 2001, *Mixtures of Gaussian Processes*) has experts of different length scales,
//! gates that say where each of them speaks, and noise processes; with one expert it is a process whose noise depends on
//! the inputs. What the parts of a mixture have in common is small: gates are a softmax, responsibilities are shares.
//!
//! ```
//! use quorate::gp::data::{ColumnKind, InputColumn};
//! use quorate::gp::kernel::Kernel;
//! use quorate::mixture::{MixtureRows, Prior, Settings, climb};
//!
//! let x = InputColumn { name: "x".into(), kind: ColumnKind::Number, deviation: 1.0 };
//! let bind = |text: &str| text.parse::<Kernel>()?.bind(std::slice::from_ref(&x));
//! let rows = MixtureRows::new(vec![-1.0, 0.0, 1.0, 2.0], 1, vec![0.1, 0.0, 0.9, 1.1], None)?;
//! let prior = Prior {
//!     experts: vec![bind("se(length_scale=0.3)")?, bind("se(length_scale=3)")?],
//!     gate: bind("se")?,
//!     noise: bind("constant")?,
//!     level: -1.0,
//! };
//! let (mixture, _) = climb(&prior, &rows, Settings::default(), &quorate::gp::watch::Unwatched)?;
//! assert_eq!(mixture.responsibilities().len(), 2);
//! # Ok::<(), quorate::Error>(())
//! ```

mod answers;
mod between;
mod density;
mod em;
mod experts;
mod gate;
mod hierarchy;
mod noise;
mod parametric;
mod predict;
mod print;
mod processes;
mod sites;
mod speakers;

pub use answers::{MixtureAnswers, MixtureState};
pub use density::{DensitySettings, GaussianMixture, LinearVoices, density_gate};
pub use em::{Belief, Climb, Judge, Responses, Settings, climb, climb_through};
pub use experts::{ExpertObjective, ExpertShape, Map, Training, train};
pub(crate) use gate::log_sum;
pub use gate::softmax;
pub use hierarchy::{LinearExpert, Node, SoftTree, TreeRows};
pub use parametric::{Asked, ExpertKind, GateKind, ParametricMixture};
pub use predict::{Voice, density};
pub use processes::{MixtureOfProcesses, MixtureRows, Prior};
pub use sites::{Sites, Smoothed};
pub use speakers::{Heard, Speakers};
