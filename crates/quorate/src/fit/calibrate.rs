//! The noise that rows left out ask for.
//!
//! Learning finds the noise together with everything else, under the assumption that it is Gaussian. Where a few rows are
//! far off, or the same inputs come again and again, that noise can be much too small for rows that are predicted from
//! their neighbours. So the noise is looked at once more, alone, with the only score that matters: the density of rows
//! that were left out.

use quorate_gp::data::{Dataset, Member, Schema};
use quorate_gp::kernel::Kernel;
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::posterior::LeaveOneOut;
use quorate_gp::watch::Watch;

use super::local::{neighbourhood, scored_rows};
use crate::error::Result;
use crate::local::LocalAnswers;
use crate::spec::{LearnChoice, ModelSpec};
use crate::spread::Unseen;
use crate::task::{Judged, judge_left_out};

/// Gain in log density per row that another noise must bring: twenty times what one free number gains by chance among
/// 2,000 rows.
const WORTH: f64 = 0.005;
/// The noise is looked for between this factor below and above the noise that was learned.
const WIDEST: f64 = 100.0;

/// Answers whose noise suits the rows left out.
pub struct Calibrated {
    pub noise: GaussianNoise,
    pub answers: LocalAnswers,
    /// What a random sample of the rows says, each left out.
    pub judged: Judged,
    /// A sentence where the noise was changed, beginning with a space; empty otherwise.
    pub remark: String,
}

/// Predicts a sample of rows from the others, and corrects the noise where that pays.
pub fn calibrate(
    spec: &ModelSpec,
    schema: &Schema,
    kernel: &Kernel,
    noise: GaussianNoise,
    data: &Dataset,
    watch: &dyn Watch,
) -> Result<Calibrated> {
    let places = scored_rows(data, spec);
    let bound = kernel.bind(schema.columns())?;
    let judged = |noise: GaussianNoise| -> Result<(LocalAnswers, Vec<Member>, LeaveOneOut)> {
        let answers = LocalAnswers::new(bound.clone(), noise, data.clone(), neighbourhood(spec))
            .as_in_company();
        let (members, left_out) =
            answers.leave_one_out(&places, answers.rows_in_company(), watch)?;
        Ok((answers, members, left_out))
    };
    let spread = |own: Judged, members: &[Member], left_out: &LeaveOneOut| -> Result<Judged> {
        if !spec.learns_spread() {
            return Ok(own);
        }
        let rows = Unseen {
            inputs: data.inputs(),
            columns: schema.columns(),
            members,
            answers: left_out,
        };
        own.with_spread(schema, &rows)
    };
    let (answers, members, left_out) = judged(noise)?;
    let learned = judge_left_out(schema, &members, &left_out)?;
    let before = learned.scores.loss();
    let as_learned = Calibrated {
        noise,
        answers,
        judged: spread(learned, &members, &left_out)?,
        remark: String::new(),
    };
    if spec.learn != LearnChoice::Auto {
        return Ok(as_learned);
    }
    let wanted = GaussianNoise {
        variance: best_variance(noise.variance, &members, &left_out),
    };
    let gain = log_density(wanted.variance - noise.variance, &members, &left_out)
        - log_density(0.0, &members, &left_out);
    if gain < WORTH {
        return Ok(as_learned);
    }
    // The noise also decides how much neighbours are believed: only what the rows say of the whole answer counts.
    let (answers, members, left_out) = judged(wanted)?;
    let corrected = judge_left_out(schema, &members, &left_out)?;
    let after = corrected.scores.loss();
    let name = corrected.scores.name_of_loss();
    let judged = spread(corrected, &members, &left_out)?;
    if judged.scores.loss() + WORTH > as_learned.judged.scores.loss() {
        return Ok(as_learned);
    }
    let ratio = (wanted.variance / noise.variance).sqrt();
    let remark = format!(
        " Rows left out asked for noise {ratio:.2} times as wide as learned ({name} {before:.4} before, {after:.4} with it)."
    );
    Ok(Calibrated {
        noise: wanted,
        answers,
        judged,
        remark,
    })
}

/// The noise variance that gives the rows left out the highest density, their latent beliefs as they are.
fn best_variance(learned: f64, members: &[Member], left_out: &LeaveOneOut) -> f64 {
    const STEPS: i32 = 40;
    let at = |exponent: f64| learned * WIDEST.powf(exponent);
    let value = |exponent: f64| log_density(at(exponent) - learned, members, left_out);
    // The density may have several peaks: a coarse grid finds the highest, thirds narrow it down.
    let grid = (-STEPS..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let best = grid.max_by(|a, b| value(*a).total_cmp(&value(*b)));
    let (mut low, mut high) = match best {
        Some(best) => (best - 1.0 / f64::from(STEPS), best + 1.0 / f64::from(STEPS)),
        None => (0.0, 0.0),
    };
    for _ in 0..40 {
        let third = (high - low) / 3.0;
        if value(low + third) < value(high - third) {
            low += third;
        } else {
            high -= third;
        }
    }
    at(0.5 * (low + high))
}

/// Mean log density of the targets of the rows left out, with this much added to their noise.
fn log_density(added: f64, members: &[Member], left_out: &LeaveOneOut) -> f64 {
    let outputs = (left_out.mean.len() / members.len().max(1)).max(1);
    let told = left_out
        .target
        .chunks(outputs)
        .zip(left_out.mean.chunks(outputs));
    let spread = left_out.variance.iter().zip(&left_out.noise);
    let (mut sum, mut weight) = (0.0, 0.0);
    for (member, ((targets, means), (latent, noise))) in members.iter().zip(told.zip(spread)) {
        let variance = (latent + noise + added).max(f64::MIN_POSITIVE);
        for (target, mean) in targets.iter().zip(means) {
            let off = target - mean;
            sum -= 0.5 * member.weight * (variance.ln() + off * off / variance);
            weight += member.weight;
        }
    }
    sum / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows whose residuals have the given deviation beyond their latent variance.
    fn rows(deviation: f64, noise: f64) -> (Vec<Member>, LeaveOneOut) {
        let mut left_out = LeaveOneOut::default();
        let mut members = Vec::new();
        for row in 0..400 {
            // Normal scores: the quantiles of a sample that is as normal as it can be.
            let share = (f64::from(row) + 0.5) / 400.0;
            let latent = 0.01 + 0.02 * f64::from(row % 3);
            let spread = (latent + deviation * deviation).sqrt();
            members.push(Member {
                row: row as usize,
                group: row as usize,
                target: spread * crate::prediction::standard_quantile(share),
                weight: 1.0,
            });
            left_out
                .target
                .extend(members.last().map(|member| member.target));
            left_out.mean.push(0.0);
            left_out.variance.push(latent);
            left_out.noise.push(noise);
        }
        (members, left_out)
    }

    #[test]
    fn noise_that_is_wrong_by_any_factor_is_found() {
        for learned in [0.004, 0.04, 0.25, 1.5] {
            let (members, left_out) = rows(0.5, learned);
            let found = best_variance(learned, &members, &left_out);
            assert!((found / 0.25 - 1.0).abs() < 0.03, "{found} from {learned}");
        }
    }
}
