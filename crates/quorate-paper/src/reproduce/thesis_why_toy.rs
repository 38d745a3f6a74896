//! The toy data: the prior counts where many queries are asked together, and where it holds the weights.

use super::mean_and_error;
use super::thesis_nodes::{Model, Problem, TOGETHER};
use super::thesis_why::{LINEAR, MACHINE, NOISE, PRODUCT, Variant, WHOLE, Why, asked_how};

/// Queries asked together.
const COUNTS: [usize; 4] = [1, 10, TOGETHER, 500];
/// A prior precision of the weights that holds them hardly: a tenth and less of what the evidence finds.
pub const WEAK: f64 = 1e-3;

/// Networks whose weights are held by the evidence's prior, and by a weak one.
pub fn variants(problem: &Problem, hidden: usize) -> [Variant<'_>; 2] {
    [
        Variant {
            name: "",
            problem,
            model: Model::Network { hidden, held: None },
            counts: &COUNTS,
            insides: &[1.0],
            // Where the prior counts.
            priors_at: Some(TOGETHER),
        },
        Variant {
            name: "weak prior, ",
            problem,
            model: Model::Network {
                hidden,
                held: Some(WEAK),
            },
            counts: &[1, TOGETHER],
            insides: &[1.0],
            priors_at: None,
        },
    ]
}

/// What each way of making the prior gives.
pub fn priors_told(why: &Why) -> String {
    let named = |what: &str| format!("{}: {what}", asked_how(TOGETHER));
    let broken = (why.find(&named(NOISE))).map_or(f64::NAN, |own| mean_and_error(&own.broken).0);
    format!(
        "both matter, noise more: with many rows a node, linearised with the mean of the nodes' noise {:.3}; Monte Carlo with one node's noise {:.3}, the fused precision not \
         positive in {:.0} % of blocks; ",
        why.error(&named(LINEAR)),
        why.error(&named(NOISE)),
        100.0 * broken
    )
}

/// What was found, in sentences.
pub fn told(why: &Why) -> String {
    let counts = COUNTS.iter().map(|count| {
        let how = asked_how(*count);
        let (machine, product) = (
            why.less(&format!("{how}: {MACHINE}")),
            why.less(&format!("{how}: {PRODUCT}")),
        );
        format!("{how} {machine} (product {product})")
    });
    format!(
        "ten networks of 100 rows, error less that of the product one at a time: {}. One at a time with noise inside, nodes' weights differ by {:.0} % and the prior is \
         {:.2} % of the precision: every rule says the same. Together the noise averages out, and the prior that every node counted is divided away. With a weak \
         prior ({WEAK}; the evidence finds {:.3}) there is nothing to divide away: {TOGETHER} together {} (product {}), and the product one at a time has {:.4}, \
         one network of all rows {:.4}; with the evidence's prior {:.4} and {:.4}",
        counts.collect::<Vec<_>>().join(", "),
        100.0 * mean_and_error(&why.spread).0,
        100.0 * mean_and_error(&why.share).0,
        mean_and_error(&why.held).0,
        why.less(&format!("weak prior, {}: {MACHINE}", asked_how(TOGETHER))),
        why.less(&format!("weak prior, {}: {PRODUCT}", asked_how(TOGETHER))),
        why.error(&format!("weak prior, {}: {PRODUCT}", asked_how(1))),
        why.error(&format!("weak prior, {WHOLE}")),
        why.error(&format!("{}: {PRODUCT}", asked_how(1))),
        why.error(WHOLE),
    )
}

/// Whether the prior wins exactly where it can be divided away: clearly with many queries together and the evidence's prior, not
/// with a weak one, and not one at a time.
pub fn isolates(why: &Why) -> bool {
    let gain =
        |how: String| why.between(&format!("{how}: {MACHINE}"), &format!("{how}: {PRODUCT}"));
    let joint = asked_how(TOGETHER);
    let weak = gain(format!("weak prior, {joint}"));
    match (gain(asked_how(1)), gain(joint), weak) {
        (Some(alone), Some((gain, error)), Some(weak)) => {
            let is_nothing = |other: (f64, f64)| other.0.abs() < 0.1 * gain.abs();
            gain + 2.0 * error < 0.0 && is_nothing(alone) && is_nothing(weak)
        }
        _ => false,
    }
}
