//! Exact nearest rows in scaled space.
//!
//! Points lie in small balanced cells with tight boxes under a binary tree; a query walks the nearer child first and
//! skips every box that is farther than the worst neighbour it holds. Inside a cell, distances run over a
//! feature-major copy, one vector register at a time.

use quorate_gp::data::Inputs;

use super::{ScaledSpace, balanced_cells};

/// Points in a cell.
const CELL: usize = 64;

/// A row and its squared distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// Squared distance in scaled space.
    pub distance: f64,
    /// Row of the data set.
    pub row: u32,
}

/// All rows of a data set, ready to be searched.
#[derive(Clone, Debug)]
pub struct NeighbourSearch {
    space: ScaledSpace,
    dimension: usize,
    numbers: usize,
    category_distances: Vec<f64>,
    /// Row numbers, cell after cell.
    order: Vec<u32>,
    /// Feature-major coordinates of each cell.
    coordinates: Vec<f64>,
    nodes: Vec<Node>,
    /// Lower then upper corner of each node's box, number coordinates only.
    boxes: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    start: usize,
    end: usize,
    /// First of two adjacent children; 0 for a cell.
    children: usize,
}

impl NeighbourSearch {
    /// Prepares the rows for searching in a space.
    pub fn new(space: ScaledSpace, inputs: Inputs<'_>) -> Self {
        let points = space.points(inputs);
        let (dimension, numbers) = (space.dimension(), space.number_dimension());
        let (order, cells) = if dimension == 0 {
            ((0..inputs.rows() as u32).collect(), Vec::new())
        } else {
            balanced_cells(&points, dimension, numbers.max(1), CELL)
        };
        let mut search = Self {
            category_distances: space.category_distances().collect(),
            space,
            dimension,
            numbers,
            coordinates: vec![0.0; order.len() * dimension],
            order,
            nodes: Vec::new(),
            boxes: Vec::new(),
        };
        for cell in &cells {
            let count = cell.end - cell.start;
            let target = &mut search.coordinates[cell.start * dimension..cell.end * dimension];
            for (place, &row) in search.order[cell.start..cell.end].iter().enumerate() {
                for d in 0..dimension {
                    target[d * count + place] = points[row as usize * dimension + d];
                }
            }
        }
        if !cells.is_empty() {
            search.nodes.push(Node {
                start: 0,
                end: 0,
                children: 0,
            });
            search.boxes.resize(2 * numbers, 0.0);
            search.grow(0, &cells);
        }
        search
    }

