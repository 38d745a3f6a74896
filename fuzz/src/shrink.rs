//! Making a failing input shorter, so that a person sees what matters in it.

/// A shorter input that still fails: cuts out ever smaller pieces as long as that helps, within so many attempts.
pub fn shrink(input: &[u8], attempts: usize, mut fails: impl FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut best = input.to_vec();
    let mut left = attempts;
    let mut size = best.len().div_ceil(2);
    while size > 0 && left > 0 {
        let before = best.len();
        let mut at = 0;
        while at < best.len() && left > 0 {
            let mut shorter = best.clone();
            shorter.drain(at..(at + size).min(best.len()));
            left -= 1;
            if fails(&shorter) {
                best = shorter;
            } else {
                at += size;
            }
        }
        if best.len() == before || size > best.len() {
            size /= 2;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_cut_away() {
        let long = b"a long beginning [ and more ( and an end of no importance".to_vec();
        let fails = |bytes: &[u8]| bytes.contains(&b'[') && bytes.contains(&b'(');
        assert_eq!(shrink(&long, 5_000, fails), b"[(");
    }

    #[test]
    fn an_input_that_cannot_be_shortened_stays() {
        assert_eq!(shrink(b"abc", 1_000, |bytes| bytes == b"abc"), b"abc");
        assert_eq!(shrink(b"", 1_000, |_| true), b"");
    }
}
