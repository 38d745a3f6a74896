//! Votes about classes (Tresp 2001, *Committee Machines*, 2.1).

/// The class with the largest `sum_i g_i f_i,class`; the first of several. `shares` has a row for each member: its
/// probability, or its vote, for every class.
pub fn weighted_vote(shares: &[Vec<f64>], weights: &[f64]) -> Option<usize> {
    let classes = shares.first()?.len();
    let total = |class: usize| -> f64 {
        let votes = shares.iter().zip(weights);
        votes.map(|(own, weight)| weight * own[class]).sum()
    };
    let totals: Vec<f64> = (0..classes).map(total).collect();
    largest(&totals)
}

/// The class that most members decide for; the first of several.
pub fn majority(shares: &[Vec<f64>]) -> Option<usize> {
    let decided: Vec<Vec<f64>> = shares
        .iter()
        .map(|own| {
            let decision = largest(own);
            (0..own.len())
                .map(|class| f64::from(u8::from(Some(class) == decision)))
                .collect()
        })
        .collect();
    weighted_vote(&decided, &vec![1.0; decided.len()])
}

/// Place of the largest number; the first of several.
pub(crate) fn largest(numbers: &[f64]) -> Option<usize> {
    let mut best = None;
    for (place, &number) in numbers.iter().enumerate() {
        if best.is_none_or(|(_, most)| number > most) {
            best = Some((place, number));
        }
    }
    best.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_and_probabilities_may_vote_differently() {
        let shares = vec![vec![0.9, 0.1], vec![0.4, 0.6], vec![0.45, 0.55]];
        assert_eq!(majority(&shares), Some(1));
        assert_eq!(weighted_vote(&shares, &[1.0, 1.0, 1.0]), Some(0));
        assert_eq!(weighted_vote(&shares, &[0.1, 1.0, 1.0]), Some(1));
        assert_eq!(majority(&[]), None);
        assert_eq!(majority(&[vec![0.5, 0.5]]), Some(0));
    }
}
