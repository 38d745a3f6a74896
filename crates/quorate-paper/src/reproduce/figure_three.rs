//! Error against the number of query points and of rows (Committee Machines, figure 3).

use quorate::Result;

use super::committee::Committee;
use super::setting::{Art, INPUTS, Questions, exact, exact_means, prior, validated_width};
use super::{Claim, Context, Curve, Reproduction, Size, mean_and_error};

/// Standard deviation of the noise.
const NOISE: f64 = 0.2;

/// The left half: 1,000 rows in modules of 100, asked about more and more query points together.
pub fn left(context: &Context<'_>) -> Result<Reproduction> {
    let (rows, module, repetitions, asked): (usize, usize, u64, usize) = match context.size {
        Size::Paper => (1000, 100, 10, 2000),
        Size::Quick => (200, 20, 2, 200),
    };
    let sizes: &[usize] = match context.size {
        Size::Paper => &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000],
        Size::Quick => &[1, 10, 50, 200],
    };
    let mut errors = vec![Vec::new(); sizes.len()];
    let mut exact_errors = Vec::new();
    let mut effective = Vec::new();
    for repetition in 0..repetitions {
        let seed = context.seed + repetition;
        let kernel = prior(validated_width(seed, NOISE)?)?;
        let mut art = Art::new(seed, NOISE);
        let (data, questions) = (art.rows(rows)?, art.questions(asked));
        for (place, &size) in sizes.iter().enumerate() {
            context.watch.check()?;
            let done = repetition as usize * sizes.len() + place;
            context
                .watch
                .progress("asking", done, repetitions as usize * sizes.len());
            let mut means = Vec::with_capacity(asked);
            for block in questions.values.chunks(size * INPUTS) {
                let block = Questions {
                    values: block.to_vec(),
                    truth: vec![0.0; block.len() / INPUTS],
                };
                let mut committee = Committee::new(&kernel, NOISE, block.inputs()?)?;
                committee.hear(&data, module)?;
                means.extend(committee.means()?);
            }
            errors[place].push(questions.error(&means));
        }
        let posterior = exact(&kernel, NOISE, data)?;
        exact_errors.push(questions.error(&exact_means(&posterior, &questions)?));
        effective.push(posterior.leave_one_out().effective_parameters);
    }
    let (exact_error, exact_spread) = mean_and_error(&exact_errors);
    let (effective, _) = mean_and_error(&effective);
    let found: Vec<(f64, f64)> = errors.iter().map(|values| mean_and_error(values)).collect();
    let table = sizes
        .iter()
        .zip(&found)
        .map(|(&size, &(mean, spread))| vec![size as f64, mean, spread, exact_error, exact_spread])
        .collect();
    let line = |value: f64| {
        vec![
            (sizes[0] as f64, value),
            (sizes[sizes.len() - 1] as f64, value),
        ]
    };
    let curves = vec![
        Curve {
            name: format!("committee, modules of {module}"),
            points: sizes
                .iter()
                .zip(&found)
                .map(|(&size, &(mean, _))| (size as f64, mean))
                .collect(),
        },
        Curve {
            name: "one process".to_owned(),
            points: line(exact_error),
        },
    ];
    let (few, many) = (found[0].0, found[found.len() - 1].0);
    let enough = sizes
        .iter()
        .zip(&found)
        .filter(|(size, _)| **size as f64 >= effective);
    let worst = enough
        .map(|(_, found)| found.0 / exact_error)
        .fold(f64::NAN, f64::max);
    Ok(Reproduction {
        title: "Error against the number of query points".to_owned(),
        setting: vec![
            format!("Artificial data: 5 inputs, noise of standard deviation {NOISE}; K = {rows} rows in modules of K/M = {module}."),
            format!("{asked} query points from the same distribution, asked in blocks of N_Q; mean squared error against the map without noise; mean and standard error of {repetitions} repetitions with other maps and rows."),
            "Squared-exponential prior exp(-|x - x'|^2 / (2 gamma^2)), gamma by a validation set of 100 rows, noise known.".to_owned(),
            "The paper prints the curve without numbers in its text and does not state the noise; what it says about the curve is compared.".to_owned(),
        ],
        labels: Vec::new(),
        columns: vec!["query_points", "mse", "mse_standard_error", "mse_exact", "mse_exact_standard_error"],
        rows: table,
        curves,
        axes: ("query points asked together N_Q", "mean squared error"),
        logarithmic: (true, true),
        panels: Vec::new(),
        claims: vec![
            Claim {
                theirs: "For small N_Q the performance deteriorates".to_owned(),
                ours: format!("error {few:.5} at N_Q = {}, {many:.5} at {}", sizes[0], sizes[sizes.len() - 1]),
                agrees: few > 1.05 * many,
            },
            Claim {
                theirs: "With as many query points as effective parameters the committee is as good as one process".to_owned(),
                ours: format!("P_eff = {effective:.0}; from there on the error is at most {worst:.2} times that of one process"),
                agrees: worst < 1.1,
            },
        ],
    })
}

