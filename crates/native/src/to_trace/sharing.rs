//! Which accesses can matter to another thread.
//!
//! Most memory is touched by one thread only: its stack, and blocks that it allocates, uses and
//! frees. Accesses to such memory conflict with nothing. One pass over all threads finds memory
//! that several touch, by pieces of eight bytes, and blocks that several allocate or free.
//!
//! A thread's own stack counts only where another thread touches it: stacks are used again by later
//! threads, so by their addresses alone all of them would be shared.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The bytes of a piece, as a power of two.
const PIECE: u32 = 3;

/// Longer accesses are kept as blocks are.
const SIZE_MAX: u64 = 4096;

/// Stands for several threads.
const SEVERAL: u32 = u32::MAX;

/// Stands for no thread.
const NOBODY: u32 = u32::MAX - 1;

/// The pieces of a page, as a power of two.
const PAGE: u32 = 9;

/// Who touches each piece of memory, by pages: at most half a byte for each byte of the pages that
/// a program touches. Programs use most of a page that they use at all.
#[derive(Debug, Default)]
struct Owners {
    /// The position in `owners` of the first piece of each page.
    pages: FxHashMap<u64, usize>,
    owners: Vec<[u32; 1 << PAGE]>,
}

impl Owners {
    /// Adds a thread to those that touch a piece.
    #[inline]
    fn add(&mut self, piece: u64, lane: u32) {
        let page = *self.pages.entry(piece >> PAGE).or_insert_with(|| {
            self.owners.push([NOBODY; 1 << PAGE]);
            self.owners.len() - 1
        });
        let owner = &mut self.owners[page][piece as usize % (1 << PAGE)];
        if *owner == NOBODY {
            *owner = lane;
        } else if *owner != lane {
            *owner = SEVERAL;
        }
    }

    /// Returns whether another thread touches a piece.
    #[inline]
    fn is_of_others(&self, piece: u64, lane: u32) -> bool {
        let page = self.pages.get(&(piece >> PAGE));
        let owner = page.map_or(NOBODY, |page| self.owners[*page][piece as usize % (1 << PAGE)]);
        owner != NOBODY && owner != lane
    }
}

/// Who touches which memory.
#[derive(Debug, Default)]
pub(super) struct Sharing {
    pieces: Owners,
    /// Blocks by their first address: the last address, and who allocates, frees or uses them.
    blocks: BTreeMap<u64, (u64, u32)>,
    /// The stack of each thread.
    stacks: FxHashMap<u32, (u64, u64)>,
    /// All stacks, by their first address: the last address.
    all_stacks: BTreeMap<u64, u64>,
}

impl Sharing {
    /// Adds the stack of a thread.
    pub(super) fn stack(&mut self, lane: u32, low: u64, size: u64) {
        if size == 0 {
            return;
        }
        let last = low.saturating_add(size - 1);
        self.stacks.insert(lane, (low, last));
        let known = self.all_stacks.entry(low).or_insert(last);
        *known = (*known).max(last);
    }

    fn is_own_stack(&self, lane: u32, address: u64) -> bool {
        let stack = self.stacks.get(&lane);
        stack.is_some_and(|(low, last)| (*low..=*last).contains(&address))
    }

    /// Returns whether an address lies in the stack of some thread.
    fn is_stack(&self, address: u64) -> bool {
        let before = self.all_stacks.range(..=address).next_back();
        before.is_some_and(|(_, last)| address <= *last)
    }

    /// Adds an access.
    pub(super) fn access(&mut self, lane: u32, address: u64, size: u64) {
        if self.is_own_stack(lane, address) {
            return;
        }
        if size > SIZE_MAX {
            return self.block(lane, address, size);
        }
        for piece in pieces(address, size) {
            self.pieces.add(piece, lane);
        }
    }

    /// Adds an allocation or a free.
    pub(super) fn block(&mut self, lane: u32, address: u64, size: u64) {
        let (mut first, mut last) = (address, address.saturating_add(size.max(1) - 1));
        let mut owner = lane;
        // Blocks that overlap become one: none of its bytes is lost, and each goes once.
        while let Some((&start, &(end, other))) = self.blocks.range(..=last).next_back() {
            if end < address {
                break;
            }
            self.blocks.remove(&start);
            (first, last) = (first.min(start), last.max(end));
            if other != owner {
                owner = SEVERAL;
            }
        }
        self.blocks.insert(first, (last, owner));
    }

    /// Returns whether another thread touches the memory of an access.
    pub(super) fn is_shared(&self, lane: u32, address: u64, size: u64) -> bool {
        if size > SIZE_MAX {
            return true;
        }
        let of_others = |piece| self.pieces.is_of_others(piece, lane);
        if pieces(address, size).any(of_others) {
            return true;
        }
        if self.is_own_stack(lane, address) {
            return false;
        }
        let last = address.saturating_add(size.max(1) - 1);
        let block = self.blocks.range(..=last).next_back();
        let of_others = block.is_some_and(|(_, (end, owner))| *end >= address && *owner != lane);
        of_others || self.is_stack(address)
    }
}

/// Returns the pieces of a range.
fn pieces(address: u64, size: u64) -> impl Iterator<Item = u64> {
    let last = address.saturating_add(size.max(1) - 1);
    address >> PIECE..=last >> PIECE
}
