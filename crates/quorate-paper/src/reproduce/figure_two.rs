//! Classes that overlap more and more, learned online (GBCM, figure 2).

use quorate::Result;
use quorate_gp::data::Dataset;
use quorate_gp::kernel::BoundKernel;
use quorate_gp::watch::Watch;

use super::generalized::{ClassCommittee, log_loss, one_process, percent_correct};
use super::setting::{Art, INPUTS, Questions, scaled_prior};
use super::{Claim, Context, Curve, Reproduction, Size, mean_and_error};

/// Standard deviations of the noise, from no overlap to almost nothing else.
const NOISES: [f64; 8] = [0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0];
/// The prior's variance (GBCM, section 7: A = 10).
pub const AMPLITUDE: f64 = 10.0;
/// Widths gamma of the prior that are compared by a validation set.
pub const WIDTHS: [f64; 7] = [0.3, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0];

pub fn run(context: &Context<'_>) -> Result<Reproduction> {
    let (module, asked, repetitions): (usize, usize, u64) = match context.size {
        Size::Paper => (1000, 1000, 2),
        Size::Quick => (60, 50, 1),
    };
    let (noises, heard): (&[f64], &[usize]) = match context.size {
        Size::Paper => (&NOISES, &[1, 2, 4, 8, 15, 30, 60]),
        Size::Quick => (&[0.0, 8.0], &[1, 3]),
    };
    let most = heard[heard.len() - 1];
    let work = noises.len() * repetitions as usize * most;
    let mut found = Vec::with_capacity(noises.len());
    for (level, &noise) in noises.iter().enumerate() {
        let mut shares = vec![Vec::new(); heard.len()];
        for repetition in 0..repetitions {
            let mut online = Online::new(context.seed + repetition, noise, module, asked)?;
            let mut modules = 0;
            for (place, &wanted) in heard.iter().enumerate() {
                while modules < wanted {
                    let before = (level * repetitions as usize + repetition as usize) * most;
                    context
                        .watch
                        .progress("hearing modules", before + modules, work);
                    online.hear(context.watch)?;
                    modules += 1;
                }
                shares[place].push(online.percent_correct()?);
            }
        }
        found.push(
            shares
                .iter()
                .map(|values| mean_and_error(values))
                .collect::<Vec<_>>(),
        );
    }
    let rows_of = |count: usize| (count * module) as f64;
    let mut table = Vec::new();
    let mut curves = Vec::new();
    for (&noise, shares) in noises.iter().zip(&found) {
        let points = heard.iter().zip(shares);
        curves.push(Curve {
            name: format!("noise {noise}"),
            points: points
                .clone()
                .map(|(&count, share)| (rows_of(count), share.0))
                .collect(),
        });
        table.extend(points.map(|(&count, share)| vec![noise, rows_of(count), share.0, share.1]));
    }
    Ok(Reproduction {
        title: "Classes that overlap, learned online".to_owned(),
        setting: vec![
            format!(
                "Artificial data of App. C: 5 inputs uniform in [-1, 1]; the class is the sign of the map with noise. N_Q = {asked} query points, modules of K/M = {module} rows, heard one after the other."
            ),
            format!(
                "Prior A exp(-|x - x'|^2 / (2 gamma^2)) with A = {AMPLITUDE}; gamma by the log loss of a validation set of 100 rows under one process over {} rows. Every module is expanded at its own mode (Laplace).",
                module / 2
            ),
            format!(
                "Percent correct against the class of the map without noise: with noise 8 nobody could predict more than about 54 % of noisy classes, and the paper tells more than 70 %. Mean and standard error of {repetitions} repetitions with other maps and rows."
            ),
        ],
        labels: Vec::new(),
        columns: vec!["noise", "rows", "percent_correct", "standard_error"],
        rows: table,
        curves,
        axes: ("training rows K", "percent correct"),
        logarithmic: (true, false),
        panels: Vec::new(),
        claims: claims(noises, &found, rows_of(most)),
    })
}

/// A committee that hears a map module after module.
pub struct Online {
    art: Art,
    questions: Questions,
    committee: ClassCommittee,
    module: usize,
}

