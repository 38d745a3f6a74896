//! Steps towards a fixed point that remember where the last ones led.
//!
//! Plain steps leave the same share of the way each time. Combined with the last few so that what is left would be least if the
//! map were linear (Anderson 1965), they need a third to a half as many.

use crate::linalg::dot;

/// Steps that are remembered.
const MEMORY: usize = 6;
/// Share of the squared length of a remembered step by which it is made to count less, so that steps that are nearly parallel do no harm.
const RIDGE: f64 = 1e-12;

/// What the last steps did.
#[derive(Debug, Default)]
pub(super) struct Mixing {
    /// Where the last step set out, and the whole way from there.
    last: Option<(Vec<f64>, Vec<f64>)>,
    /// Differences between subsequent places, and between the ways from there.
    differences: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Mixing {
    /// The next place, from `place` and the whole way from there, of which a plain step goes `share`; `weights` tell how much each
    /// number counts.
    pub fn next(
        &mut self,
        place: Vec<f64>,
        way: Vec<f64>,
        share: f64,
        weights: &[f64],
    ) -> Vec<f64> {
        if let Some((before, old)) = self.last.take() {
            if self.differences.len() == MEMORY {
                self.differences.remove(0);
            }
            let both = (less(&place, &before), less(&way, &old));
            self.differences.push(both);
        }
        let mut next: Vec<f64> = (place.iter().zip(&way))
            .map(|(x, f)| x + share * f)
            .collect();
        for ((moved, bent), amount) in self.differences.iter().zip(self.amounts(&way, weights)) {
            for ((x, dx), df) in next.iter_mut().zip(moved).zip(bent) {
                *x -= amount * (dx + share * df);
            }
        }
        self.last = Some((place, way));
        next
    }

    /// How much of each remembered difference leaves the least of the way, by least squares.
    fn amounts(&self, way: &[f64], weights: &[f64]) -> Vec<f64> {
        let weighed = |own: &[f64]| -> Vec<f64> {
            let both = own.iter().zip(weights);
            both.map(|(x, w)| x * w).collect()
        };
        let columns: Vec<Vec<f64>> = (self.differences.iter())
            .map(|own| weighed(&own.1))
            .collect();
        let goal = weighed(way);
        // A few equations with a positive matrix, eliminated in place.
        let mut rows: Vec<Vec<f64>> = (0..columns.len())
            .map(|i| {
                let products = columns.iter().map(|own| dot(&columns[i], own));
                let mut row: Vec<f64> = products.collect();
                row[i] *= 1.0 + RIDGE;
                row.push(dot(&columns[i], &goal));
                row
            })
            .collect();
        for pivot in 0..rows.len() {
            let own = rows[pivot].clone();
            if own[pivot].is_nan() || own[pivot] <= 0.0 {
                return Vec::new();
            }
            for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
                let factor = row[pivot] / own[pivot];
                row.iter_mut().zip(&own).for_each(|(x, y)| *x -= factor * y);
            }
        }
        let solved = rows.iter().enumerate();
        solved.map(|(i, row)| row[columns.len()] / row[i]).collect()
    }
}

fn less(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(x, y)| x - y).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map of five numbers that leaves 95 % of the way along one direction and turns others around.
    fn way(place: &[f64]) -> Vec<f64> {
        let rates = [0.95, 0.6, -0.9, 0.3, 0.8];
        let goals = [3.0, -1.0, 0.5, 2.0, 7.0];
        let each = place.iter().zip(rates).zip(goals);
        each.map(|((x, rate), goal)| (1.0 - rate) * (goal - x))
            .collect()
    }

    #[test]
    fn a_linear_map_is_solved_in_as_many_steps_as_it_has_directions() {
        let mut mixing = Mixing::default();
        let mut place = vec![0.0; 5];
        for _ in 0..7 {
            let whole = way(&place);
            place = mixing.next(place, whole, 0.7, &[1.0, 2.0, 0.5, 1.0, 1.0]);
        }
        let left = way(&place).iter().fold(0.0f64, |most, x| most.max(x.abs()));
        assert!(left < 1e-8, "{left}");
    }

    #[test]
    fn a_place_that_does_not_move_stays() {
        let mut mixing = Mixing::default();
        let mut place = vec![1.0; 3];
        for _ in 0..4 {
            place = mixing.next(place, vec![0.0; 3], 1.0, &[1.0; 3]);
        }
        assert_eq!(place, [1.0; 3]);
    }
}
