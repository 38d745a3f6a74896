//! The rows of table 4.1 that are no Gaussian processes: radial basis functions and networks, each one model of all rows.

use quorate::Result;
use quorate::gp::data::{Dataset, InputColumn};
use quorate::member::{
    Expansion, Member, NetworkMember, Setting, WeightSpace, radial_basis_around,
};

use super::Context;

/// Hidden units of both kinds.
pub const HIDDEN: [usize; 3] = [2, 10, 50];
/// Questions whose slopes are held at the same time.
const BLOCK: usize = 4096;

/// One row of the table.
pub struct Alone {
    pub train: f64,
    pub test: f64,
    pub learning: f64,
    pub asking: f64,
}

/// Both kinds with every number of hidden units, in the order of the table. `asked` are the training rows whose error is told.
pub fn rows(
    columns: &[InputColumn],
    [train, asked, test]: [&Dataset; 3],
    context: &Context<'_>,
) -> Result<Vec<Alone>> {
    let setting = Setting {
        columns,
        seed: context.seed,
        watch: context.watch,
    };
    let total = 2 * HIDDEN.len();
    let mut found = Vec::with_capacity(total);
    for is_network in [false, true] {
        for hidden in HIDDEN {
            context.watch.check()?;
            context
                .watch
                .progress("learning networks", found.len(), total);
            let started = (context.wall)();
            let member: Box<dyn Member> = if is_network {
                let expansion = Expansion::of(columns);
                Box::new(NetworkMember::fit(hidden, expansion, train, context.seed)?)
            } else {
                let (basis, expansion) = radial_basis_around(hidden, &setting, train)?;
                Box::new(WeightSpace::fit(basis, expansion, train)?)
            };
            let learning = (context.wall)() - started;
            let train = error(member.as_ref(), asked)?;
            let started = (context.wall)();
            found.push(Alone {
                train,
                test: error(member.as_ref(), test)?,
                learning,
                asking: (context.wall)() - started,
            });
        }
    }
    context.watch.progress("learning networks", total, total);
    Ok(found)
}

/// Root mean square error, in deviations of the training targets.
fn error(member: &dyn Member, asked: &Dataset) -> Result<f64> {
    let inputs = asked.inputs();
    let mut squares = 0.0;
    for first in (0..inputs.rows()).step_by(BLOCK) {
        let last = (first + BLOCK).min(inputs.rows());
        let belief = member.marginals(inputs.slice(first, last))?;
        for row in first..last {
            squares += (asked.targets()[row] - belief.mean[(row - first, 0)]).powi(2);
        }
    }
    Ok((squares / inputs.rows() as f64).sqrt())
}
