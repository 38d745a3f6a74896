//! Slow, obvious linear algebra: Gaussian elimination with partial pivoting on vectors of rows.

/// Solves `matrix * x = right` for several right-hand sides; also returns the log of the absolute determinant.
pub fn solve(matrix: &[Vec<f64>], right: &[Vec<f64>]) -> (Vec<Vec<f64>>, f64) {
    let n = matrix.len();
    let mut rows: Vec<Vec<f64>> = matrix
        .iter()
        .zip(right)
        .map(|(row, extra)| row.iter().chain(extra).copied().collect())
        .collect();
    let mut log_determinant = 0.0;
    for pivot in 0..n {
        let best =
            (pivot..n).max_by(|&a, &b| rows[a][pivot].abs().total_cmp(&rows[b][pivot].abs()));
        rows.swap(pivot, best.unwrap());
        log_determinant += rows[pivot][pivot].abs().ln();
        let top = rows[pivot].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            if index == pivot {
                continue;
            }
            let factor = row[pivot] / top[pivot];
            for (value, above) in row.iter_mut().zip(&top) {
                *value -= factor * above;
            }
        }
    }
    let solution = rows
        .iter()
        .enumerate()
        .map(|(i, row)| row[n..].iter().map(|value| value / row[i]).collect())
        .collect();
    (solution, log_determinant)
}