    /// Fills a node that covers consecutive cells, and its children.
    fn grow(&mut self, node: usize, cells: &[super::Cell]) {
        let (start, end) = (cells[0].start, cells[cells.len() - 1].end);
        self.nodes[node] = Node {
            start,
            end,
            children: 0,
        };
        if cells.len() == 1 {
            let count = end - start;
            for d in 0..self.numbers {
                let values = &self.coordinates[start * self.dimension + d * count..][..count];
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                self.boxes[2 * node * self.numbers + d] = low;
                self.boxes[(2 * node + 1) * self.numbers + d] = high;
            }
            return;
        }
        let children = self.nodes.len();
        self.nodes[node].children = children;
        self.nodes.extend(
            [Node {
                start: 0,
                end: 0,
                children: 0,
            }; 2],
        );
        self.boxes.resize(2 * self.numbers * self.nodes.len(), 0.0);
        let (left, right) = cells.split_at(cells.len() / 2);
        self.grow(children, left);
        self.grow(children + 1, right);
        for d in 0..self.numbers {
            let low = |n: usize| self.boxes[2 * n * self.numbers + d];
            let high = |n: usize| self.boxes[(2 * n + 1) * self.numbers + d];
            let (bottom, top) = (
                low(children).min(low(children + 1)),
                high(children).max(high(children + 1)),
            );
            self.boxes[2 * node * self.numbers + d] = bottom;
            self.boxes[(2 * node + 1) * self.numbers + d] = top;
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.order.len()
    }

    /// The space searched in.
    pub fn space(&self) -> &ScaledSpace {
        &self.space
    }

    /// The `count` rows nearest to a point of the space, nearest first (ties by row number).
    pub fn nearest(&self, point: &[f64], count: usize) -> Vec<Neighbour> {
        let count = count.min(self.order.len());
        if count == 0 {
            return Vec::new();
        }
        if self.nodes.is_empty() {
            let rows = self.order.iter().take(count);
            return rows.map(|&row| Neighbour { distance: 0.0, row }).collect();
        }
        let mut found = Nearest {
            count,
            limit: f64::INFINITY,
            held: Vec::with_capacity(2 * count + CELL),
        };
        let mut distances = [0.0; CELL];
        let mut pending = vec![(self.box_distance(0, point), 0)];
        while let Some((bound, index)) = pending.pop() {
            if bound > found.limit {
                continue;
            }
            let node = self.nodes[index];
            if node.children == 0 {
                self.scan(node, point, &mut distances);
                found.offer(
                    &distances[..node.end - node.start],
                    &self.order[node.start..node.end],
                );
                continue;
            }
            let near = (self.box_distance(node.children, point), node.children);
            let far = (
                self.box_distance(node.children + 1, point),
                node.children + 1,
            );
            let (near, far) = if far.0 < near.0 {
                (far, near)
            } else {
                (near, far)
            };
            pending.push(far);
            pending.push(near);
        }
        found.finish()
    }

    fn box_distance(&self, node: usize, point: &[f64]) -> f64 {
        let low = &self.boxes[2 * node * self.numbers..][..self.numbers];
        let high = &self.boxes[(2 * node + 1) * self.numbers..][..self.numbers];
        low.iter()
            .zip(high)
            .zip(point)
            .map(|((low, high), x)| {
                let outside = (low - x).max(x - high).max(0.0);
                outside * outside
            })
            .sum()
    }

    fn scan(&self, node: Node, point: &[f64], distances: &mut [f64; CELL]) {
        let count = node.end - node.start;
        let cell = &self.coordinates[node.start * self.dimension..node.end * self.dimension];
        let distances = &mut distances[..count];
        distances.fill(0.0);
        for (d, x) in point[..self.numbers].iter().enumerate() {
            for (sum, value) in distances.iter_mut().zip(&cell[d * count..][..count]) {
                let difference = value - x;
                *sum += difference * difference;
            }
        }
        for (c, apart) in self.category_distances.iter().enumerate() {
            let d = self.numbers + c;
            for (sum, value) in distances.iter_mut().zip(&cell[d * count..][..count]) {
                *sum += if *value == point[d] { 0.0 } else { *apart };
            }
        }
    }
}

/// The best so far: up to twice as many as wanted, cut back when full.
struct Nearest {
    count: usize,
    limit: f64,
    held: Vec<Neighbour>,
}

impl Nearest {
    fn offer(&mut self, distances: &[f64], rows: &[u32]) {
        for (&distance, &row) in distances.iter().zip(rows) {
            if distance <= self.limit {
                self.held.push(Neighbour { distance, row });
            }
        }
        if self.held.len() >= 2 * self.count {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.held.len() >= self.count {
            self.held
                .select_nth_unstable_by(self.count - 1, Neighbour::compare);
            self.held.truncate(self.count);
            self.limit = self.held[self.count - 1].distance;
        }
    }

    fn finish(mut self) -> Vec<Neighbour> {
        self.cut();
        self.held.sort_unstable_by(Neighbour::compare);
        self.held
    }
}

impl Neighbour {
    fn compare(a: &Neighbour, b: &Neighbour) -> std::cmp::Ordering {
        a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_gp::data::{ColumnKind, InputColumn};
    use quorate_gp::kernel::Kernel;

    fn space(columns: &[InputColumn], text: &str) -> ScaledSpace {
        let kernel: Kernel = text.parse().expect("kernel text");
        ScaledSpace::of_kernel(&kernel.bind(columns).expect("columns fit"))
    }

    fn column(name: &str, kind: ColumnKind) -> InputColumn {
        InputColumn {
            name: name.into(),
            kind,
            deviation: 1.0,
        }
    }

    #[test]
    fn the_nearest_rows_are_those_of_a_full_scan() {
        let columns = [
            column("a", ColumnKind::Number),
            column("b", ColumnKind::Number),
            column("c", ColumnKind::Category { levels: 3 }),
        ];
        let space = space(
            &columns,
            "se(ard, length_scale=[0.5, 3]) * category(length_scale=2)[c]",
        );
        let rows = 1000;
        let values: Vec<f64> = (0..rows)
            .flat_map(|i| {
                let t = f64::from(i);
                [(t * 0.7).sin(), (t * 1.3).cos() * 2.0, f64::from(i % 3)]
            })
            .collect();
        let inputs = Inputs::new(&values, rows as usize, 3).expect("shape");
        let points = space.points(inputs);
        let search = NeighbourSearch::new(space.clone(), inputs);
        let apart: Vec<f64> = space.category_distances().collect();
        for query in [[0.0, 0.0, 1.0], [5.0, -9.0, 0.0], [0.3, 1.0, 7.0]] {
            let mut all: Vec<Neighbour> = (0..rows as usize)
                .map(|row| {
                    let point = &points[3 * row..3 * row + 3];
                    let numbers = (point[0] - query[0]).powi(2) + (point[1] - query[1]).powi(2);
                    let category = if point[2] == query[2] { 0.0 } else { apart[0] };
                    Neighbour {
                        distance: numbers + category,
                        row: row as u32,
                    }
                })
                .collect();
            all.sort_by(Neighbour::compare);
            for count in [1, 7, 64, 400, 5000] {
                let found = search.nearest(&query, count);
                assert_eq!(found.len(), count.min(1000));
                let same = found
                    .iter()
                    .zip(&all)
                    .all(|(a, b)| a.distance == b.distance);
                assert!(same, "count {count}");
            }
        }
    }
}
