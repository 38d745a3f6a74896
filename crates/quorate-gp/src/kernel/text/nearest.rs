//! The nearest known name to a misspelt one.

/// Longest name compared in full; a longer one is surely not a misspelling of ours.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, when it is near enough to be what was meant.
pub(in crate::kernel) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let word: Vec<char> = word
        .chars()
        .flat_map(char::to_lowercase)
        .take(LONGEST + 1)
        .collect();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (distance(&word, candidate), candidate))
        .filter(|(distance, candidate)| {
            let length = word.len().max(candidate.chars().count());
            *distance <= 1 + length / 4 && *distance < length
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ` (did you mean `x`?)`, or nothing.
pub(in crate::kernel) fn suggestion<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    match nearest(word, candidates) {
        Some(candidate) => format!(" (did you mean `{candidate}`?)"),
        None => String::new(),
    }
}

/// Number of insertions, deletions, replacements and swaps of neighbours between the words
/// (optimal string alignment, Damerau 1964).
fn distance(word: &[char], candidate: &str) -> usize {
    let other: Vec<char> = candidate
        .chars()
        .flat_map(char::to_lowercase)
        .take(2 * LONGEST)
        .collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, &a) in word.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &b) in other.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b))
                .min(last[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && a == other[j - 1] && word[i - 1] == b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_finds_its_neighbour() {
        let names = ["se", "matern12", "matern32", "linear", "category"];
        assert_eq!(nearest("matern23", names), Some("matern32"));
        assert_eq!(nearest("Linaer", names), Some("linear"));
        assert_eq!(nearest("catgory", names), Some("category"));
        assert_eq!(nearest("wavelet", names), None);
        assert_eq!(nearest("", names), None);
    }
}
