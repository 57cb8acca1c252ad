//! All clauses in one vector of 32-bit words.
//!
//! ```text
//! learned only        every clause
//! [activity: f32]     [len][meta][lit]...[lit]
//!                     ^ ClauseRef
//! ```

use super::lit::Lit;

/// The position of a clause's length word.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) struct ClauseRef(pub(super) u32);

/// Bits 0-19 of `meta`: the number of levels among the literals ("glue") when last measured, at
/// most this.
const GLUE_MAX: u32 = (1 << 20) - 1;
/// Learned from a conflict, so it may be deleted.
pub(super) const LEARNED: u32 = GLUE_MAX + 1;
/// A reason: the current reduction must not delete it.
pub(super) const PROTECTED: u32 = LEARNED << 1;
/// Took part in a conflict since the last reduction.
pub(super) const USED: u32 = PROTECTED << 1;
/// Deleted; the next collection frees it.
pub(super) const DEAD: u32 = USED << 1;
/// Copied to another arena; the word of the length says where.
const MOVED: u32 = DEAD << 1;

/// Words before the literals.
const HEAD_WORDS: usize = 2;

#[derive(Default)]
pub(super) struct Arena {
    words: Vec<u32>,
}

impl Arena {
    /// References stay below this, so that a watch has a bit to spare.
    const WORDS_MAX: usize = 1 << 31;

    pub(super) fn with_capacity(words: usize) -> Arena {
        Arena { words: Vec::with_capacity(words) }
    }

    /// Stores a clause; `None` when the arena cannot address it.
    pub(super) fn push(&mut self, lits: &[Lit], learned: bool, glue: u32) -> Option<ClauseRef> {
        if self.words.len() + HEAD_WORDS + 1 + lits.len() > Arena::WORDS_MAX {
            return None;
        }
        if learned {
            self.words.push(0f32.to_bits());
        }
        let clause = ClauseRef(self.words.len() as u32);
        self.words.push(lits.len() as u32);
        self.words.push(glue.min(GLUE_MAX) | if learned { LEARNED } else { 0 });
        self.words.extend(lits.iter().map(|lit| lit.0));
        Some(clause)
    }

    #[inline]
    pub(super) fn len(&self, clause: ClauseRef) -> usize {
        self.words[clause.0 as usize] as usize
    }

    #[inline]
    pub(super) fn lit(&self, clause: ClauseRef, at: usize) -> Lit {
        Lit(self.words[clause.0 as usize + HEAD_WORDS + at])
    }

    /// The packed literals of a clause.
    #[inline]
    pub(super) fn packed(&self, clause: ClauseRef) -> &[u32] {
        let words = &self.words[clause.0 as usize..];
        &words[HEAD_WORDS..HEAD_WORDS + words[0] as usize]
    }

    /// The packed literals of a clause, to be reordered.
    #[inline]
    pub(super) fn packed_mut(&mut self, clause: ClauseRef) -> &mut [u32] {
        let words = &mut self.words[clause.0 as usize..];
        let len = words[0] as usize;
        &mut words[HEAD_WORDS..HEAD_WORDS + len]
    }

    pub(super) fn lits(&self, clause: ClauseRef) -> impl Iterator<Item = Lit> {
        self.packed(clause).iter().map(|&word| Lit(word))
    }

    /// Cuts the clause to its first `len` literals.
    pub(super) fn shrink(&mut self, clause: ClauseRef, len: usize) {
        debug_assert!(len <= self.len(clause));
        self.words[clause.0 as usize] = len as u32;
    }

    fn meta(&self, clause: ClauseRef) -> u32 {
        self.words[clause.0 as usize + 1]
    }

    fn meta_mut(&mut self, clause: ClauseRef) -> &mut u32 {
        &mut self.words[clause.0 as usize + 1]
    }

    pub(super) fn glue(&self, clause: ClauseRef) -> u32 {
        self.meta(clause) & GLUE_MAX
    }

    pub(super) fn set_glue(&mut self, clause: ClauseRef, glue: u32) {
        let meta = self.meta_mut(clause);
        *meta = *meta & !GLUE_MAX | glue.min(GLUE_MAX);
    }

    pub(super) fn activity(&self, clause: ClauseRef) -> f32 {
        debug_assert!(self.is(clause, LEARNED));
        f32::from_bits(self.words[clause.0 as usize - 1])
    }

    pub(super) fn set_activity(&mut self, clause: ClauseRef, activity: f32) {
        debug_assert!(self.is(clause, LEARNED));
        self.words[clause.0 as usize - 1] = activity.to_bits();
    }

    /// Returns whether a clause has a flag.
    pub(super) fn is(&self, clause: ClauseRef, flag: u32) -> bool {
        self.meta(clause) & flag != 0
    }

    /// Sets or clears a flag.
    pub(super) fn set(&mut self, clause: ClauseRef, flag: u32, on: bool) {
        let meta = self.meta_mut(clause);
        *meta = if on { *meta | flag } else { *meta & !flag };
    }

    /// Copies a live clause into the other arena, once, and returns its new reference.
    pub(super) fn relocate(&mut self, clause: ClauseRef, to: &mut Arena) -> ClauseRef {
        debug_assert!(!self.is(clause, DEAD));
        let at = clause.0 as usize;
        if self.words[at + 1] & MOVED != 0 {
            return ClauseRef(self.words[at]);
        }
        let begin = if self.is(clause, LEARNED) { at - 1 } else { at };
        let end = at + HEAD_WORDS + self.words[at] as usize;
        let moved = ClauseRef((to.words.len() + at - begin) as u32);
        to.words.extend_from_slice(&self.words[begin..end]);
        self.words[at] = moved.0;
        self.words[at + 1] |= MOVED;
        moved
    }

    pub(super) fn words(&self) -> usize {
        self.words.len()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        4 * self.words.capacity()
    }
}
