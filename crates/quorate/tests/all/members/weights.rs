//! Fusion in the space of weights, and networks in a committee machine, against their formulas typed out (Latouche 2007, 3.1 and 3.3.4).

use quorate::ensemble::{cooperative, non_parametric, parametric};
use quorate::gp::data::{Dataset, Inputs};
use quorate::gp::linalg::Matrix;
use quorate::gp::posterior::Predict;
use quorate::member::{Basis, Expansion, InWeights, Member, NetworkMember, WeightSpace};

use super::near;
use crate::common::dense;

/// The thesis' toy data in standardised inputs: a sine and noise 0.2, other rows for each salt.
fn rows(count: usize, salt: usize) -> Dataset {
    let unit = |row: usize, rate: f64| ((row + 1000 * salt) as f64 * rate).fract();
    let x: Vec<f64> = (0..count)
        .map(|row| 3.4 * unit(row, 0.618_033_988_7) - 1.7)
        .collect();
    let noise = |row: usize| {
        let (a, b) = (unit(row, 0.754_877_666), unit(row, 0.569_840_291));
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    };
    let wave = std::f64::consts::PI / 3f64.sqrt();
    let y = (0..count).map(|row| -(2.0 * wave * x[row]).sin() + 0.2 * noise(row));
    let y = y.collect();
    Dataset::new(x, 1, y, None, None).unwrap()
}

fn radial(data: &Dataset, centres: usize) -> WeightSpace {
    let step = 3.4 / centres as f64;
    let basis = Basis::Radial {
        centres: (0..centres)
            .map(|i| -1.7 + step * (i as f64 + 0.5))
            .collect(),
        width: 1.5 * step,
    };
    WeightSpace::fit(basis, Expansion::numbers(1), data).unwrap()
}

fn network(data: &Dataset, hidden: usize, seed: u64) -> NetworkMember {
    NetworkMember::fit(hidden, Expansion::numbers(1), data, seed).unwrap()
}

const QUERY: [f64; 5] = [-1.6, -0.7, 0.05, 0.9, 2.4];

fn query() -> Inputs<'static> {
    Inputs::new(&QUERY, 5, 1).unwrap()
}

fn list(matrix: &Matrix) -> Vec<Vec<f64>> {
    let row = |row: usize| {
        (0..matrix.ncols())
            .map(|c| matrix[(row, c)])
            .collect::<Vec<f64>>()
    };
    (0..matrix.nrows()).map(row).collect()
}

