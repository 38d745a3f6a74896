//! The summary and the joint committee against the papers' own forms of them.
#![allow(clippy::unwrap_used, clippy::needless_range_loop, missing_docs)]

use crate::common;

use common::double::{Double, Number};
use common::textbook::{self, Answer, PaperPart, Table};
use quorate::gp::data::{ColumnKind, Dataset, InputColumn, Inputs};
use quorate::gp::gaussian::Joint;
use quorate::gp::kernel::{BoundKernel, Covariance, Kernel};
use quorate::gp::likelihood::GaussianNoise;
use quorate::gp::linalg::{JitterPolicy, Matrix};
use quorate::joint::{JointAnswers, JointShape, Member};
use quorate::landmarks::{LandmarkBelief, Landmarks, Summary, SummaryTree};
use quorate::partition::PartedRows;

const NOISE: GaussianNoise = GaussianNoise { variance: 0.1 };

fn kernel(text: &str) -> BoundKernel {
    let column = InputColumn {
        name: "x".into(),
        kind: ColumnKind::Number,
        deviation: 1.0,
    };
    text.parse::<Kernel>().unwrap().bind(&[column]).unwrap()
}

/// One problem: rows in parts, and query points with jitter on the diagonal of their prior.
struct Problem {
    kernel: BoundKernel,
    parts: Vec<Dataset>,
    query: Vec<f64>,
    jitter: f64,
}

impl Problem {
    fn block<N: Number>(&self, a: &[f64], b: &[f64]) -> Table<N> {
        let mut out = Matrix::zeros(a.len(), b.len());
        let inputs = |values| Inputs::new(values, values.len(), 1).unwrap();
        self.kernel.fill(inputs(a), inputs(b), out.as_mut());
        (0..a.len())
            .map(|i| (0..b.len()).map(|j| N::of(out[(i, j)])).collect())
            .collect()
    }

    /// The prior as `Landmarks` factors it: jitter relative to the mean of the diagonal.
    fn prior<N: Number>(&self) -> Table<N> {
        let mut prior: Table<N> = self.block(&self.query, &self.query);
        let absolute = self.landmarks().factor().jitter().absolute;
        for (i, row) in prior.iter_mut().enumerate() {
            row[i] = N::of(row[i].rounded() + absolute);
        }
        prior
    }

    fn paper_parts<N: Number>(&self) -> Vec<PaperPart<N>> {
        let parts = self.parts.iter();
        parts
            .map(|part| {
                let places = part.inputs().values();
                let mut own: Table<N> = self.block(places, places);
                for (i, row) in own.iter_mut().enumerate() {
                    row[i] = row[i] + N::of(NOISE.variance);
                }
                PaperPart {
                    own,
                    cross: self.block(&self.query, places),
                    targets: part.targets().iter().map(|y| vec![N::of(*y)]).collect(),
                }
            })
            .collect()
    }

    fn landmarks(&self) -> Landmarks {
        let query = Inputs::new(&self.query, self.query.len(), 1).unwrap();
        let policy = JitterPolicy {
            start: self.jitter,
            first: self.jitter,
            last: self.jitter,
        };
        Landmarks::with_jitter(self.kernel.clone(), query, policy).unwrap()
    }

    fn answer(&self, opinion: impl Fn(&Landmarks, &Dataset) -> Summary) -> Joint {
        let landmarks = self.landmarks();
        let mut tree = SummaryTree::default();
        for part in &self.parts {
            tree.push(opinion(&landmarks, part)).unwrap();
        }
        let total = tree.total(self.query.len()).unwrap();
        // f(Z) = L v itself: mean L B^-1 b, covariance L B^-1 L'.
        let size = self.query.len();
        let lower = landmarks
            .factor()
            .colour(Matrix::identity(size, size).as_ref());
        let belief = LandmarkBelief::new(landmarks, &total).unwrap();
        let mut root = lower.transpose().to_owned();
        belief.factor().whiten(root.as_mut());
        Joint {
            mean: &lower * belief.weights(),
            covariance: root.transpose() * &root,
        }
    }

    fn summary(&self) -> Joint {
        self.answer(|landmarks, part| Summary::of_part(landmarks, NOISE, part).unwrap())
    }

    /// The same through members that are factored once.
    fn members(&self) -> Joint {
        self.answer(|landmarks, part| {
            let member = Member::new(&self.kernel, NOISE, part.clone()).unwrap();
            member.opinion(landmarks).unwrap()
        })
    }
}

fn part(from: usize, to: usize) -> Dataset {
    let places: Vec<f64> = (from..to).map(|i| (i as f64 * 0.77).sin() * 2.0).collect();
    let targets = places
        .iter()
        .map(|x| (1.7 * x).sin() + 0.1 * (11.0 * x).cos());
    Dataset::new(places.clone(), 1, targets.collect(), None, None).unwrap()
}

