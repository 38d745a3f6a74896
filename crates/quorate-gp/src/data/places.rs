//! Which members a group has, found once and looked up often.

use std::sync::OnceLock;

use super::dataset::Member;

/// The members of each group, group after group, made when it is first asked for.
///
/// Experts are formed from a few hundred rows of a large table, thousands of times: without this each of them would look
/// through all members.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(OnceLock<Index>);

#[derive(Clone, Debug)]
struct Index {
    /// Where the members of each group start, and of the last end.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl PartialEq for Places {
    /// It follows from the members: two data sets are the same whether or not they were asked.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Places {
    /// Places of a group's members among all of them, increasing.
    pub fn of(&self, group: usize, groups: usize, members: &[Member]) -> &[u32] {
        let index = self.0.get_or_init(|| Index::new(groups, members));
        let own = index.starts[group] as usize..index.starts[group + 1] as usize;
        &index.members[own]
    }
}

impl Index {
    fn new(groups: usize, members: &[Member]) -> Self {
        let mut starts = vec![0; groups + 1];
        for member in members {
            starts[member.group + 1] += 1;
        }
        for group in 0..groups {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        let mut found = vec![0; members.len()];
        for (place, member) in members.iter().enumerate() {
            found[next[member.group] as usize] = place as u32;
            next[member.group] += 1;
        }
        Self {
            starts,
            members: found,
        }
    }
}
