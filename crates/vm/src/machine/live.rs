//! Liveness: which registers a function may still read.
//!
//! **Problem.** For each position in the code: the registers that some path from there reads before
//! it overwrites them. **Guarantee.** No path reads a register that is not live, so setting it to
//! null changes nothing. The analysis covers paths, not values, so some live registers may never be
//! read. **Cost.** Backward iteration to a fixed point: code length times registers / 64 times the
//! nesting of loops.

use crate::program::{Function, Program, Reg};

/// A set of registers for each position, packed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Liveness {
    words: usize,
    bits: Vec<u64>,
}

impl Liveness {
    pub(crate) fn new(program: &Program, function: &Function) -> Liveness {
        let words = usize::from(function.registers).div_ceil(64);
        let mut live = Liveness { words, bits: vec![0; words * function.code.len()] };
        let mut row = vec![0u64; words];
        loop {
            let mut changed = false;
            for pc in (0..function.code.len()).rev() {
                changed |= live.update(program, function, pc, &mut row);
            }
            if !changed {
                return live;
            }
        }
    }

    fn update(
        &mut self,
        program: &Program,
        function: &Function,
        pc: usize,
        row: &mut [u64],
    ) -> bool {
        let op = &function.code[pc];
        row.fill(0);
        let next = op.falls_through().then_some(pc + 1);
        for successor in next.into_iter().chain(op.target().map(|t| t as usize)) {
            for (word, other) in row.iter_mut().zip(self.row(successor)) {
                *word |= other;
            }
        }
        if let Some(Reg(reg)) = op.writes() {
            row[usize::from(reg) / 64] &= !(1 << (reg % 64));
        }
        op.reads(program, &mut |first, count| {
            for reg in first.index()..first.index() + usize::from(count) {
                row[reg / 64] |= 1 << (reg % 64);
            }
        });
        let old = &mut self.bits[pc * self.words..(pc + 1) * self.words];
        let changed = old != row;
        old.copy_from_slice(row);
        changed
    }

    fn row(&self, pc: usize) -> &[u64] {
        self.bits.get(pc * self.words..(pc + 1) * self.words).unwrap_or(&[])
    }

    /// Returns whether a register may be read from a position on.
    pub(crate) fn is_live(&self, pc: usize, reg: usize) -> bool {
        self.row(pc).get(reg / 64).is_some_and(|word| word >> (reg % 64) & 1 == 1)
    }
}
