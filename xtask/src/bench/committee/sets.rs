//! The tables of the comparison, how their rows are divided, and the score to reach on each.

/// How the rows of a table are divided.
pub enum Split {
    /// So many training and test rows, drawn at random under the seed.
    Random(usize, usize),
    /// The division that the index of the data names.
    Index,
}

/// One table of the comparison.
pub struct Table {
    /// Its name in the results.
    pub name: &'static str,
    /// Its file in the data folder.
    pub file: &'static str,
    pub split: Split,
    /// The largest negative log predictive density that is good enough, in standardised units.
    pub goal: Option<f64>,
}

const fn random(
    name: &'static str,
    file: &'static str,
    rows: (usize, usize),
    goal: Option<f64>,
) -> Table {
    Table {
        name,
        file,
        split: Split::Random(rows.0, rows.1),
        goal,
    }
}

const fn index(name: &'static str, file: &'static str, goal: Option<f64>) -> Table {
    Table {
        name,
        file,
        split: Split::Index,
        goal,
    }
}

/// Nine tenths of the rows train where the division is random.
pub const TABLES: [Table; 12] = [
    random("elevators", "elevators.parquet", (14939, 1660), Some(0.37)),
    random("pol", "pol.parquet", (13500, 1500), Some(-1.36)),
    random("bike", "bike.parquet", (15641, 1738), Some(-4.5)),
    random("california", "california.csv.gz", (18576, 2064), Some(0.38)),
    random("kin40k-10000", "kin40k.parquet", (10000, 30000), None),
    random("kin40k", "kin40k.parquet", (36000, 4000), Some(-1.25)),
    random("protein", "protein.parquet", (41157, 4573), Some(0.60)),
    random(
        "keggdirected",
        "keggdirected.parquet",
        (43944, 4883),
        Some(-1.09),
    ),
    index("scatterometry", "scatterometry.parquet", Some(-2.06)),
    random(
        "satellite_temps",
        "satellite_temps.parquet",
        (133478, 14831),
        Some(-0.73),
    ),
    index("satellite_temps-index", "satellite_temps.parquet", None),
    index("nycflights", "nycflights.parquet", Some(1.19)),
];

/// Who takes part in a routine run: we, and peers by their names in `peers.py`.
pub const TOOLS: [&str; 6] = [
    "quorate",
    "gpboost-vecchia",
    "gpytorch-svgp-m32-20",
    "gpytorch-svgp-m32-100",
    "muygps",
    "lightgbm-quantile",
];
