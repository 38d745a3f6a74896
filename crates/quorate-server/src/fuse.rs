//! The opinions of servers as one belief.

use quorate::fusion::{Learned, Needs, Opinions, Record, Rule};
use quorate::gp::gaussian::Marginals;
use quorate::gp::linalg::Matrix;
use quorate::{Error, Prediction};

use crate::ask::Opinion;

/// What several servers believe together.
#[derive(Clone, Debug, PartialEq)]
pub enum Fused {
    /// About a number.
    Number(Prediction),
    /// About classes: their labels, and probabilities row after row.
    Classes(Vec<String>, Vec<f64>),
}

/// Refuses a rule that servers cannot be fused by, before anybody is asked.
pub fn check_rule(rule: &Rule, has_base: bool, has_record: bool) -> Result<(), Error> {
    let missing = match rule.needs {
        Needs::Base if !has_base => "a server that knows only the rows all share: use `--base`",
        Needs::Record if !has_record => {
            "rows with known targets that no server was trained on: use `--held-out`"
        }
        Needs::Evidence => {
            "evidences of the same rows, which servers with rows of their own do not have"
        }
        Needs::Process => "the rows of all members in one place, which servers do not share",
        _ => return Ok(()),
    };
    Err(Error::Spec(format!(
        "the rule `{}` needs {missing}",
        rule.name
    )))
}

/// One belief by a rule. For classes there are `mixture`, the mean of the probabilities, and `product`.
pub fn fuse(
    rule: &Rule,
    opinions: &[Opinion],
    base: Option<&Opinion>,
    learned: Option<&Learned>,
) -> Result<Fused, Error> {
    if let Some(Opinion::Classes { labels, .. }) = opinions.first() {
        return classes(rule, labels, opinions).map(|found| Fused::Classes(labels.clone(), found));
    }
    let mut posteriors = Vec::new();
    let mut priors = Vec::new();
    let mut noises: Vec<&Vec<f64>> = Vec::new();
    for opinion in opinions {
        if let Opinion::Number {
            mean,
            latent_variance,
            noise,
            prior_mean,
            prior_variance,
        } = opinion
        {
            posteriors.push(marginals(mean, latent_variance));
            priors.push(marginals(prior_mean, prior_variance));
            noises.push(noise);
        }
    }
    let base = base.and_then(|base| match base {
        Opinion::Number {
            mean,
            latent_variance,
            ..
        } => Some(marginals(mean, latent_variance)),
        Opinion::Classes { .. } => None,
    });
    let rows = noises.first().map_or(0, |first| first.len());
    let count = noises.len().max(1) as f64;
    // All see the same noise: the mean of what they found is the best estimate of it.
    let noise: Vec<f64> = (0..rows)
        .map(|row| noises.iter().map(|own| own[row]).sum::<f64>() / count)
        .collect();
    let fused = rule.fusion.combine(&Opinions {
        base: base.as_ref(),
        noise: noise.iter().sum::<f64>() / rows.max(1) as f64,
        learned,
        ..Opinions::new(&posteriors, &priors)
    })?;
    Ok(Fused::Number(Prediction {
        mean: fused.mean.col_as_slice(0).to_vec(),
        latent_variance: fused.variance.col_as_slice(0).to_vec(),
        noise_variance: noise,
        ..Prediction::default()
    }))
}

/// How the servers did on rows whose targets are known.
pub fn record(opinions: &[Opinion], targets: &[f64]) -> Record {
    let cells = |of: &dyn Fn(&Opinion, usize) -> f64| {
        Matrix::from_fn(targets.len(), opinions.len(), |row, agent| {
            of(&opinions[agent], row)
        })
    };
    Record {
        targets: targets.to_vec(),
        weights: vec![1.0; targets.len()],
        means: cells(&|opinion, row| match opinion {
            Opinion::Number { mean, .. } => mean[row],
            Opinion::Classes { .. } => 0.0,
        }),
        variances: cells(&|opinion, row| match opinion {
            Opinion::Number {
                latent_variance,
                noise,
                ..
            } => latent_variance[row] + noise[row],
            Opinion::Classes { .. } => 1.0,
        }),
        log_evidence: vec![None; opinions.len()],
    }
}

