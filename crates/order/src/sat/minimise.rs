//! Recursive minimisation of a learnt clause: removes the literals that the others imply.
//!
//! A literal is redundant when the other literals of its reason are in the clause or redundant
//! themselves (N. Sörensson, A. Biere, *Minimizing Learned Clauses*, SAT 2009). Each removal is a
//! resolution with a reason, so the clause stays derivable by unit propagation. Theory reasons that
//! were not requested yet are not requested here.

use super::arena::Arena;
use super::lit::Lit;
use super::values::Values;
use super::watches::Watches;

/// The status of a variable during conflict analysis.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    None,
    /// In the clause, or resolved away.
    Seen,
    /// Implied by literals of the clause.
    Redundant,
    /// Not implied.
    Needed,
    /// In the final clause.
    Kept,
}

/// Marks by variable, with a list of what to clear.
#[derive(Default)]
pub(super) struct Marks {
    marks: Vec<Mark>,
    touched: Vec<Lit>,
    /// By level: the number of the clause last counted there.
    levels: Vec<u64>,
    stamp: u64,
    /// The path being followed: a literal and how much of its reason is done.
    path: Vec<(Lit, usize)>,
}

impl Marks {
    pub(super) fn add_var(&mut self) {
        self.marks.push(Mark::None);
        self.levels.push(0);
    }

    #[inline]
    pub(super) fn get(&self, lit: Lit) -> Mark {
        self.marks[lit.var().index()]
    }

    #[inline]
    pub(super) fn set(&mut self, lit: Lit, mark: Mark) {
        self.marks[lit.var().index()] = mark;
        self.touched.push(lit);
    }

    pub(super) fn clear(&mut self) {
        while let Some(lit) = self.touched.pop() {
            self.marks[lit.var().index()] = Mark::None;
        }
    }

    /// Counts the levels among the literals, level 0 left out.
    pub(super) fn glue(&mut self, values: &Values, lits: impl Iterator<Item = Lit>) -> u32 {
        self.stamp += 1;
        let mut glue = 0;
        for lit in lits {
            let level = values.level_of(lit) as usize;
            // True assumptions have levels of their own, so there may be more levels than
            // variables.
            if level >= self.levels.len() {
                self.levels.resize(level + 1, 0);
            }
            if level > 0 && self.levels[level] != self.stamp {
                self.levels[level] = self.stamp;
                glue += 1;
            }
        }
        glue
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.marks.capacity()
            + 4 * self.touched.capacity()
            + 8 * self.levels.capacity()
            + 16 * self.path.capacity()
    }

    /// Removes redundant literals of `clause`, all marked as seen, except the first one.
    pub(super) fn minimise(&mut self, clause: &mut Vec<Lit>, arena: &Arena, values: &Values) {
        // One bit per level, folded: a redundant literal depends only on levels of the clause.
        let fold = |lit: Lit| 1u64 << (values.level_of(lit) & 63);
        let levels = clause[1..].iter().fold(0, |levels, &lit| levels | fold(lit));
        let mut kept = 1;
        for at in 1..clause.len() {
            let lit = clause[at];
            if values.reason_of(lit).clause().is_none()
                || !self.is_redundant(lit, levels, arena, values)
            {
                clause[kept] = lit;
                kept += 1;
            }
        }
        clause.truncate(kept);
    }

    /// Whether the reasons of a false literal lead back to marked literals only. Depth-first
    /// without recursion.
    fn is_redundant(&mut self, lit: Lit, levels: u64, arena: &Arena, values: &Values) -> bool {
        self.path.clear();
        self.path.push((lit, 0));
        while let Some(&mut (lit, ref mut done)) = self.path.last_mut() {
            let Some(reason) = values.reason_of(lit).clause() else { return false };
            let Some(&word) = arena.packed(reason).get(*done) else {
                if self.get(lit) == Mark::None {
                    self.set(lit, Mark::Redundant);
                }
                self.path.pop();
                continue;
            };
            *done += 1;
            let next = Lit(word);
            if next.var() == lit.var() || values.level_of(next) == 0 {
                continue;
            }
            match self.get(next) {
                Mark::Seen | Mark::Redundant => continue,
                Mark::None if self.may_be_redundant(next, levels, values) => {
                    self.path.push((next, 0))
                }
                Mark::None | Mark::Needed | Mark::Kept => return self.give_up(),
            }
        }
        true
    }

    fn may_be_redundant(&self, lit: Lit, levels: u64, values: &Values) -> bool {
        values.reason_of(lit).clause().is_some() && levels >> (values.level_of(lit) & 63) & 1 == 1
    }

    /// The literals on the path to a needed literal are needed as well.
    fn give_up(&mut self) -> bool {
        while let Some((lit, _)) = self.path.pop() {
            if self.get(lit) == Mark::None {
                self.set(lit, Mark::Needed);
            }
        }
        false
    }

    /// Removes literals that binary clauses make redundant: given `first or x`, `not x` adds
    /// nothing.
    pub(super) fn minimise_binary(
        &mut self,
        clause: &mut Vec<Lit>,
        watches: &Watches,
        values: &Values,
    ) {
        for &lit in &clause[1..] {
            self.set(lit, Mark::Kept);
        }
        for watch in &watches.lists[clause[0].index()] {
            // All literals of the clause are false, so a true literal is the negation of one of
            // them.
            if watch.is_binary()
                && self.get(watch.blocker) == Mark::Kept
                && values.is_true(watch.blocker)
            {
                self.set(watch.blocker, Mark::Redundant);
            }
        }
        let first = clause[0];
        clause.retain(|&lit| lit == first || self.get(lit) == Mark::Kept);
    }
}
