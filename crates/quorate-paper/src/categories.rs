//! A table with every kind of column: text with few and with many levels, dates, booleans, numbers, missing cells.

use std::sync::Arc;

use quorate_gp::Result;
use quorate_gp::data::{Column, ColumnType, Frame, Header};

use crate::draw::{Draw, Stream};

/// Names of the sites and what each adds to the target.
const SITES: [(&str, f64); 4] = [
    ("north", 1.0),
    ("east", 0.25),
    ("south", -0.5),
    ("west", -1.25),
];
/// Machines have effects drawn from the function's seed, with this deviation.
const MACHINES: usize = 40;
const MACHINE_DEVIATION: f64 = 0.6;
/// Days from 2023-01-01 to 2024-12-31, counted from 1970-01-01.
const FIRST_DAY: f64 = 19_358.0;
const DAYS: usize = 731;
const YEAR: f64 = 365.25;

/// One column of each kind; the target is
/// site + machine + 1.5 sin(2 pi day / 365.25) + 0.8 open + 1.2 load + 0.4 temperature^2 + noise,
/// with load and temperature standard normal. One cell in ten of load, and one in twenty of temperature and of site, is
/// missing: the value worked on the target but was not written down.
pub fn table(rows: usize, seed: u64, function: u64, noise: f64, with_truth: bool) -> Result<Frame> {
    let mut hidden = Draw::new(function, Stream::Function);
    let effects: [f64; MACHINES] = std::array::from_fn(|_| MACHINE_DEVIATION * hidden.normal());
    let site_names = SITES.map(|(name, _)| Arc::<str>::from(name));
    let machine_names: [Arc<str>; MACHINES] =
        std::array::from_fn(|index| format!("m{:02}", index + 1).into());

    let mut draw = Draw::new(seed, Stream::Rows);
    let (mut sites, mut machines) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    let mut numbers: [Vec<f64>; 6] = std::array::from_fn(|_| Vec::with_capacity(rows));
    for _ in 0..rows {
        let (site, machine) = (draw.below(SITES.len()), draw.below(MACHINES));
        let day = FIRST_DAY + draw.below(DAYS) as f64;
        let open = f64::from(draw.chance(0.7));
        let (load, temperature) = (draw.normal(), draw.normal());
        let truth = SITES[site].1
            + effects[machine]
            + 1.5 * (std::f64::consts::TAU * day / YEAR).sin()
            + 0.8 * open
            + 1.2 * load
            + 0.4 * temperature * temperature;
        let target = truth + noise * draw.normal();
        let mut kept = |value: f64, lost: f64| if draw.chance(lost) { f64::NAN } else { value };
        let cells = [
            day,
            open,
            kept(load, 0.1),
            kept(temperature, 0.05),
            target,
            truth,
        ];
        for (column, cell) in numbers.iter_mut().zip(cells) {
            column.push(cell);
        }
        sites.push((!draw.chance(0.05)).then(|| site_names[site].clone()));
        machines.push(Some(machine_names[machine].clone()));
    }

    let names = [
        "site",
        "machine",
        "day",
        "open",
        "load",
        "temperature",
        "y",
        "truth",
    ];
    let types = [
        ColumnType::Text,
        ColumnType::Text,
        ColumnType::Date,
        ColumnType::Boolean,
        ColumnType::Number,
        ColumnType::Number,
        ColumnType::Number,
        ColumnType::Number,
    ];
    let width = names.len() - usize::from(!with_truth);
    let header = Header {
        source: "categories".into(),
        names: names[..width].iter().map(ToString::to_string).collect(),
        types: types[..width].to_vec(),
    };
    let columns = [Column::Text(sites), Column::Text(machines)]
        .into_iter()
        .chain(numbers.map(Column::Number))
        .take(width)
        .collect();
    Frame::new(Arc::new(header), columns, 1)
}