fn marginals(mean: &[f64], variance: &[f64]) -> Marginals {
    let column = |values: &[f64]| Matrix::from_fn(values.len(), 1, |row, _| values[row]);
    Marginals {
        mean: column(mean),
        variance: column(variance),
    }
}

fn classes(rule: &Rule, labels: &[String], opinions: &[Opinion]) -> Result<Vec<f64>, Error> {
    let mut all: Vec<&Vec<f64>> = Vec::new();
    for opinion in opinions {
        match opinion {
            Opinion::Classes {
                labels: own,
                probabilities,
            } if own == labels => all.push(probabilities),
            _ => {
                return Err(Error::Spec(
                    "the servers do not know the same classes".into(),
                ));
            }
        }
    }
    let cells = 0..all.first().map_or(0, |first| first.len());
    let mut fused: Vec<f64> = match rule.name {
        "mixture" => cells
            .map(|cell| all.iter().map(|own| own[cell]).sum::<f64>())
            .collect(),
        // Logarithms, so that many small factors do not vanish; a class that somebody excludes stays possible.
        "product" => cells
            .map(|cell| all.iter().map(|own| own[cell].max(1e-12).ln()).sum::<f64>())
            .collect(),
        other => {
            return Err(Error::Spec(format!(
                "probabilities of classes are fused by `mixture` or `product`, not by `{other}`"
            )));
        }
    };
    for row in fused.chunks_mut(labels.len().max(1)) {
        if rule.name == "product" {
            let largest = row.iter().copied().fold(f64::MIN, f64::max);
            row.iter_mut()
                .for_each(|cell| *cell = (*cell - largest).exp());
        }
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|cell| *cell /= total);
    }
    Ok(fused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::fusion::rule;

    fn said(mean: f64, latent: f64) -> Opinion {
        Opinion::Number {
            mean: vec![mean],
            latent_variance: vec![latent],
            noise: vec![0.1],
            prior_mean: vec![0.0],
            prior_variance: vec![1.0],
        }
    }

    #[test]
    fn the_committee_machine_counts_the_prior_once_and_noise_is_added_once() {
        let rule = rule("bcm").expect("rule");
        let fused = fuse(rule, &[said(1.0, 0.5), said(2.0, 0.25)], None, None).expect("fused");
        let Fused::Number(found) = fused else {
            panic!("a number")
        };
        // Precision 2 + 4 - 1, and the mean (2 * 1 + 4 * 2) / 5.
        assert!((found.mean[0] - 2.0).abs() < 1e-15);
        assert!((found.latent_variance[0] - 0.2).abs() < 1e-15);
        assert!((found.variance(false)[0] - 0.3).abs() < 1e-15);
    }

    #[test]
    fn classes_are_averaged_or_multiplied() {
        let said = |p: f64| Opinion::Classes {
            labels: vec!["a".into(), "b".into()],
            probabilities: vec![p, 1.0 - p],
        };
        let opinions = [said(0.9), said(0.6)];
        let found = |name| match fuse(rule(name).expect("rule"), &opinions, None, None) {
            Ok(Fused::Classes(_, found)) => found[0],
            other => panic!("{other:?}"),
        };
        assert!((found("mixture") - 0.75).abs() < 1e-15);
        assert!((found("product") - 0.54 / 0.58).abs() < 1e-12);
        assert!(fuse(rule("bcm").expect("rule"), &opinions, None, None).is_err());
    }

    #[test]
    fn rules_that_servers_cannot_meet_are_refused() {
        for (name, base, record, is_fine) in [
            ("bcm", false, false, true),
            ("generalised-robust-bcm", false, false, false),
            ("generalised-robust-bcm", true, false, true),
            ("stacking", false, false, false),
            ("stacking", false, true, true),
            ("nested", true, true, false),
            ("model-averaging", true, true, false),
        ] {
            let verdict = check_rule(rule(name).expect("rule"), base, record);
            assert_eq!(verdict.is_ok(), is_fine, "{name}");
        }
    }
}
