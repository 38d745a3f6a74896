//! Curvatures of the log evidence, and hyperparameters from parts that exchange them.
#![allow(clippy::unwrap_used)]

use quorate_gp::data::{ColumnKind, Dataset, InputColumn};
use quorate_gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate_gp::learn::{
    BlockEvidence, Curved, Evaluation, Expansion, Hyperprior, LeaveOneOutDensity, LocalSite,
    Message, Objective, Plausible, Propagation, Quadratic, Question, Reply, Schedule, SearchLimits,
    Shared, Site, WithPrior, at, differenced, local_approximations, maximise, propagate,
};
use quorate_gp::likelihood::GaussianNoise;
use quorate_gp::linalg::{JitterPolicy, Matrix};
use quorate_gp::parameters::Parameter;
use quorate_gp::posterior::ExactPosterior;
use quorate_gp::watch::{Unwatched, Watch};
use quorate_gp::{Error, Result};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;

const COLUMNS: usize = 2;

fn bound(text: &str) -> BoundKernel {
    let column = |name: &str| InputColumn {
        name: name.into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    let kernel: Kernel = text.parse().unwrap();
    kernel.bind(&[column("a"), column("b")]).unwrap()
}

/// Rows of a smooth function with noise, some of it known, and weights.
fn rows(count: usize, first: usize) -> Dataset {
    let mut random = ChaCha12Rng::seed_from_u64(first as u64);
    let mut uniform = || random.next_u64() as f64 / u64::MAX as f64;
    let values: Vec<f64> = (0..count * COLUMNS)
        .map(|_| 4.0 * uniform() - 2.0)
        .collect();
    let targets = values
        .chunks(COLUMNS)
        .map(|x| (1.3 * x[0]).sin() + 0.4 * x[1] + 0.6 * (uniform() + uniform() - 1.0))
        .collect();
    let range = first..first + count;
    let weights = range.clone().map(|i| 1.0 + (i % 3) as f64).collect();
    let known = range.map(|i| 0.01 * (i % 4) as f64).collect();
    Dataset::new(values, COLUMNS, targets, Some(weights), Some(known)).unwrap()
}

/// The same with weights of 1 and no known noise. (Weights are copies: two rows that agree to the last digit say that
/// there is no noise.)
fn plain(count: usize, first: usize) -> Dataset {
    let rows = rows(count, first);
    let values = rows.inputs().values().to_vec();
    Dataset::new(values, COLUMNS, rows.targets().to_vec(), None, None).unwrap()
}

fn parameters(kernel: &BoundKernel) -> Vec<Parameter> {
    let mut parameters = kernel.parameters();
    parameters.push(GaussianNoise { variance: 0.05 }.parameter());
    parameters
}

fn coordinates(parameters: &[Parameter]) -> Vec<f64> {
    parameters.iter().map(Parameter::coordinate).collect()
}

fn largest(matrix: &Matrix) -> f64 {
    matrix.norm_max()
}

#[test]
fn curvature_is_the_derivative_of_the_gradient_for_every_family() {
    let data = rows(40, 0);
    for text in [
        "se(ard)",
        "0.7 * matern12(ard) + 0.2 * se",
        "matern32(ard) * periodic",
        "matern52(ard) + linear",
        "rq(ard)",
        "network + constant",
        "polynomial + 0.5 * matern32",
    ] {
        let kernel = bound(text);
        let parameters = parameters(&kernel);
        let here = coordinates(&parameters);
        let free: Vec<bool> = parameters.iter().map(|p| !p.fixed).collect();
        let evidence = BlockEvidence::new(&kernel, &data, JitterPolicy::default());
        let exact = evidence.expand(&here, &free).unwrap();
        let slow = differenced(&evidence, &here, &free).unwrap();
        let error = largest(&(&exact.hessian - &slow.hessian)) / largest(&slow.hessian);
        assert!(error < 2e-8, "{text}: {error}");
        assert_eq!(exact.evaluation, slow.evaluation);
    }
}

/// Latouche 2007, eq. 4.9-4.10 typed literally, with inverses and every derivative of the squared exponential by hand.
#[test]
fn curvature_agrees_with_the_equation_of_the_thesis() {
    let n = 25;
    let data = plain(n, 3);
    let kernel = bound("1.7 * se(ard)");
    let here = coordinates(&parameters(&kernel));
    let free = vec![true; here.len()];
    let names: Vec<String> = parameters(&kernel).iter().map(|p| p.name.clone()).collect();
    assert_eq!(here.len(), 4, "{names:?}");
    let place = |word: &str| names.iter().position(|name| name.contains(word)).unwrap();
    let (variance, first) = (place("se.variance"), place("length_scale"));

    let x = |i: usize| data.inputs().row(i);
    let square =
        |i: usize, j: usize, d: usize| ((x(i)[d] - x(j)[d]) / here[first + d].exp()).powi(2);
    let v = here[variance].exp();
    let k = |i: usize, j: usize| v * (-0.5 * (square(i, j, 0) + square(i, j, 1))).exp();
    let noise = here[3].exp();
    let delta = |i: usize, j: usize| f64::from(i == j);
    let c = Matrix::from_fn(n, n, |i, j| k(i, j) + noise * delta(i, j));
    // dC/dphi_a and d2C/(dphi_a dphi_b).
    let one = |a: usize| {
        Matrix::from_fn(n, n, |i, j| match a {
            a if a == variance => k(i, j),
            3 => noise * delta(i, j),
            a => k(i, j) * square(i, j, a - first),
        })
    };
    let two = |a: usize, b: usize| {
        Matrix::from_fn(n, n, |i, j| {
            let length = |p: usize| (p != variance && p != 3).then(|| square(i, j, p - first));
            match (length(a), length(b)) {
                _ if a == 3 && b == 3 => noise * delta(i, j),
                _ if a == 3 || b == 3 => 0.0,
                (None, None) => k(i, j),
                (Some(r), None) | (None, Some(r)) => k(i, j) * r,
                (Some(r), Some(_)) if a == b => k(i, j) * (r * r - 2.0 * r),
                (Some(r), Some(s)) => k(i, j) * r * s,
            }
        })
    };
    let inverse = invert(&c);
    let t = Matrix::from_fn(n, 1, |i, _| data.targets()[i]);
    let trace = |m: &Matrix| (0..n).map(|i| m[(i, i)]).sum::<f64>();
    let form = |m: &Matrix| (t.transpose() * m * &t)[(0, 0)];
    let evidence = BlockEvidence::new(&kernel, &data, JitterPolicy::default());
    let ours = evidence.expand(&here, &free).unwrap().hessian;
    for a in 0..4 {
        for b in 0..4 {
            let (ca, cb, cab) = (one(a), one(b), two(a, b));
            let plus = -0.5 * trace(&(&inverse * &cab))
                + 0.5 * trace(&(&inverse * &cb * &inverse * &ca))
                - form(&(&inverse * &cb * &inverse * &ca * &inverse))
                + 0.5 * form(&(&inverse * &cab * &inverse));
            let error = (ours[(a, b)] - plus).abs() / largest(&ours);
            assert!(error < 1e-9, "{a} {b}: {} {plus}", ours[(a, b)]);
        }
    }
}

/// Gauss-Jordan: slow and obvious.
fn invert(matrix: &Matrix) -> Matrix {
    let n = matrix.nrows();
    let mut left = matrix.clone();
    let mut right = Matrix::identity(n, n);
    for p in 0..n {
        let pivot = left[(p, p)];
        for j in 0..n {
            left[(p, j)] /= pivot;
            right[(p, j)] /= pivot;
        }
        for i in (0..n).filter(|&i| i != p) {
            let factor = left[(i, p)];
            for j in 0..n {
                let (l, r) = (left[(p, j)], right[(p, j)]);
                left[(i, j)] -= factor * l;
                right[(i, j)] -= factor * r;
            }
        }
    }
    right
}

#[test]
fn a_fixed_parameter_has_no_curvature() {
    let data = rows(20, 0);
    let kernel = bound("se(ard)");
    let here = coordinates(&parameters(&kernel));
    let mut free = vec![true; here.len()];
    free[1] = false;
    let evidence = BlockEvidence::new(&kernel, &data, JitterPolicy::default());
    let hessian = evidence.expand(&here, &free).unwrap().hessian;
    for i in 0..here.len() {
        assert_eq!((hessian[(1, i)], hessian[(i, 1)]), (0.0, 0.0));
    }
    assert!(hessian[(0, 0)] != 0.0);
}

/// A site whose log evidence is a quadratic with a known top.
struct Bowl {
    top: Vec<f64>,
    precision: Matrix,
}

impl Bowl {
    fn quadratic(&self) -> Quadratic {
        let size = self.top.len();
        let at = |k: usize| self.precision[(k / size, k % size)];
        let precision: Vec<f64> = (0..size * size).map(at).collect();
        let vector = precision
            .chunks(size)
            .map(|row| row.iter().zip(&self.top).map(|(p, x)| p * x).sum())
            .collect();
        Quadratic { precision, vector }
    }
}

impl Site for Bowl {
    fn answer(&self, question: &Question, _: &dyn Watch) -> Result<Reply> {
        let own = self.quadratic();
        Ok(match question {
            Question::Evaluate { at } => Reply::Evaluation(own.evaluate(at)),
            Question::Expand {
                others,
                start,
                free,
                ..
            } => {
                let mut all = others.clone();
                all.add(1.0, &own);
                let stuck = Error::NotFinite { what: "a bowl" };
                let at = all.maximum(free, start).ok_or(stuck)?.0;
                let size = at.len();
                let expansion = Expansion {
                    evaluation: own.evaluate(&at),
                    hessian: Matrix::from_fn(size, size, |i, j| -self.precision[(i, j)]),
                };
                Reply::Message(Message::new(at, &expansion, 1))
            }
        })
    }
}

fn bowl(top: [f64; 2], precision: [[f64; 2]; 2]) -> Bowl {
    Bowl {
        top: top.to_vec(),
        precision: Matrix::from_fn(2, 2, |i, j| precision[i][j]),
    }
}

fn normal_prior(mean: f64, deviation: f64, size: usize) -> Quadratic {
    let signed = |i: usize| {
        quorate_gp::parameters::Parameter::positive(
            format!("p{i}"),
            quorate_gp::parameters::Role::Variance,
            1.0,
        )
    };
    let parameters: Vec<Parameter> = (0..size).map(signed).collect();
    let prior = Hyperprior::Normal { mean, deviation };
    prior.quadratic(&parameters).unwrap()
}

const WIDE: [(f64, f64); 2] = [(-50.0, 50.0); 2];

#[test]
fn local_approximations_are_exact_for_quadratic_evidence() {
    let bowls = [
        bowl([1.0, -2.0], [[3.0, 0.5], [0.5, 1.0]]),
        bowl([0.0, 4.0], [[1.0, -0.3], [-0.3, 2.0]]),
        bowl([-1.0, 0.5], [[0.4, 0.1], [0.1, 5.0]]),
    ];
    let sites: Vec<&dyn Site> = bowls.iter().map(|bowl| bowl as &dyn Site).collect();
    let prior = normal_prior(0.7, 1.5, 2);
    let mut all = prior.clone();
    bowls
        .iter()
        .for_each(|bowl| all.add(1.0, &bowl.quadratic()));
    let (top, deviations) = all.maximum(&[true; 2], &[0.0; 2]).unwrap();
    let fused =
        local_approximations(&sites, &prior, &[9.0, 9.0], &WIDE, &[true; 2], &Unwatched).unwrap();
    for i in 0..2 {
        assert!((fused.coordinates[i] - top[i]).abs() < 1e-12);
        assert!((fused.deviations[i] - deviations[i]).abs() < 1e-12);
    }
    assert!(!fused.damped);
    // One more round changes nothing, and then all agree.
    for schedule in [Schedule::Parallel, Schedule::Sequential] {
        let how = Propagation {
            schedule,
            ..Propagation::default()
        };
        let agreed = propagate(
            &sites,
            &prior,
            &[9.0, 9.0],
            &WIDE,
            &[true; 2],
            &how,
            &Unwatched,
        )
        .unwrap();
        assert!(
            agreed.agreed && agreed.rounds.len() == 2,
            "{:?}",
            agreed.rounds
        );
        assert!((agreed.coordinates[0] - top[0]).abs() < 1e-12);
    }
}

#[test]
fn an_indefinite_sum_of_expansions_is_damped_and_said() {
    // Each with the prior is positive (curvature 1 - 0.8 > 0); the sum of three, with one prior, is not.
    let bowls: Vec<Bowl> = (0..3)
        .map(|i| bowl([f64::from(i), 1.0], [[-0.8, 0.0], [0.0, 2.0]]))
        .collect();
    let sites: Vec<&dyn Site> = bowls.iter().map(|bowl| bowl as &dyn Site).collect();
    let prior = normal_prior(0.0, 1.0, 2);
    let fused =
        local_approximations(&sites, &prior, &[0.0; 2], &WIDE, &[true; 2], &Unwatched).unwrap();
    assert!(fused.damped);
    assert!(fused.coordinates.iter().all(|x| x.is_finite()));
    assert!((fused.coordinates[1] - 6.0 / 7.0).abs() < 1e-12);
}

struct Problem {
    kernel: BoundKernel,
    parts: Vec<Dataset>,
}

impl Problem {
    fn new(parts: usize) -> Self {
        let kernel = bound("se(ard)");
        let parts = (0..parts).map(|part| plain(50, 50 * part)).collect();
        Self { kernel, parts }
    }

    /// The maximum of the shared objective, and that of propagation.
    fn both(&self, how: &Propagation) -> (Evaluation, Vec<f64>, f64, Vec<f64>, usize) {
        let policy = JitterPolicy::default();
        let local: Vec<LocalSite> = (self.parts.iter())
            .map(|data| LocalSite {
                kernel: &self.kernel,
                data,
                policy,
            })
            .collect();
        let sites: Vec<&dyn Site> = local.iter().map(|site| site as &dyn Site).collect();
        let parameters = parameters(&self.kernel);
        let prior = Hyperprior::Broad;
        let priors = prior.all(&parameters);
        let bounds: Vec<(f64, f64)> = priors.iter().map(Plausible::bounds).collect();
        let free = vec![true; parameters.len()];
        let start = coordinates(&parameters);
        let shared = Shared {
            sites: &sites,
            watch: &Unwatched,
        };
        let objective = WithPrior {
            objective: &shared,
            priors: &priors,
        };
        let limits = SearchLimits::default();
        let best = maximise(&objective, &start, &bounds, &free, limits, &Unwatched).unwrap();
        let quadratic = prior.quadratic(&parameters).unwrap();
        let found = propagate(&sites, &quadratic, &start, &bounds, &free, how, &Unwatched).unwrap();
        assert!(found.agreed, "{:?}", found.rounds);
        let there = objective.evaluate(&found.coordinates).unwrap();
        let rounds = found.rounds.len();
        (
            there,
            best.coordinates,
            best.value,
            found.coordinates,
            rounds,
        )
    }
}

#[test]
fn propagation_with_one_part_is_the_maximum_of_the_hyperposterior() {
    let (there, best, value, found, _) = Problem::new(1).both(&Propagation::default());
    assert!((there.value - value).abs() < 1e-5 * value.abs());
    for (ours, theirs) in found.iter().zip(&best) {
        assert!((ours - theirs).abs() < 2e-2, "{found:?} {best:?}");
    }
}

#[test]
fn propagation_ends_where_the_shared_objective_does_in_both_schedules() {
    for schedule in [Schedule::Parallel, Schedule::Sequential] {
        let how = Propagation {
            schedule,
            ..Propagation::default()
        };
        let (there, best, value, found, rounds) = Problem::new(3).both(&how);
        assert!(rounds < 10, "{schedule:?} {rounds}");
        assert!(
            value - there.value < 0.02,
            "{schedule:?}: {value} {}",
            there.value
        );
        for (ours, theirs) in found.iter().zip(&best) {
            assert!(
                (ours - theirs).abs() < 0.1,
                "{schedule:?} {found:?} {best:?}"
            );
        }
    }
}

#[test]
fn messages_cross_as_text_without_losing_a_bit() {
    let problem = Problem::new(1);
    let site = LocalSite {
        kernel: &problem.kernel,
        data: &problem.parts[0],
        policy: JitterPolicy::default(),
    };
    let parameters = parameters(&problem.kernel);
    let question = Question::Expand {
        others: Hyperprior::Broad.quadratic(&parameters).unwrap(),
        start: coordinates(&parameters),
        bounds: vec![(-9.0, 9.0); parameters.len()],
        free: vec![true; parameters.len()],
        steps: 5,
    };
    let again: Question = serde_json::from_str(&serde_json::to_string(&question).unwrap()).unwrap();
    assert_eq!(again, question);
    let reply = site.answer(&again, &Unwatched).unwrap();
    let back: Reply = serde_json::from_str(&serde_json::to_string(&reply).unwrap()).unwrap();
    assert_eq!(back, reply);
}

#[test]
fn leave_one_out_density_is_that_of_the_rows_left_out_and_its_gradient_is_exact() {
    let data = plain(45, 5);
    for text in ["se(ard)", "matern32(ard) + linear"] {
        let kernel = bound(text);
        let here = coordinates(&parameters(&kernel));
        let policy = JitterPolicy::default();
        let density = LeaveOneOutDensity::new(&kernel, &data, policy);
        let found = density.evaluate(&here).unwrap();
        let (kernel_here, noise) = at(&kernel, &here).unwrap();
        let posterior =
            ExactPosterior::condition(kernel_here, noise, data.clone(), policy).unwrap();
        let left_out = posterior.leave_one_out();
        let slow: f64 = (0..data.rows())
            .map(|i| {
                let variance = left_out.variance[i] + left_out.noise[i];
                let error = data.members()[i].target - left_out.mean[i];
                -0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
            })
            .sum();
        assert!((found.value - slow).abs() < 1e-9 * slow.abs(), "{text}");
        for i in 0..here.len() {
            let beside = |shift: f64| {
                let mut place = here.clone();
                place[i] += shift;
                density.evaluate(&place).unwrap().value
            };
            let difference = (beside(1e-5) - beside(-1e-5)) / 2e-5;
            let error = (difference - found.gradient[i]).abs();
            assert!(
                error < 1e-6 * (1.0 + difference.abs()),
                "{text} {i}: {error}"
            );
        }
    }
}
