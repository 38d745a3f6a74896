//! Balanced cells: rows cut in half across their widest direction, again and again.

/// Consecutive entries of the order, `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// First entry.
    pub start: usize,
    /// One past the last entry.
    pub end: usize,
}

/// Orders the points so that cells of at most `size` neighbours stand together; returns the order and the cells.
///
/// Halves differ by at most one point, so cells differ by at most one too. Ties are broken by row number: the same
/// points give the same cells.
pub fn balanced_cells(
    points: &[f64],
    dimension: usize,
    directions: usize,
    size: usize,
) -> (Vec<u32>, Vec<Cell>) {
    let rows = points.len().checked_div(dimension).unwrap_or(0);
    let mut order: Vec<u32> = (0..rows as u32).collect();
    let mut cells = Vec::new();
    let mut pending = vec![Cell {
        start: 0,
        end: rows,
    }];
    while let Some(cell) = pending.pop() {
        let count = cell.end - cell.start;
        if count <= size.max(1) {
            if count > 0 {
                cells.push(cell);
            }
            continue;
        }
        let slice = &mut order[cell.start..cell.end];
        let direction = widest(points, dimension, directions, slice);
        let middle = count / 2;
        slice.select_nth_unstable_by(middle, |&a, &b| {
            let value = |row: u32| points[row as usize * dimension + direction];
            value(a).total_cmp(&value(b)).then(a.cmp(&b))
        });
        let cut = cell.start + middle;
        // The left half is taken up first, so cells come out from left to right.
        pending.push(Cell {
            start: cut,
            end: cell.end,
        });
        pending.push(Cell {
            start: cell.start,
            end: cut,
        });
    }
    for cell in &cells {
        order[cell.start..cell.end].sort_unstable();
    }
    (order, cells)
}

fn widest(points: &[f64], dimension: usize, directions: usize, rows: &[u32]) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for direction in 0..directions {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &row in rows {
            let value = points[row as usize * dimension + direction];
            low = low.min(value);
            high = high.max(value);
        }
        if high - low > best.1 {
            best = (direction, high - low);
        }
    }
    best.0
}
