//! What a model believed before it saw its rows: what fusion divides by.

use quorate_gp::data::Frame;
use quorate_gp::gaussian::Marginals;
use quorate_gp::kernel::Covariance;
use quorate_gp::linalg::Matrix;

use crate::error::Result;
use crate::model::Model;
use crate::task::{Forecast, Reading};

impl Model {
    /// What was believed about the rows of a table before any row was seen: the target's mean and the kernel's variance.
    pub fn prior(&self, table: &Frame) -> Result<Forecast> {
        let encoded = self.schema().encode(table)?;
        let kernel = self.kernel().bind(self.schema().columns())?;
        let diagonal = kernel.diagonal(encoded.inputs());
        let outputs = self.schema().target_scales().len();
        let before = Marginals {
            mean: Matrix::zeros(encoded.rows, outputs),
            variance: Matrix::from_fn(encoded.rows, outputs, |row, _| diagonal[row]),
        };
        let found = &self.fitted.found;
        let reading = Reading::new(self.schema(), found.link, found.through);
        reading.forecast(&before, found.noise.variance, &encoded.offsets)
    }
}