/// Greatest differences of means and of covariances.
fn distance<N: Number>(ours: &Joint, theirs: &Answer<N>) -> (f64, f64) {
    let size = theirs.mean.len();
    let (mut mean, mut covariance) = (0.0f64, 0.0f64);
    for i in 0..size {
        mean = mean.max((ours.mean[(i, 0)] - theirs.mean[i][0].rounded()).abs());
        for j in 0..size {
            let difference = ours.covariance[(i, j)] - theirs.covariance[i][j].rounded();
            covariance = covariance.max(difference.abs());
        }
    }
    (mean, covariance)
}

#[test]
fn every_form_of_the_committee_agrees_on_a_well_conditioned_problem() {
    let problem = Problem {
        kernel: kernel("1.2 * matern32(length_scale=0.6)"),
        parts: vec![part(0, 9), part(9, 22), part(22, 40), part(40, 47)],
        query: (0..12).map(|i| f64::from(i) * 0.4 - 2.2).collect(),
        jitter: 0.0,
    };
    let (prior, parts) = (problem.prior::<f64>(), problem.paper_parts());
    let forms = [
        ("eq. 4-5", textbook::sum_of_inverses(&prior, &parts, false)),
        ("sec. 6.2", textbook::recursion(&prior, &parts)),
        ("eq. 14-15", textbook::likelihood_form(&prior, &parts)),
        ("App. B", textbook::likelihood_filter(&prior, &parts)),
    ];
    for (ours, what) in [
        (problem.summary(), "summary"),
        (problem.members(), "members"),
    ] {
        for (name, form) in &forms {
            let (mean, covariance) = distance(&ours, form);
            assert!(mean < 1e-11, "{what}, {name}: {mean:e}");
            assert!(covariance < 1e-11, "{what}, {name}: {covariance:e}");
        }
    }
}

#[test]
fn the_committee_with_a_negligible_prior_is_eq_12_without_it() {
    let problem = Problem {
        kernel: kernel("1.2 * matern32(length_scale=0.6)"),
        parts: vec![part(0, 9), part(9, 22), part(22, 40)],
        query: (0..12).map(|i| f64::from(i) * 0.4 - 2.2).collect(),
        jitter: 0.0,
    };
    let expected = textbook::sum_of_inverses(&problem.prior::<f64>(), &problem.paper_parts(), true);
    let lists = [(0..9).collect(), (9..22).collect(), (22..40).collect()];
    let rows = PartedRows::new(part(0, 40), &lists);
    let shape = JointShape {
        part_size: 20,
        questions: 20,
        companions: 0,
        prior: false,
    };
    let joint = JointAnswers::new(problem.kernel.clone(), NOISE, &rows, shape).unwrap();
    let query = Inputs::new(&problem.query, 12, 1).unwrap();
    let (mean, covariance) = distance(&joint.joint(query).unwrap(), &expected);
    assert!(
        mean < 1e-11 && covariance < 1e-11,
        "{mean:e}, {covariance:e}"
    );
}

/// Sixty query points a thirtieth of a length scale apart: their prior is singular to rounding, and so is every inverse
/// that the textbook adds. The reference is the textbook in numbers of 32 digits.
#[test]
fn the_summary_stays_right_on_sixty_close_query_points_where_the_sum_of_inverses_fails() {
    for (jitter, fails_by) in [(1e-14, 1e-3), (1e-12, 1e-5), (1e-10, 1e-7)] {
        let problem = Problem {
            kernel: kernel("se(length_scale=1)"),
            parts: vec![part(0, 15), part(15, 40), part(40, 60)],
            query: (0..60).map(|i| f64::from(i) / 30.0 - 1.0).collect(),
            jitter,
        };
        let exact =
            textbook::sum_of_inverses::<Double>(&problem.prior(), &problem.paper_parts(), false);
        let naive =
            textbook::sum_of_inverses::<f64>(&problem.prior(), &problem.paper_parts(), false);
        let naive: f64 = (0..60)
            .map(|i| (naive.mean[i][0] - exact.mean[i][0].rounded()).abs())
            .fold(0.0, f64::max);
        let (summary, of_summary) = distance(&problem.summary(), &exact);
        let (members, of_members) = distance(&problem.members(), &exact);
        println!(
            "jitter {jitter:e}: eq. 4-5 {naive:.1e}, summary {summary:.1e} and {of_summary:.1e}, members {members:.1e} and {of_members:.1e}"
        );
        assert!(naive > fails_by, "{jitter:e}: {naive:e}");
        // Pivots as small as the root of the jitter divide sums of 60 rounded terms.
        let rounding = 60.0 * f64::EPSILON / jitter.sqrt();
        for error in [summary, of_summary, members, of_members] {
            assert!(error < rounding, "{jitter:e}: {error:e}");
        }
    }
}

#[test]
fn twice_the_digits_are_there() {
    let third = Double::of(1.0) / Double::of(3.0);
    let rest = third * Double::of(3.0) - Double::of(1.0);
    assert!(rest.rounded().abs() < 1e-31);
    let small = Double::of(1.0) + Double::of(1e-25) - Double::of(1.0);
    assert!((small.rounded() - 1e-25).abs() < 1e-40);
}