fn identity(size: usize) -> Vec<Vec<f64>> {
    let one = |i: usize, j: usize| f64::from(u8::from(i == j));
    (0..size)
        .map(|i| (0..size).map(|j| one(i, j)).collect())
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `sum_k left_k right_k'` over pairs of vectors.
fn outer(pairs: &[(Vec<f64>, Vec<f64>)], size: usize) -> Vec<Vec<f64>> {
    let entry = |i: usize, j: usize| pairs.iter().map(|(a, b)| a[i] * b[j]).sum();
    (0..size)
        .map(|i| (0..size).map(|j| entry(i, j)).collect())
        .collect()
}

/// `(alpha I + beta sum g g')^-1`.
fn covariance(alpha: f64, beta: f64, slopes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let size = slopes[0].len();
    let pairs: Vec<_> = slopes.iter().map(|g| (g.clone(), g.clone())).collect();
    let mut precision = outer(&pairs, size);
    for (i, row) in precision.iter_mut().enumerate() {
        row.iter_mut().for_each(|entry| *entry *= beta);
        row[i] += alpha;
    }
    dense::solve(&precision, &identity(size)).0
}

/// `a' M b`.
fn form(a: &[f64], matrix: &[Vec<f64>], b: &[f64]) -> f64 {
    a.iter()
        .zip(matrix)
        .map(|(a, row)| a * dot(row, b))
        .sum::<f64>()
}

#[test]
fn a_mean_of_draws_has_the_mean_and_the_covariance_of_its_formula() {
    let data: Vec<Dataset> = (0..3).map(|salt| rows(15 + 5 * salt, salt)).collect();
    let agents: Vec<WeightSpace> = data.iter().map(|own| radial(own, 2)).collect();
    let shared: Vec<&dyn InWeights> = agents.iter().map(|own| own as &dyn InWeights).collect();
    let draws = 4000;
    let found: Vec<Vec<f64>> = (0..draws)
        .map(|seed| cooperative(&shared, 10 * seed).unwrap().mean)
        .collect();
    // w = (w_1 + w_2 + w_3) / 3 (eq. 3.1), w_j ~ N(m_j, (alpha_j I + beta_j Phi_j' Phi_j)^-1).
    let size = 3;
    let mut spread = vec![vec![0.0; size]; size];
    let mut centre = vec![0.0; size];
    for (agent, own) in agents.iter().zip(&data) {
        let own = covariance(
            agent.prior_precision(),
            1.0 / agent.noise_variance(),
            &list(&agent.design(own.inputs())),
        );
        for i in 0..size {
            centre[i] += agent.weights()[i] / 3.0;
            (0..size).for_each(|j| spread[i][j] += own[i][j] / 9.0);
        }
    }
    for i in 0..size {
        let count = draws as f64;
        let mean = found.iter().map(|w| w[i]).sum::<f64>() / count;
        let error = (spread[i][i] / count).sqrt();
        assert!(
            (mean - centre[i]).abs() < 4.5 * error,
            "{mean} {} {error}",
            centre[i]
        );
        for j in 0..=i {
            let each = found
                .iter()
                .map(|w| (w[i] - centre[i]) * (w[j] - centre[j]));
            let own = each.sum::<f64>() / count;
            // Variance of a product of two Gaussian numbers: s_ii s_jj + s_ij^2.
            let error = ((spread[i][i] * spread[j][j] + spread[i][j].powi(2)) / count).sqrt();
            assert!(
                (own - spread[i][j]).abs() < 4.5 * error,
                "{own} {} {error}",
                spread[i][j]
            );
        }
    }
    // The mean of the noises is added, and the weights count as known.
    let fused = cooperative(&shared, 1).unwrap();
    let noise = agents.iter().map(|own| own.noise_variance()).sum::<f64>() / 3.0;
    near(fused.noise, noise, 1e-14);
    let belief = fused.marginals(shared[0], query());
    for (row, phi) in list(&agents[0].design(query())).iter().enumerate() {
        near(belief.mean[(row, 0)], dot(phi, &fused.mean), 1e-12);
        assert_eq!(belief.variance[(row, 0)], 0.0);
    }
    assert!(cooperative(&[], 1).is_err());
}

#[test]
fn a_gaussian_through_weights_is_the_prior_of_a_new_agent() {
    let agents: Vec<WeightSpace> = (0..5)
        .map(|salt| radial(&rows(30 + salt, salt), 6))
        .collect();
    let shared: Vec<&dyn InWeights> = agents.iter().map(|own| own as &dyn InWeights).collect();
    let new = rows(12, 9);
    let fused = parametric(&shared, &new).unwrap();
    // mu = 1/m sum w_j, Sigma = 1/m sum (w_j - mu)(w_j - mu)', then Bayes' rule for a linear function with noise 1 / beta.
    let size = 7;
    let mean = |place: usize| agents.iter().map(|own| own.weights()[place]).sum::<f64>() / 5.0;
    let mu: Vec<f64> = (0..size).map(mean).collect();
    let away: Vec<(Vec<f64>, Vec<f64>)> = agents
        .iter()
        .map(|own| {
            let away: Vec<f64> = own.weights().iter().zip(&mu).map(|(w, m)| w - m).collect();
            let share = away.iter().map(|v| v / 5.0).collect();
            (away, share)
        })
        .collect();
    let sigma = outer(&away, size);
    let design = list(&agents[0].design(new.inputs()));
    let mut gram: Vec<Vec<f64>> = design
        .iter()
        .map(|a| design.iter().map(|b| form(a, &sigma, b)).collect())
        .collect();
    (0..gram.len()).for_each(|i| gram[i][i] += fused.noise);
    let gaps: Vec<Vec<f64>> = design
        .iter()
        .zip(new.targets())
        .map(|(phi, target)| vec![target - dot(phi, &mu)])
        .collect();
    let (solved, _) = dense::solve(&gram, &gaps);
    let belief = fused.marginals(shared[0], query());
    for (row, phi) in list(&agents[0].design(query())).iter().enumerate() {
        let cross: Vec<f64> = design.iter().map(|own| form(phi, &sigma, own)).collect();
        let told = dot(phi, &mu)
            + cross
                .iter()
                .zip(&solved)
                .map(|(c, s)| c * s[0])
                .sum::<f64>();
        near(belief.mean[(row, 0)], told, 1e-7);
        let right: Vec<Vec<f64>> = cross.iter().map(|c| vec![*c]).collect();
        let (left, _) = dense::solve(&gram, &right);
        let explained: f64 = cross.iter().zip(&left).map(|(c, l)| c * l[0]).sum();
        near(
            belief.variance[(row, 0)],
            form(phi, &sigma, phi) - explained,
            1e-7,
        );
    }
    // Networks: the most probable weights obey w - mu = Sigma J'(t - F(w)) / noise, by differences of the function.
    let nets: Vec<NetworkMember> = (0..4)
        .map(|salt| network(&rows(40, salt), 2, salt as u64))
        .collect();
    let shared: Vec<&dyn InWeights> = nets.iter().map(|own| own as &dyn InWeights).collect();
    let fused = parametric(&shared, &new).unwrap();
    let size = fused.mean.len();
    let mean = |place: usize| nets.iter().map(|own| own.weights()[place]).sum::<f64>() / 4.0;
    let mu: Vec<f64> = (0..size).map(mean).collect();
    let value = |weights: &[f64], row: usize| {
        nets[0]
            .network()
            .output(weights, &[new.inputs().row(row)[0]])
    };
    let pull: Vec<f64> = (0..size)
        .map(|place| {
            let at = |step: f64, row: usize| {
                let mut moved = fused.mean.clone();
                moved[place] += step;
                value(&moved, row)
            };
            let each = (0..new.rows()).map(|row| {
                let slope = (at(1e-5, row) - at(-1e-5, row)) / 2e-5;
                slope * (new.targets()[row] - value(&fused.mean, row))
            });
            each.sum::<f64>() / fused.noise
        })
        .collect();
    let far = fused
        .mean
        .iter()
        .zip(&mu)
        .map(|(w, m)| (w - m).abs())
        .fold(0.0, f64::max);
    assert!(far > 0.01);
    for place in 0..size {
        let along: f64 = nets
            .iter()
            .map(|own| {
                let away: Vec<f64> = own.weights().iter().zip(&mu).map(|(w, m)| w - m).collect();
                away[place] * dot(&away, &pull) / 4.0
            })
            .sum();
        // The search ends where a step gains 1e-9 of the cost.
        assert!((fused.mean[place] - mu[place] - along).abs() < 2e-3 * far);
    }
}

#[test]
fn shares_of_weights_are_how_likely_new_rows_are_under_them() {
    let nets: Vec<NetworkMember> = (0..3)
        .map(|salt| network(&rows(25, salt), 3, salt as u64))
        .collect();
    let shared: Vec<&dyn InWeights> = nets.iter().map(|own| own as &dyn InWeights).collect();
    let new = rows(6, 8);
    let noise = nets.iter().map(|own| own.noise_variance()).sum::<f64>() / 3.0;
    // p(T | X, w_j) as a product of densities.
    let likely: Vec<f64> = nets
        .iter()
        .map(|own| {
            let each = (0..new.rows()).map(|row| {
                let f = own.network().output(own.weights(), new.inputs().row(row));
                let error = new.targets()[row] - f;
                (-0.5 * error * error / noise).exp() / (std::f64::consts::TAU * noise).sqrt()
            });
            each.product()
        })
        .collect();
    let all: f64 = likely.iter().sum();
    let found = non_parametric(&shared, &new).unwrap();
    for (share, likely) in found.iter().zip(&likely) {
        near(*share, likely / all, 1e-10);
    }
    assert!(non_parametric(&[], &new).is_err());
}

#[test]
fn beliefs_of_networks_are_their_formulas() {
    let hidden = 3;
    let mut ratios = Vec::new();
    for salt in 0..12 {
        let data = rows(40, salt);
        let net = network(&data, hidden, salt as u64);
        let (alpha, beta) = (net.prior_precision(), 1.0 / net.noise_variance());
        let slope = |x: f64| -> Vec<f64> {
            let at = |place: usize, step: f64| {
                let mut moved = net.weights().to_vec();
                moved[place] += step;
                net.network().output(&moved, &[x])
            };
            (0..net.weights().len())
                .map(|place| (at(place, 1e-5) - at(place, -1e-5)) / 2e-5)
                .collect()
        };
        // F(w_MP) and J H^-1 J' with H = alpha I + beta sum g g' (2.1.2).
        let slopes: Vec<Vec<f64>> = (0..data.rows())
            .map(|row| slope(data.inputs().row(row)[0]))
            .collect();
        let spread = covariance(alpha, beta, &slopes);
        let (belief, prior) = (net.marginals(query()).unwrap(), net.prior(query()));
        let linearised = net.linearised_prior(query());
        for (row, &x) in QUERY.iter().enumerate() {
            let g = slope(x);
            let value = net.network().output(net.weights(), &[x]);
            near(belief.mean[(row, 0)], value, 1e-12);
            let own = form(&g, &spread, &g).min(prior.variance[(row, 0)]);
            near(belief.variance[(row, 0)], own, 1e-5);
            // By linearisation the prior is N(F(w) - J w, J J' / alpha) (3.3.4).
            near(
                linearised.mean[(row, 0)],
                value - dot(&g, net.weights()),
                1e-6,
            );
            near(linearised.variance[(row, 0)], dot(&g, &g) / alpha, 1e-6);
            // Over all weights it has mean 0 and the variance 1/alpha + H/alpha E tanh^2(u), u ~ N(0, (1 + x^2) / alpha).
            let deviation = ((1.0 + x * x) / alpha).sqrt();
            let step = 1e-3;
            let bent: f64 = (-8000..=8000)
                .map(|k| {
                    let z = f64::from(k) * step;
                    let density = (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
                    step * density * (deviation * z).tanh().powi(2)
                })
                .sum();
            let exact = (1.0 + hidden as f64 * bent) / alpha;
            assert_eq!(prior.mean[(row, 0)], 0.0);
            ratios.push(prior.variance[(row, 0)] / exact);
        }
    }
    assert!(
        ratios.iter().all(|ratio| (ratio - 1.0).abs() < 1e-9),
        "{ratios:?}"
    );
}

/// Thesis, table 3.3 and its conclusion: weights of networks mean something else in each of them.
#[test]
fn averaging_weights_fails_for_networks_and_works_for_radial_functions() {
    let parts: Vec<Dataset> = (0..10).map(|salt| rows(100, salt)).collect();
    let (asked, size) = (rows(400, 20), 400.0);
    let error = |agents: Vec<&dyn InWeights>| {
        let fused = cooperative(&agents, 7).unwrap();
        let belief = fused.marginals(agents[0], asked.inputs());
        let spread = asked.targets().iter().map(|t| t * t).sum::<f64>() / size;
        let squares = asked.targets().iter().enumerate();
        let squares = squares.map(|(row, t)| (t - belief.mean[(row, 0)]).powi(2));
        (squares.sum::<f64>() / size / spread).sqrt()
    };
    let nets: Vec<NetworkMember> = (0..10)
        .map(|place| network(&parts[place], 3, 100 * place as u64))
        .collect();
    let networks = error(nets.iter().map(|own| own as &dyn InWeights).collect());
    let fitted: Vec<WeightSpace> = parts.iter().map(|own| radial(own, 10)).collect();
    let radials = error(fitted.iter().map(|own| own as &dyn InWeights).collect());
    // The noise alone is 0.27.
    assert!(radials < 0.32, "{radials}");
    assert!(networks > 2.0 * radials, "{networks} {radials}");
    // Each network alone is as good as a radial one: it is the average that fails.
    let alone = nets[0].marginals(asked.inputs()).unwrap();
    let squares = (0..400).map(|row| (asked.targets()[row] - alone.mean[(row, 0)]).powi(2));
    let spread: f64 = asked.targets().iter().map(|t| t * t).sum();
    assert!((squares.sum::<f64>() / spread).sqrt() < 0.5);
}
