//! The rules by name. A new rule is a constructor here and a line of [`RULES`].

use super::{Fusion, Pool, Reference, Weights};

/// How strongly tempered rules prefer the surest member (Cohen et al. 2020, sec. 5, take 100 for standardised targets).
const TEMPERATURE: f64 = 100.0;

/// What a rule asks of a committee beyond opinions and priors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Opinions,
    /// Predictions of rows that the members have not seen.
    Record,
    /// An evidence of the same rows from every member.
    Evidence,
    /// Members of one Gaussian process.
    Process,
    /// Members that share some rows, and one that saw only those.
    Base,
}

/// A fusion with a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// What people type.
    pub name: &'static str,
    /// One sentence about it.
    pub sentence: &'static str,
    /// What it asks of a committee.
    pub needs: Needs,
    /// How it fuses.
    pub fusion: Fusion,
}

const fn line(name: &'static str, sentence: &'static str, needs: Needs, fusion: Fusion) -> Rule {
    Rule {
        name,
        sentence,
        needs,
        fusion,
    }
}

/// Every rule there is.
pub const RULES: [Rule; 17] = [
    line(
        "product",
        "densities multiplied",
        Needs::Opinions,
        Fusion::product(),
    ),
    line(
        "generalised-product",
        "densities multiplied with weights that sum to one",
        Needs::Opinions,
        Fusion::generalised_product(),
    ),
    line(
        "bcm",
        "Bayesian committee machine: the product, with the prior counted once",
        Needs::Opinions,
        Fusion::bayesian_committee_machine(),
    ),
    line(
        "robust-bcm",
        "the same, members weighted by what they have learned",
        Needs::Opinions,
        Fusion::robust_committee_machine(),
    ),
    line(
        "generalised-robust-bcm",
        "the same, beyond a member that saw rows shared by all",
        Needs::Base,
        Fusion::generalised_robust_committee_machine(),
    ),
    line(
        "average",
        "mean of the members, with the correlation of their errors",
        Needs::Record,
        Fusion::error_averaging(),
    ),
    line(
        "covariance-weighted",
        "the mean of least expected error, correlations shrunk",
        Needs::Record,
        Fusion::covariance_weighted(true),
    ),
    line(
        "covariance-weighted-plain",
        "the same with the correlations as they are: breaks with few rows",
        Needs::Record,
        Fusion::covariance_weighted(false),
    ),
    line(
        "stacking",
        "non-negative least squares on rows not seen",
        Needs::Record,
        Fusion::stacking(),
    ),
    line(
        "density-stacking",
        "the mixture under which rows not seen are likeliest",
        Needs::Record,
        Fusion::density_stacking(),
    ),
    line(
        "model-averaging",
        "Bayesian model averaging: a mixture weighted by evidence",
        Needs::Evidence,
        Fusion::bayesian_model_averaging(),
    ),
    line(
        "mixture",
        "mean of the densities",
        Needs::Opinions,
        Fusion::mixture(),
    ),
    line(
        "barycentre",
        "mean of the means and of the deviations",
        Needs::Opinions,
        Fusion::barycentre(),
    ),
    line(
        "barycentre-variances",
        "mean of the means and of the variances",
        Needs::Opinions,
        Fusion::barycentre_of_variances(),
    ),
    line(
        "tempered-product",
        "densities multiplied, the surest members preferred",
        Needs::Opinions,
        Fusion::tempered_product(TEMPERATURE),
    ),
    line(
        "median",
        "the member in the middle",
        Needs::Opinions,
        Fusion::median(),
    ),
    line(
        "nested",
        "best linear estimate from the members' means under their common process",
        Needs::Process,
        Fusion::nested(),
    ),
];

/// The rule of that name.
pub fn rule(name: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.name == name)
}

const fn fusion(weights: Weights, pool: Pool, reference: Reference) -> Fusion {
    Fusion {
        weights,
        pool,
        reference,
    }
}

impl Fusion {
    /// Product of experts (Hinton 2002; Latouche 2007, 3.2.4).
    pub const fn product() -> Self {
        fusion(Weights::One, Pool::LogLinear, Reference::Nothing)
    }

    /// Generalised product (Cao and Fleet 2014): what members have learned, as shares of one.
    pub const fn generalised_product() -> Self {
        fusion(Weights::LearnedShare, Pool::LogLinear, Reference::Nothing)
    }

    /// Bayesian committee machine (Tresp 2000, eq. 4-5), one query at a time.
    pub const fn bayesian_committee_machine() -> Self {
        fusion(Weights::One, Pool::LogLinear, Reference::Prior)
    }

    /// Robust Bayesian committee machine (Deisenroth and Ng 2015).
    pub const fn robust_committee_machine() -> Self {
        fusion(Weights::Learned, Pool::LogLinear, Reference::Prior)
    }

    /// Generalised robust Bayesian committee machine (Liu, Cai, Wang and Ong 2018).
    pub const fn generalised_robust_committee_machine() -> Self {
        fusion(Weights::BeyondBase, Pool::LogLinear, Reference::Base)
    }

    /// Error averaging (Latouche 2007, 3.2.1).
    pub const fn error_averaging() -> Self {
        fusion(Weights::Equal, Pool::Average, Reference::Nothing)
    }

    /// Covariance-weighted averaging (Perrone and Cooper 1993; Latouche 2007, 3.2.2).
    pub const fn covariance_weighted(shrunk: bool) -> Self {
        fusion(
            Weights::Covariance { shrunk },
            Pool::Average,
            Reference::Nothing,
        )
    }

    /// Stacked regressions (Breiman 1996).
    pub const fn stacking() -> Self {
        fusion(Weights::Stacked, Pool::Average, Reference::Nothing)
    }

    /// Stacking of predictive distributions (Yao et al. 2018).
    pub const fn density_stacking() -> Self {
        fusion(Weights::Density, Pool::Linear, Reference::Nothing)
    }

    /// Bayesian model averaging (Latouche 2007, 3.2.5).
    pub const fn bayesian_model_averaging() -> Self {
        fusion(Weights::Evidence, Pool::Linear, Reference::Nothing)
    }

    /// Linear pool with equal weights.
    pub const fn mixture() -> Self {
        fusion(Weights::Equal, Pool::Linear, Reference::Nothing)
    }

    /// Wasserstein barycentre.
    pub const fn barycentre() -> Self {
        fusion(Weights::Equal, Pool::Barycentre, Reference::Nothing)
    }

    /// Mean of means and mean of variances.
    pub const fn barycentre_of_variances() -> Self {
        fusion(
            Weights::Equal,
            Pool::BarycentreOfVariances,
            Reference::Nothing,
        )
    }

    /// Generalised product with tempered softmax weights (Cohen et al. 2020).
    pub const fn tempered_product(temperature: f64) -> Self {
        fusion(
            Weights::Tempered { temperature },
            Pool::LogLinear,
            Reference::Nothing,
        )
    }

    /// Median of the members, weighted where they were boosted (Drucker 1997).
    pub const fn median() -> Self {
        fusion(Weights::Boosted, Pool::Median, Reference::Nothing)
    }

    /// Nested aggregation (Rulliere et al. 2018).
    pub const fn nested() -> Self {
        fusion(Weights::One, Pool::Nested, Reference::Prior)
    }
}
