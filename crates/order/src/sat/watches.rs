//! Unit propagation with two watched literals per clause.
//!
//! **Invariant**, at each fixpoint, for a clause of three literals or more: if one of its first two
//! literals is false, the other is true; or the other became true for another reason, and the
//! clause is checked again when that literal becomes false. Each clause is in the lists of its
//! first two literals. For a binary clause the watch alone suffices.

use super::arena::{Arena, ClauseRef};
use super::lit::Lit;
use super::values::{Reason, Value, Values};

/// A clause in the list of one of its two watched literals.
#[derive(Copy, Clone)]
pub(super) struct Watch {
    /// Another literal of the clause; when it is true, the clause needs no work. In a binary
    /// clause, the other literal.
    pub(super) blocker: Lit,
    /// The reference in bits 0-30; bit 31 says that the clause has two literals.
    tagged: u32,
}

/// See [`Watch::tagged`].
const BINARY: u32 = 1 << 31;

impl Watch {
    pub(super) fn new(clause: ClauseRef, blocker: Lit, binary: bool) -> Watch {
        Watch { blocker, tagged: clause.0 | if binary { BINARY } else { 0 } }
    }

    #[inline]
    pub(super) fn clause(self) -> ClauseRef {
        ClauseRef(self.tagged & !BINARY)
    }

    #[inline]
    pub(super) fn is_binary(self) -> bool {
        self.tagged & BINARY != 0
    }
}

/// The watch lists, by literal. Propagation visits a list when its literal becomes false.
#[derive(Default)]
pub(super) struct Watches {
    pub(super) lists: Vec<Vec<Watch>>,
    /// How much of the trail has been propagated.
    pub(super) head: usize,
    pub(super) propagations: u64,
}

impl Watches {
    pub(super) fn add_var(&mut self) {
        self.lists.extend([Vec::new(), Vec::new()]);
    }

    /// Watches the first two literals of a clause.
    pub(super) fn attach(&mut self, arena: &Arena, clause: ClauseRef) {
        let binary = arena.len(clause) == 2;
        let (first, second) = (arena.lit(clause, 0), arena.lit(clause, 1));
        self.lists[first.index()].push(Watch::new(clause, second, binary));
        self.lists[second.index()].push(Watch::new(clause, first, binary));
    }

    /// Propagates the rest of the trail; returns a false clause, if any.
    pub(super) fn propagate(
        &mut self,
        arena: &mut Arena,
        values: &mut Values,
    ) -> Option<ClauseRef> {
        while self.head < values.trail.len() {
            let lit = !values.trail[self.head];
            self.head += 1;
            self.propagations += 1;
            // The list is taken out, as clauses move to other lists during the loop.
            let mut list = std::mem::take(&mut self.lists[lit.index()]);
            let conflict = self.visit(lit, &mut list, arena, values);
            self.lists[lit.index()] = list;
            if conflict.is_some() {
                return conflict;
            }
        }
        None
    }

    /// Visits the clauses that watch a literal that became false.
    #[inline]
    fn visit(
        &mut self,
        lit: Lit,
        list: &mut Vec<Watch>,
        arena: &mut Arena,
        values: &mut Values,
    ) -> Option<ClauseRef> {
        let mut kept = 0;
        let mut next = 0;
        let mut conflict = None;
        while next < list.len() {
            let watch = list[next];
            next += 1;
            let blocked = values.values[watch.blocker.index()];
            if blocked == Value::True {
                list[kept] = watch;
                kept += 1;
                continue;
            }
            let clause = watch.clause();
            if watch.is_binary() {
                list[kept] = watch;
                kept += 1;
                if blocked == Value::False {
                    conflict = Some(clause);
                    break;
                }
                values.assign(watch.blocker, Reason::from_clause(clause));
                continue;
            }
            let lits = arena.packed_mut(clause);
            let first = Lit(lits[0] ^ lits[1] ^ lit.0);
            let value = values.values[first.index()];
            if value == Value::True {
                list[kept] = Watch { blocker: first, ..watch };
                kept += 1;
                continue;
            }
            let found =
                lits[2..].iter().position(|&word| values.values[word as usize] != Value::False);
            if let Some(at) = found {
                let other = Lit(lits[at + 2]);
                lits[at + 2] = lit.0;
                lits[0] = first.0;
                lits[1] = other.0;
                self.lists[other.index()].push(Watch { blocker: first, ..watch });
                continue;
            }
            list[kept] = Watch { blocker: first, ..watch };
            kept += 1;
            if value == Value::False {
                conflict = Some(clause);
                break;
            }
            values.assign(first, Reason::from_clause(clause));
        }
        if kept < next {
            list.copy_within(next.., kept);
            list.truncate(list.len() - (next - kept));
        }
        conflict
    }
}