impl Online {
    pub fn new(seed: u64, noise: f64, module: usize, asked: usize) -> Result<Self> {
        let kernel = validated_prior(seed, noise, module / 2)?;
        Self::under(&kernel, seed, noise, module, asked)
    }

    /// Under a prior that nothing was asked about.
    pub fn under(
        kernel: &BoundKernel,
        seed: u64,
        noise: f64,
        module: usize,
        asked: usize,
    ) -> Result<Self> {
        let mut art = Art::new(seed, noise);
        let questions = art.questions(asked);
        let committee = ClassCommittee::new(kernel, questions.inputs()?)?;
        Ok(Self {
            art,
            questions,
            committee,
            module,
        })
    }

    pub fn hear(&mut self, watch: &dyn Watch) -> Result<()> {
        watch.check()?;
        let rows = self.art.rows(self.module)?;
        self.committee.hear(classes(&rows)?)
    }

    /// Against the class of the map without noise.
    pub fn percent_correct(&self) -> Result<f64> {
        let means = self.committee.means()?;
        Ok(percent_correct(&means, &self.questions.truth))
    }
}

/// Rows with the class as their target.
fn classes(rows: &Dataset) -> Result<Dataset> {
    let targets = rows
        .members()
        .iter()
        .map(|member| f64::from(member.target > 0.0));
    let values = rows
        .members()
        .iter()
        .flat_map(|member| rows.inputs().row(member.group));
    Ok(Dataset::new(
        values.copied().collect(),
        INPUTS,
        targets.collect(),
        None,
        None,
    )?)
}

fn validated_prior(seed: u64, noise: f64, rows: usize) -> Result<BoundKernel> {
    let mut art = Art::new(seed, noise);
    let (data, validation) = (classes(&art.rows(rows)?)?, classes(&art.rows(100)?)?);
    let mut best: Option<(f64, BoundKernel)> = None;
    for width in WIDTHS {
        let kernel = scaled_prior(INPUTS, AMPLITUDE, width)?;
        let loss = log_loss(
            &one_process(&kernel, data.clone())?.latents(validation.inputs())?,
            &validation,
        )?;
        if best.as_ref().is_none_or(|(least, _)| loss < *least) {
            best = Some((loss, kernel));
        }
    }
    match best {
        Some((_, kernel)) => Ok(kernel),
        None => scaled_prior(INPUTS, AMPLITUDE, 1.0),
    }
}

fn claims(noises: &[f64], found: &[Vec<(f64, f64)>], most: f64) -> Vec<Claim> {
    let ends = |level: usize| (found[level][0].0, found[level][found[level].len() - 1].0);
    let mut claims = Vec::new();
    let (first, last) = ends(0);
    claims.push(Claim {
        theirs: "Without overlap the share is less than 95 % at K = 1,000".to_owned(),
        ours: format!("{first:.1} %"),
        agrees: first < 95.0,
    });
    claims.push(Claim {
        theirs: "Without overlap it is more than 98.5 % at K = 60,000".to_owned(),
        ours: format!("{last:.1} % at K = {most}"),
        agrees: last > 98.5,
    });
    let (first, last) = ends(noises.len() - 1);
    claims.push(Claim {
        theirs: "With noise 8 it is less than 50 % at K = 1,000".to_owned(),
        ours: format!("{first:.1} %"),
        agrees: first < 50.0,
    });
    claims.push(Claim {
        theirs: "With noise 8 it is more than 70 % at K = 60,000".to_owned(),
        ours: format!("{last:.1} % at K = {most}"),
        agrees: last > 70.0,
    });
    // Curves that end within a percent point of each other are not told apart by a thousand query points.
    let ordered = found.windows(2).all(|pair| {
        let end = |shares: &[(f64, f64)]| shares.last().map_or(0.0, |end| end.0);
        end(&pair[0]) + 1.0 >= end(&pair[1])
    });
    let rising = (0..noises.len()).all(|level| ends(level).1 > ends(level).0);
    claims.push(Claim {
        theirs: "Every curve rises, and more overlap is worse".to_owned(),
        ours: format!(
            "rising: {}, ordered at the end: {}",
            yes(rising),
            yes(ordered)
        ),
        agrees: rising && ordered,
    });
    claims
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "no" }
}
