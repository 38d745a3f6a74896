//! Which questions share an expert.
//!
//! Questions that stand close have most of their nearest rows in common: an expert that knows the nearest rows of all of
//! them costs little more than one that knows those of a single question, and every question gains from the rows of the
//! others. Questions that stand apart have nothing in common, and are better off alone.

use crate::space::balanced_cells;

/// Questions are shared out when two experts would take less than this part of the work of one: halves of questions
/// with nothing in common take a quarter, of questions with everything in common twice the work.
const WORTH: f64 = 0.4;

/// Questions, by number, and the rows that answer them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    pub questions: Vec<u32>,
    pub rows: Vec<usize>,
}

/// Points of the questions, and the rows nearest to each.
pub(super) struct Crowd<'a> {
    pub points: &'a [f64],
    pub dimension: usize,
    /// Directions across which questions may be shared out.
    pub directions: usize,
    /// Rows an expert may know before its questions are shared out between two.
    pub most_rows: usize,
}

impl Crowd<'_> {
    /// Shares questions out to as many experts as pay; `nearest(place)` are the rows of the question at that place of
    /// `questions`.
    pub fn share(&self, questions: &[u32], nearest: &[Vec<usize>]) -> Vec<Shared> {
        let places: Vec<usize> = (0..questions.len()).collect();
        let mut experts = Vec::new();
        let mut pending = vec![(rows_of(nearest, &places), places)];
        while let Some((rows, places)) = pending.pop() {
            match self.halves(&places, questions, nearest, rows.len()) {
                // The first half is taken up first, so that experts come in the order of the cells.
                Some([first, second]) => pending.extend([second, first]),
                None => experts.push(Shared {
                    questions: places.iter().map(|&place| questions[place]).collect(),
                    rows,
                }),
            }
        }
        experts
    }

    /// The two halves of some questions with their rows, where two experts are better than one.
    fn halves(
        &self,
        places: &[usize],
        questions: &[u32],
        nearest: &[Vec<usize>],
        rows: usize,
    ) -> Option<[(Vec<usize>, Vec<usize>); 2]> {
        if places.len() < 2 || self.dimension == 0 {
            return None;
        }
        let own = places.iter().flat_map(|&place| {
            let first = questions[place] as usize * self.dimension;
            &self.points[first..first + self.dimension]
        });
        let own: Vec<f64> = own.copied().collect();
        let size = places.len().div_ceil(2);
        let (order, cells) = balanced_cells(&own, self.dimension, self.directions, size);
        let half = |cell: usize| -> (Vec<usize>, Vec<usize>) {
            let members = &order[cells[cell].start..cells[cell].end];
            let places: Vec<usize> = members.iter().map(|&own| places[own as usize]).collect();
            (rows_of(nearest, &places), places)
        };
        let halves = [half(0), half(1)];
        let work = |rows: usize| (rows as f64).powi(3);
        let apart: f64 = halves.iter().map(|(rows, _)| work(rows.len())).sum();
        (rows > self.most_rows || apart < WORTH * work(rows)).then_some(halves)
    }
}

/// The rows that are nearest to the questions at some places.
fn rows_of(nearest: &[Vec<usize>], places: &[usize]) -> Vec<usize> {
    union(places.iter().map(|&place| nearest[place].iter().copied()))
}

/// All rows that are nearest to some questions, in order.
pub(super) fn union(nearest: impl Iterator<Item = impl IntoIterator<Item = usize>>) -> Vec<usize> {
    let mut rows: Vec<usize> = nearest.flatten().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions on a line, each with the rows around its place.
    fn shared(places: &[f64], width: usize) -> Vec<Shared> {
        let nearest: Vec<Vec<usize>> = places
            .iter()
            .map(|place| (0..width).map(|row| *place as usize + row).collect())
            .collect();
        let questions: Vec<u32> = (0..places.len() as u32).collect();
        let crowd = Crowd {
            points: places,
            dimension: 1,
            directions: 1,
            most_rows: 2000,
        };
        crowd.share(&questions, &nearest)
    }

    #[test]
    fn questions_close_together_share_one_expert() {
        let found = shared(&[3.0, 1.0, 2.0, 0.0], 100);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].questions, [0, 1, 2, 3]);
        assert_eq!(found[0].rows, (0..103).collect::<Vec<_>>());
    }

    #[test]
    fn questions_far_apart_stand_alone_and_neighbours_stay_together() {
        let found = shared(&[5000.0, 0.0, 1.0, 9000.0], 100);
        let mut questions: Vec<Vec<u32>> = found.iter().map(|one| one.questions.clone()).collect();
        questions.sort();
        assert_eq!(questions, [vec![0], vec![1, 2], vec![3]]);
        let mut rows: Vec<usize> = found.iter().map(|one| one.rows.len()).collect();
        rows.sort_unstable();
        assert_eq!(rows, [100, 100, 101]);
    }

    #[test]
    fn no_expert_of_several_questions_knows_too_many_rows() {
        let places: Vec<f64> = (0..32).map(|place| 150.0 * f64::from(place)).collect();
        let found = shared(&places, 600);
        assert!(found.len() > 1);
        assert!(found.iter().all(|one| one.rows.len() <= 2000));
        let mut all: Vec<u32> = found.iter().flat_map(|one| one.questions.clone()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..32).collect::<Vec<_>>());
    }
}
