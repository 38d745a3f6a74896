//! The landmarks themselves, with the factored prior over their values.

use quorate_gp::data::Inputs;
use quorate_gp::kernel::{BoundKernel, tiles};
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix};
use quorate_gp::{Error, Result};

/// Landmark inputs Z under a kernel: `k(Z, Z) + jitter = L L'`, the prior every part must share.
#[derive(Clone, Debug)]
pub struct Landmarks {
    kernel: BoundKernel,
    values: Vec<f64>,
    count: usize,
    width: usize,
    factor: Factor,
}

impl Landmarks {
    /// How the prior over landmarks is repaired: always a little, because close landmarks make it singular to rounding.
    pub const JITTER: JitterPolicy = JitterPolicy {
        start: 1e-12,
        first: 1e-11,
        last: 1e-5,
    };

    /// Fixes landmarks under a kernel.
    pub fn new(kernel: BoundKernel, inputs: Inputs<'_>) -> Result<Self> {
        Self::with_jitter(kernel, inputs, Self::JITTER)
    }

    /// Fixes landmarks under a kernel whose prior may be repaired so far.
    pub fn with_jitter(
        kernel: BoundKernel,
        inputs: Inputs<'_>,
        policy: JitterPolicy,
    ) -> Result<Self> {
        if inputs.rows() == 0 {
            return Err(Error::Invalid("at least one landmark is needed".into()));
        }
        let factor = Factor::new(inputs.rows(), policy, |out| {
            tiles::fill_lower(&kernel, inputs, out);
        })?;
        Ok(Self {
            kernel,
            values: inputs.values().to_vec(),
            count: inputs.rows(),
            width: inputs.width(),
            factor,
        })
    }

    /// Number of landmarks.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The kernel.
    pub fn kernel(&self) -> &BoundKernel {
        &self.kernel
    }

    /// The landmarks' inputs.
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs::new(&self.values, self.count, self.width)
            .expect("landmark values were checked when they were fixed")
    }

    /// The factor of the prior over landmark values.
    pub fn factor(&self) -> &Factor {
        &self.factor
    }

    /// `V = L^-1 k(Z, X)`: one column per row of X.
    pub fn whitened(&self, inputs: Inputs<'_>) -> Matrix {
        let mut cross = tiles::block(&self.kernel, self.inputs(), inputs);
        self.factor.whiten(cross.as_mut());
        cross
    }
}
