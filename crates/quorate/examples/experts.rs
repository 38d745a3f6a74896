//! One process, noise that depends on the inputs, and a mixture, on random splits of a table.
//!
//!     cargo run --release -p quorate --example experts -- TABLE EXPERTS SPLITS
//!
//! The last column is the target; a quarter of the rows is held out in each split. Prints the mean of the negative log density and
//! the share of targets inside 95 % intervals of each, with its standard error over the splits.

use std::error::Error;
use std::path::Path;

use quorate::gp::data::{random_rows, read_all};
use quorate::gp::watch::Unwatched;
use quorate::{LikelihoodChoice, MethodChoice, Model, ModelSpec, TaskChoice};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [table, experts, splits] = &words[..] else {
        return Err("usage: experts TABLE EXPERTS SPLITS".into());
    };
    let mut source = quorate_table::open(Path::new(table), &Default::default())?;
    let table = read_all(source.as_mut())?;
    let target = table.header.names.last().ok_or("the table has no column")?;
    let plain = ModelSpec {
        task: TaskChoice::Regression,
        ..ModelSpec::new(target)
    };
    let noisy = ModelSpec {
        likelihood: LikelihoodChoice::Heteroscedastic,
        ..plain.clone()
    };
    let mixed = ModelSpec {
        method: MethodChoice::Mixture,
        experts: Some(experts.parse()?),
        ..plain.clone()
    };
    let mut scores: [Vec<(f64, f64)>; 3] = Default::default();
    for seed in 0..splits.parse()? {
        let held = random_rows(table.rows(), table.rows() / 4, seed);
        let others: Vec<usize> = (0..table.rows())
            .filter(|row| held.binary_search(row).is_err())
            .collect();
        let (train, test) = (table.select_rows(&others), table.select_rows(&held));
        for (all, spec) in scores.iter_mut().zip([&plain, &noisy, &mixed]) {
            let own = Model::fit(spec, &train, &Unwatched)?.evaluate(&test)?;
            all.push((own.nlpd, own.coverage_95));
        }
    }
    for (name, all) in ["one process", "noise process", "mixture"]
        .iter()
        .zip(&scores)
    {
        let of = |pick: fn(&(f64, f64)) -> f64| {
            let count = all.len() as f64;
            let mean = all.iter().map(pick).sum::<f64>() / count;
            let squares: f64 = all.iter().map(|own| (pick(own) - mean).powi(2)).sum();
            (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
        };
        let (nlpd, inside) = (of(|own| own.0), of(|own| own.1));
        println!(
            "{name}: NLPD {:.3} +- {:.3}, in 95 % intervals {:.1} +- {:.1} %",
            nlpd.0,
            nlpd.1,
            100.0 * inside.0,
            100.0 * inside.1
        );
    }
    Ok(())
}
