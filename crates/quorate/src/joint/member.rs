//! One member of the committee: a part of the rows, factored once and asked about any block of questions.

use quorate_gp::Result;
use quorate_gp::data::Dataset;
use quorate_gp::kernel::{BoundKernel, tiles};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{Factor, JitterPolicy, Matrix, add_gram_lower, add_product, multiply};
use quorate_gp::posterior::target_matrix;

use crate::landmarks::{Landmarks, Summary};

/// Rows of a part with the factor of `K + Psi`.
#[derive(Clone, Debug)]
pub struct Member {
    part: Dataset,
    factor: Factor,
    /// `L^-1 y`, one column per output.
    target: Matrix,
}

impl Member {
    /// How far `I - S` may be repaired: its eigenvalues are shares of variance that the part leaves unknown, and
    /// rounding may take the smallest below zero where the rows determine the function at a question.
    const JITTER: JitterPolicy = JitterPolicy {
        start: 0.0,
        first: 1e-15,
        last: 1e-10,
    };

    /// Factors a part.
    pub fn new(kernel: &BoundKernel, noise: GaussianNoise, part: Dataset) -> Result<Self> {
        let psi = noise.group_variances(&part);
        let factor = Factor::new(part.rows(), JitterPolicy::default(), |mut out| {
            tiles::fill_lower(kernel, part.inputs(), out.as_mut());
            for (i, variance) in psi.iter().enumerate() {
                out[(i, i)] += variance;
            }
        })?;
        let mut target = target_matrix(&part);
        factor.whiten_block(target.as_mut());
        Ok(Self {
            part,
            factor,
            target,
        })
    }

    /// Its rows.
    pub fn part(&self) -> &Dataset {
        &self.part
    }

    /// What the part says about a block of questions: with `V = L^-1 k(Z, X)` and `S = V (K + Psi)^-1 V'`, information
    /// `(I - S)^-1 S` and vector `(I - S)^-1 V (K + Psi)^-1 y`, which are the precision of Tresp (2000), eq. 4-5, less
    /// the prior's, in coordinates in which the prior is the identity. The evidence is not computed.
    ///
    /// With `W = L_K^-1 V'`, `S = W'W` and `(I - S)^-1 W' = W' (I - W W')^-1`: the smaller of the two is factored.
    pub fn opinion(&self, questions: &Landmarks) -> Result<Summary> {
        let whitened = questions.whitened(self.part.inputs());
        let mut scaled = whitened.transpose().to_owned();
        drop(whitened);
        self.factor.whiten(scaled.as_mut());
        let (information, vector) = if scaled.nrows() < scaled.ncols() {
            self.through_rows(scaled)?
        } else {
            self.through_questions(scaled)?
        };
        Ok(Summary {
            information,
            vector,
            log_evidence: 0.0,
            rows: self.part.total_weight(),
        })
    }

    /// `E'E` and `E' L_G^-1 z` with `G = I - W W'`, `E = L_G^-1 W`.
    fn through_rows(&self, mut scaled: Matrix) -> Result<(Matrix, Matrix)> {
        let (rows, questions) = (scaled.nrows(), scaled.ncols());
        let turned = scaled.transpose().to_owned();
        let left = Factor::new(rows, Self::JITTER, |mut out| {
            out.fill(0.0);
            add_gram_lower(out.as_mut(), -1.0, turned.as_ref());
            (0..rows).for_each(|i| out[(i, i)] += 1.0);
        })?;
        drop(turned);
        left.whiten(scaled.as_mut());
        let mut target = self.target.clone();
        left.whiten_block(target.as_mut());
        let mut information = Matrix::zeros(questions, questions);
        add_gram_lower(information.as_mut(), 1.0, scaled.as_ref());
        Ok((information, multiply(scaled.transpose(), target.as_ref())))
    }

    /// `(I - S)^-1 - I` and `(I - S)^-1 W' z`.
    fn through_questions(&self, scaled: Matrix) -> Result<(Matrix, Matrix)> {
        let questions = scaled.ncols();
        let left = Factor::new(questions, Self::JITTER, |mut out| {
            out.fill(0.0);
            add_gram_lower(out.as_mut(), -1.0, scaled.as_ref());
            (0..questions).for_each(|i| out[(i, i)] += 1.0);
        })?;
        let mut vector = Matrix::zeros(questions, self.target.ncols());
        add_product(
            vector.as_mut(),
            1.0,
            scaled.transpose(),
            self.target.as_ref(),
        );
        drop(scaled);
        left.solve(vector.as_mut());
        let inverse = left.inverse_lower();
        let mut information = Matrix::zeros(questions, questions);
        add_gram_lower(information.as_mut(), 1.0, inverse.as_ref());
        (0..questions).for_each(|i| information[(i, i)] -= 1.0);
        Ok((information, vector))
    }
}
