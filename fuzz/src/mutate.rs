//! Ways of damaging bytes that leave some of their structure standing.

use crate::random::Random;

/// Inputs do not grow beyond this many bytes: long ones are slow and seldom teach more.
pub const LONGEST: usize = 1 << 16;

/// Numbers at the edges of what a reader of lengths, counts and offsets expects.
const EDGES: &[u64] = &[
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    u64::MAX,
];

/// A damaged copy of `input`: one to eight random changes, pieces of `other` and of the `words` among them.
pub fn mutate(input: &[u8], other: &[u8], words: &[&[u8]], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    // Mostly one or two changes: more of them seldom leave anything that reads at all.
    let changes = 1 + random.bits().trailing_ones().min(7);
    for _ in 0..changes {
        change(&mut bytes, other, words, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], words: &[&[u8]], random: &mut Random) {
    match random.below(10) {
        0 => flip_bit(bytes, random),
        1 => set_byte(bytes, random),
        2 => write_edge(bytes, random),
        3 => drop(bytes.drain(piece(bytes.len(), random))),
        4 => bytes.truncate(random.below(bytes.len() + 1)),
        5 => repeat(bytes, random),
        6 => swap_pieces(bytes, random),
        7 => splice(bytes, other, random),
        // Twice as often: words carry most of the structure.
        _ => put_word(bytes, words, random),
    }
}

/// A random range of positions, short ones more likely.
fn piece(length: usize, random: &mut Random) -> std::ops::Range<usize> {
    let start = random.below(length + 1);
    let most = if random.below(4) == 0 { length } else { 16 };
    let end = (start + 1 + random.below(most)).min(length);
    start..end.max(start)
}

fn flip_bit(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set_byte(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte = random.bits() as u8;
    }
}

/// Writes an edge number over 1, 2, 4 or 8 bytes, in little-endian order as all our binary formats have it.
fn write_edge(bytes: &mut [u8], random: &mut Random) {
    let width = 1 << random.below(4);
    let at = random.below(bytes.len());
    let edge = random.choose(EDGES).copied().unwrap_or(0).to_le_bytes();
    for (byte, value) in bytes.iter_mut().skip(at).zip(edge).take(width) {
        *byte = value;
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, new: &[u8]) {
    bytes.splice(at..at, new.iter().copied());
}

/// Repeats a piece a few times, or very often.
fn repeat(bytes: &mut Vec<u8>, random: &mut Random) {
    let range = piece(bytes.len(), random);
    let times = if random.below(8) == 0 {
        200
    } else {
        1 + random.below(4)
    };
    let copy = bytes[range.clone()].repeat(times);
    if bytes.len() + copy.len() <= LONGEST {
        insert(bytes, range.end, &copy);
    }
}

fn swap_pieces(bytes: &mut Vec<u8>, random: &mut Random) {
    let taken: Vec<u8> = bytes.drain(piece(bytes.len(), random)).collect();
    let at = random.below(bytes.len() + 1);
    insert(bytes, at, &taken);
}

/// Our beginning, the other input's end; or a piece of the other somewhere inside.
fn splice(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    if random.below(2) == 0 {
        bytes.truncate(random.below(bytes.len() + 1));
        let from = random.below(other.len() + 1);
        bytes.extend_from_slice(&other[from..]);
    } else {
        let at = random.below(bytes.len() + 1);
        insert(bytes, at, &other[piece(other.len(), random)]);
    }
}

/// Inserts a word, or writes it over what is there.
fn put_word(bytes: &mut Vec<u8>, words: &[&[u8]], random: &mut Random) {
    let word = random.choose(words).copied().unwrap_or(b" ");
    let at = random.below(bytes.len() + 1);
    let end = if random.below(2) == 0 {
        at
    } else {
        (at + word.len()).min(bytes.len())
    };
    bytes.splice(at..end, word.iter().copied());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_damages_in_the_same_way() {
        let damaged = |seed| {
            let mut random = Random::new(seed);
            (0..100)
                .map(|_| mutate(b"se(ard) + linear", b"matern32", &[b"fixed"], &mut random))
                .collect::<Vec<_>>()
        };
        assert_eq!(damaged(4), damaged(4));
        assert_ne!(damaged(4), damaged(5));
    }

    #[test]
    fn empty_and_long_inputs_are_damaged_without_harm() {
        let long = vec![b'x'; LONGEST];
        let mut random = Random::new(9);
        for _ in 0..2_000 {
            assert!(mutate(b"", b"", &[], &mut random).len() <= LONGEST);
            assert!(mutate(&long, b"abc", &[b"word"], &mut random).len() <= LONGEST);
        }
    }

    #[test]
    fn damage_reaches_every_kind_of_change() {
        let input = b"0123456789abcdef";
        let mut random = Random::new(2);
        let damaged: Vec<Vec<u8>> = (0..3_000)
            .map(|_| mutate(input, b"QQQQ", &[b"WORD"], &mut random))
            .collect();
        let holds = |part: &[u8]| {
            damaged
                .iter()
                .any(|d| d.windows(part.len()).any(|w| w == part))
        };
        assert!(holds(b"WORD"));
        assert!(holds(b"QQQ"));
        assert!(holds(&[0xff; 8]));
        assert!(damaged.iter().any(|d| d.len() < 4));
        assert!(damaged.iter().any(|d| d.len() > 200));
    }
}