/// The right half: 1,000 query points, modules of 1,000, more and more rows.
pub fn right(context: &Context<'_>) -> Result<Reproduction> {
    let (module, asked, repetitions): (usize, usize, u64) = match context.size {
        Size::Paper => (1000, 1000, 3),
        Size::Quick => (50, 60, 2),
    };
    let modules: &[usize] = match context.size {
        Size::Paper => &[1, 2, 4, 8, 15, 30, 60],
        Size::Quick => &[1, 2, 4],
    };
    let mut errors = vec![Vec::new(); modules.len()];
    let mut exact_errors = Vec::new();
    for repetition in 0..repetitions {
        let seed = context.seed + repetition;
        let kernel = prior(validated_width(seed, NOISE)?)?;
        let mut art = Art::new(seed, NOISE);
        let questions = art.questions(asked);
        let mut committee = Committee::new(&kernel, NOISE, questions.inputs()?)?;
        let mut heard = 0;
        for (place, &wanted) in modules.iter().enumerate() {
            while heard < wanted {
                context.watch.check()?;
                let total = modules[modules.len() - 1];
                context.watch.progress(
                    "hearing modules",
                    repetition as usize * total + heard,
                    repetitions as usize * total,
                );
                let data = art.rows(module)?;
                if heard == 0 {
                    let posterior = exact(&kernel, NOISE, data.clone())?;
                    exact_errors.push(questions.error(&exact_means(&posterior, &questions)?));
                }
                committee.hear(&data, module)?;
                heard += 1;
            }
            errors[place].push(questions.error(&committee.means()?));
        }
    }
    let (exact_error, exact_spread) = mean_and_error(&exact_errors);
    let found: Vec<(f64, f64)> = errors.iter().map(|values| mean_and_error(values)).collect();
    let rows_of = |count: usize| (count * module) as f64;
    let points: Vec<(f64, f64)> = modules
        .iter()
        .zip(&found)
        .map(|(&count, &(mean, _))| (rows_of(count), mean))
        .collect();
    let (first, last) = (points[0], points[points.len() - 1]);
    let falling = found.windows(2).all(|pair| pair[1].0 < pair[0].0);
    Ok(Reproduction {
        title: "Error against the number of rows".to_owned(),
        setting: vec![
            format!("Artificial data: 5 inputs, noise of standard deviation {NOISE}; N_Q = {asked} query points, modules of K/M = {module} rows."),
            format!("Mean squared error against the map without noise; mean and standard error of {repetitions} repetitions with other maps and rows. One process sees the first {module} rows."),
            "Squared-exponential prior exp(-|x - x'|^2 / (2 gamma^2)), gamma by a validation set of 100 rows, noise known.".to_owned(),
            "The paper prints the curve without numbers in its text and does not state the noise; what it says about the curve is compared.".to_owned(),
        ],
        labels: Vec::new(),
        columns: vec!["rows", "mse", "mse_standard_error", "mse_exact", "mse_exact_standard_error"],
        rows: modules
            .iter()
            .zip(&found)
            .map(|(&count, &(mean, spread))| vec![rows_of(count), mean, spread, exact_error, exact_spread])
            .collect(),
        curves: vec![
            Curve {
                name: format!("committee, modules of {module}"),
                points,
            },
            Curve {
                name: format!("one process, {module} rows"),
                points: vec![(first.0, exact_error), (last.0, exact_error)],
            },
        ],
        axes: ("training rows K", "mean squared error"),
        logarithmic: (true, true),
        panels: Vec::new(),
        claims: vec![
            Claim {
                theirs: "The committee's error falls as rows are added".to_owned(),
                ours: format!("from {:.6} at K = {} to {:.6} at K = {}", first.1, first.0, last.1, last.0),
                agrees: falling,
            },
            Claim {
                theirs: format!("With K = {} it reaches results unobtainable with one process of K = {module}", last.0),
                ours: format!("an error {:.1} times smaller than that of one process ({exact_error:.6})", exact_error / last.1),
                agrees: last.1 < 0.8 * exact_error,
            },
        ],
    })
}
