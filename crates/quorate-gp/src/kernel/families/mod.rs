//! The named kernels: what each computes without its variance, and how to make it from its text.

mod basis;
mod category;
mod constant;
mod correlation;
mod linear;
mod network;
mod periodic;
mod profiles;
mod radial;

pub(in crate::kernel) use self::correlation::Correlation;

use std::sync::Arc;

use self::basis::{Basis, Functions};
use self::category::{Embedded, Exchangeable};
use self::constant::Constant;
use self::linear::{Linear, Polynomial};
use self::network::Network;
use self::periodic::Periodic;
use self::profiles::{
    Matern12, Matern32, Matern52, Profile, RationalQuadratic, SquaredExponential,
};
use self::radial::Radial;
use super::text::{Atom, Family, Key};
use crate::data::{ColumnKind, InputColumn};

/// Degree of a polynomial when the text gives none.
const DEGREE: usize = 2;
/// Number of waves when the text gives none.
const WAVES: usize = 3;
/// Period of the waves in standardised units when the text gives none: most rows lie inside one.
const PERIOD: f64 = 4.0;

/// The computation of an atom on its columns.
pub(in crate::kernel) fn correlation(
    atom: &Atom,
    columns: &[usize],
    table: &[InputColumn],
) -> Arc<dyn Correlation> {
    let ard = atom.ard;
    let own = columns.to_vec();
    match atom.family {
        Family::SquaredExponential => radial(SquaredExponential, own, ard),
        Family::Matern12 => radial(Matern12, own, ard),
        Family::Matern32 => radial(Matern32, own, ard),
        Family::Matern52 => radial(Matern52, own, ard),
        Family::RationalQuadratic => radial(RationalQuadratic::default(), own, ard),
        Family::Periodic => Arc::new(periodic(own, ard, table)),
        Family::Linear => Arc::new(Linear { columns: own, ard }),
        Family::Polynomial => Arc::new(Polynomial {
            columns: own,
            degree: atom.whole(Key::Degree).unwrap_or(DEGREE),
        }),
        Family::Constant => Arc::new(Constant),
        Family::Network => Arc::new(Network { columns: own }),
        Family::Basis => Arc::new(basis(atom, own, table)),
        Family::Category => match (atom.whole(Key::Rank), columns) {
            (Some(rank), [column]) => Arc::new(Embedded {
                column: *column,
                levels: levels(&table[*column]),
                rank,
            }),
            _ => Arc::new(Exchangeable { columns: own, ard }),
        },
    }
}

/// Number of levels of a category column.
pub(in crate::kernel) fn levels(column: &InputColumn) -> usize {
    match column.kind {
        ColumnKind::Category { levels } => levels,
        _ => 0,
    }
}

fn radial<P: Profile + 'static>(
    profile: P,
    columns: Vec<usize>,
    ard: bool,
) -> Arc<dyn Correlation> {
    Arc::new(Radial {
        profile,
        columns,
        ard,
    })
}

fn periodic(columns: Vec<usize>, ard: bool, table: &[InputColumn]) -> Periodic {
    let mut count = 0;
    let periods = columns
        .iter()
        .map(|&column| {
            let is_number = table[column].kind == ColumnKind::Number;
            count += usize::from(is_number);
            is_number.then(|| count - 1)
        })
        .collect();
    Periodic {
        columns,
        periods,
        ard,
    }
}

fn basis(atom: &Atom, columns: Vec<usize>, table: &[InputColumn]) -> Basis {
    let kind = atom.word(Key::Functions).unwrap_or("gaussian");
    let mut numbers = 0;
    let functions = columns
        .iter()
        .map(|&column| {
            if table[column].kind != ColumnKind::Number {
                return Functions::Itself;
            }
            numbers += 1;
            match kind {
                "polynomial" => Functions::Powers {
                    degree: atom.whole(Key::Degree).unwrap_or(DEGREE),
                },
                "fourier" => Functions::Waves {
                    count: atom.whole(Key::Count).unwrap_or(WAVES),
                    // In the column's own units in the text.
                    period: atom.numbers(Key::Period).map_or(PERIOD, |periods| {
                        periods[(numbers - 1).min(periods.len() - 1)] / table[column].deviation
                    }),
                },
                _ => bumps(atom),
            }
        })
        .collect();
    Basis {
        columns,
        functions,
        constant: kind == "polynomial",
    }
}

/// Nine bumps from -2 to 2 unless the text says otherwise, as wide as they are apart.
fn bumps(atom: &Atom) -> Functions {
    let centres = match atom.numbers(Key::Centres) {
        Some(centres) => centres.to_vec(),
        None => (0..9).map(|k| -2.0 + 0.5 * f64::from(k)).collect(),
    };
    let spacing = match centres.len() {
        0 | 1 => 1.0,
        count => {
            let low = centres.iter().copied().fold(f64::INFINITY, f64::min);
            let high = centres.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let spacing = (high - low) / (count - 1) as f64;
            if spacing > 0.0 { spacing } else { 1.0 }
        }
    };
    let width = atom.numbers(Key::Width).map_or(spacing, |widths| widths[0]);
    Functions::Bumps { centres, width }
}
