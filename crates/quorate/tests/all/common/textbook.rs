//! The committee as the papers print it (Tresp 2000, *The Generalized Bayesian Committee Machine*), with inverses, for
//! any kind of number. Slow and fragile: what the summary must agree with where both can be trusted.

use super::double::Number;

/// Rows of numbers.
pub type Table<N> = Vec<Vec<N>>;

/// What an answer needs of one part.
pub struct PaperPart<N> {
    /// `Sigma^mm + Psi^mm`.
    pub own: Table<N>,
    /// `Sigma^qm`, queries x rows.
    pub cross: Table<N>,
    /// `y`, one column.
    pub targets: Table<N>,
}

/// Mean (one column) and covariance at the query points.
pub struct Answer<N> {
    pub mean: Table<N>,
    pub covariance: Table<N>,
}

pub fn identity<N: Number>(size: usize) -> Table<N> {
    let entry = |i: usize, j: usize| N::of(if i == j { 1.0 } else { 0.0 });
    (0..size)
        .map(|i| (0..size).map(|j| entry(i, j)).collect())
        .collect()
}

pub fn times<N: Number>(a: &Table<N>, b: &Table<N>) -> Table<N> {
    a.iter()
        .map(|row| {
            (0..b[0].len())
                .map(|j| {
                    let terms = row.iter().zip(b).map(|(x, other)| *x * other[j]);
                    terms.fold(N::of(0.0), |sum, term| sum + term)
                })
                .collect()
        })
        .collect()
}

pub fn transposed<N: Number>(a: &Table<N>) -> Table<N> {
    (0..a[0].len())
        .map(|j| a.iter().map(|row| row[j]).collect())
        .collect()
}

/// `a + scale * b`.
pub fn plus<N: Number>(a: &Table<N>, scale: f64, b: &Table<N>) -> Table<N> {
    let row = |(x, y): (&Vec<N>, &Vec<N>)| {
        let pairs = x.iter().zip(y);
        pairs.map(|(x, y)| *x + N::of(scale) * *y).collect()
    };
    a.iter().zip(b).map(row).collect()
}

/// Gauss-Jordan elimination with partial pivoting.
pub fn inverse<N: Number>(a: &Table<N>) -> Table<N> {
    let n = a.len();
    let mut rows: Table<N> = a
        .iter()
        .zip(identity(n))
        .map(|(row, unit)| row.iter().copied().chain(unit).collect())
        .collect();
    for pivot in 0..n {
        let size = |row: usize| rows[row][pivot].rounded().abs();
        let best = (pivot..n).max_by(|&x, &y| size(x).total_cmp(&size(y)));
        rows.swap(pivot, best.unwrap());
        let scale = rows[pivot][pivot];
        rows[pivot]
            .iter_mut()
            .for_each(|value| *value = *value / scale);
        let top = rows[pivot].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            if index != pivot {
                let factor = row[pivot];
                let pairs = row.iter_mut().zip(&top);
                pairs.for_each(|(value, above)| *value = *value - factor * *above);
            }
        }
    }
    rows.into_iter().map(|row| row[n..].to_vec()).collect()
}

/// `E(f^q | D^i)` and `cov(f^q | D^i)` of one module (eq. 7-8).
fn module<N: Number>(prior: &Table<N>, part: &PaperPart<N>) -> Answer<N> {
    let gain = times(&part.cross, &inverse(&part.own));
    Answer {
        mean: times(&gain, &part.targets),
        covariance: plus(prior, -1.0, &times(&gain, &transposed(&part.cross))),
    }
}

/// Eq. 4-5; with `negligible_prior`, Committee Machines sec. 4.4: no prior is divided out.
pub fn sum_of_inverses<N: Number>(
    prior: &Table<N>,
    parts: &[PaperPart<N>],
    negligible_prior: bool,
) -> Answer<N> {
    let size = prior.len();
    let divided = if negligible_prior {
        0.0
    } else {
        parts.len() as f64 - 1.0
    };
    let zero = plus(prior, -1.0, prior);
    let mut precision = plus(&zero, -divided, &inverse(prior));
    let mut vector: Table<N> = vec![vec![N::of(0.0)]; size];
    for part in parts {
        let opinion = module(prior, part);
        let weight = inverse(&opinion.covariance);
        vector = plus(&vector, 1.0, &times(&weight, &opinion.mean));
        precision = plus(&precision, 1.0, &weight);
    }
    let covariance = inverse(&precision);
    let mean = times(&covariance, &vector);
    Answer { mean, covariance }
}

/// The recursion of section 6.2. Its covariance is not printed: `(Sigma/k) (Sigma/k - S_k)^-1 S_k`.
pub fn recursion<N: Number>(prior: &Table<N>, parts: &[PaperPart<N>]) -> Answer<N> {
    let mut spread = prior.clone();
    let mut mean: Table<N> = vec![vec![N::of(0.0)]; prior.len()];
    for part in parts {
        let opinion = module(prior, part);
        let sum = plus(&spread, 1.0, &opinion.covariance);
        let gain = times(&spread, &inverse(&sum));
        let surprise = plus(&opinion.mean, -1.0, &mean);
        mean = plus(&mean, 1.0, &times(&gain, &surprise));
        let explained = times(&times(&gain, &sum), &transposed(&gain));
        spread = plus(&spread, -1.0, &explained);
    }
    let zero = plus(prior, -1.0, prior);
    let shared = plus(&zero, 1.0 / parts.len() as f64, prior);
    let correction = times(&shared, &inverse(&plus(&shared, -1.0, &spread)));
    Answer {
        mean: times(&correction, &mean),
        covariance: times(&correction, &spread),
    }
}

/// `A_i` and `cov(y_i | f^q)` (eq. 12-13).
fn likelihood<N: Number>(prior: &Table<N>, part: &PaperPart<N>) -> (Table<N>, Table<N>) {
    let map = times(&transposed(&part.cross), &inverse(prior));
    let covariance = plus(&part.own, -1.0, &times(&map, &part.cross));
    (map, covariance)
}

/// Appendix B, eq. 14-15.
pub fn likelihood_form<N: Number>(prior: &Table<N>, parts: &[PaperPart<N>]) -> Answer<N> {
    let mut precision = inverse(prior);
    let mut vector: Table<N> = vec![vec![N::of(0.0)]; prior.len()];
    for part in parts {
        let (map, covariance) = likelihood(prior, part);
        let weighted = times(&transposed(&map), &inverse(&covariance));
        precision = plus(&precision, 1.0, &times(&weighted, &map));
        vector = plus(&vector, 1.0, &times(&weighted, &part.targets));
    }
    let covariance = inverse(&precision);
    let mean = times(&covariance, &vector);
    Answer { mean, covariance }
}

/// The Kalman filter of Appendix B; the innovation is `y_k - A_k E(f^q | D^{k-1})`.
pub fn likelihood_filter<N: Number>(prior: &Table<N>, parts: &[PaperPart<N>]) -> Answer<N> {
    let mut covariance = prior.clone();
    let mut mean: Table<N> = vec![vec![N::of(0.0)]; prior.len()];
    for part in parts {
        let (map, noise) = likelihood(prior, part);
        let turned = times(&covariance, &transposed(&map));
        let sum = plus(&times(&map, &turned), 1.0, &noise);
        let gain = times(&turned, &inverse(&sum));
        let surprise = plus(&part.targets, -1.0, &times(&map, &mean));
        mean = plus(&mean, 1.0, &times(&gain, &surprise));
        let explained = times(&times(&gain, &sum), &transposed(&gain));
        covariance = plus(&covariance, -1.0, &explained);
    }
    Answer { mean, covariance }
}
