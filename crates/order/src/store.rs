//! Many clocks in little memory: persistent trees that share equal parts.
//!
//! **Problem.** An order of `n` nodes over `w` chains has `n * w` clock entries. Most of them equal
//! those of the previous node on the same chain. Store all clocks, answer "entry `c` of clock `k`"
//! in O(1), join clocks quickly.
//!
//! **Source.** Path copying: Driscoll, Sarnak, Sleator, Tarjan, "Making data structures
//! persistent", JCSS 38, 1989. The in-place edits of fresh nodes are the "transients" of functional
//! vector libraries.
//!
//! **Method.** A clock is a tree with 16 children a node; its leaves hold 16 consecutive entries
//! each. A node is 64 bytes in one arena and never changes once a finished clock has it. A new
//! clock is made by editing an old one: unchanged parts are shared, and a subtree that equals the
//! joined one is taken from there. Node 0 is all zeros; as an inner node its children are node 0
//! again, so it is an empty subtree of any height.
//!
//! **Cost.** With `h = log16(chains)`, rounded up (1 up to 16 chains, 2 up to 256, 3 up to 4096):
//! reading an entry costs `h` loads; raising an entry costs at most `h` new nodes; a join visits
//! only subtrees that the two clocks do not share, and allocates only nodes that equal neither
//! side.

use crate::clock::{ChainId, Clock};

/// A finished clock in a [`ClockStore`].
///
/// Bits 29-31 hold the height of its tree, bits 0-28 the root. Two equal refs of one store are
/// equal clocks; equal clocks may have different refs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(transparent)]
pub struct ClockRef(u32);

impl ClockRef {
    /// The clock without entries, in every store.
    pub const EMPTY: ClockRef = ClockRef(0);

    const ROOT_BITS: u32 = 29;
    const ROOT_MASK: u32 = (1 << Self::ROOT_BITS) - 1;

    const fn new(height: u32, root: u32) -> ClockRef {
        ClockRef((height << Self::ROOT_BITS) | root)
    }

    const fn height(self) -> u32 {
        self.0 >> Self::ROOT_BITS
    }

    const fn root(self) -> u32 {
        self.0 & Self::ROOT_MASK
    }
}

/// The store has reached its memory limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("clocks need more than {memory_bytes_max} bytes")]
pub struct StoreFull {
    /// The limit that was reached.
    pub memory_bytes_max: usize,
}

/// Stores many clocks; see the module for method and cost.
///
/// ```
/// use anyorder_order::{ChainId, Clock, ClockRef, ClockStore};
///
/// let mut store = ClockStore::new();
/// let a = store.push(&Clock::from_slice(&[3, 0, 5]), ClockRef::EMPTY)?;
/// let mut edit = store.edit(a);
/// edit.raise(ChainId(1), 7)?;
/// let b = edit.finish();
/// assert_eq!(store.get(a, ChainId(1)), 0);
/// assert_eq!(store.get(b, ChainId(1)), 7);
/// # Ok::<(), anyorder_order::StoreFull>(())
/// ```
#[derive(Clone, Debug)]
pub struct ClockStore {
    nodes: Vec<Node>,
    memory_bytes_max: usize,
    stats: StoreStats,
}

const FAN_BITS: u32 = 4;
const FAN: usize = 1 << FAN_BITS;
const HEIGHT_MAX: u32 = u32::BITS / FAN_BITS - 1;
const NODE_BYTES: usize = size_of::<Node>();

/// Entries of a leaf, or numbers of child nodes.
type Node = [u32; FAN];

const _: () = assert!(HEIGHT_MAX < 1 << (u32::BITS - ClockRef::ROOT_BITS));
const _: () = assert!(NODE_BYTES == 64);

/// Counters of a [`ClockStore`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreStats {
    /// Clocks finished, by [`ClockStore::push`] or [`ClockEdit::finish`].
    pub clocks: u64,
    /// Clocks finished that needed no node of their own.
    pub clocks_shared: u64,
    /// Subtrees that a join did not enter because both sides were the same node, or one was
    /// empty.
    pub joins_skipped: u64,
    /// Leaves left unchanged by a join, raise or push.
    pub leaves_kept: u64,
    /// Leaves that a join took from the other side, which was greater or equal everywhere.
    pub leaves_taken: u64,
    /// Fresh leaves changed in place.
    pub leaves_edited: u64,
    /// Leaves allocated.
    pub leaves_fresh: u64,
    /// Nodes that joins entered on both sides.
    pub nodes_joined: u64,
    /// Compactions.
    pub compactions: u64,
}

impl Default for ClockStore {
    fn default() -> ClockStore {
        ClockStore::new()
    }
}

impl ClockStore {
    /// The most memory that a store can address: 2^29 nodes of 64 bytes.
    pub const MEMORY_BYTES_MAX: usize = (ClockRef::ROOT_MASK as usize).saturating_mul(NODE_BYTES);

    /// Makes an empty store without a limit of its own.
    #[must_use]
    pub fn new() -> ClockStore {
        ClockStore::with_memory_max(ClockStore::MEMORY_BYTES_MAX)
    }

    /// Makes an empty store that fails instead of taking more than `memory_bytes_max` bytes.
    #[must_use]
    pub fn with_memory_max(memory_bytes_max: usize) -> ClockStore {
        let memory_bytes_max = memory_bytes_max.min(ClockStore::MEMORY_BYTES_MAX);
        ClockStore { nodes: vec![[0; FAN]], memory_bytes_max, stats: StoreStats::default() }
    }

    /// Returns the entry of a chain, 0 where the clock has none. O(log16 chains).
    ///
    /// # Panics
    ///
    /// May panic when `clock` is of another store.
    #[inline]
    #[must_use]
    pub fn get(&self, clock: ClockRef, chain: ChainId) -> u32 {
        let height = clock.height();
        if u64::from(chain.0) >= reach_of(height) {
            return 0;
        }
        let mut node = clock.root();
        for level in (0..=height).rev() {
            node = self.nodes[node as usize][digit(chain.0, level)];
        }
        node
    }

    /// Stores a flat clock; leaves equal to those of `previous` are shared with it. O(entries).
    ///
    /// # Errors
    ///
    /// Fails when the limit is reached.
    pub fn push(&mut self, clock: &Clock, previous: ClockRef) -> Result<ClockRef, StoreFull> {
        let mut edit = self.edit(previous);
        edit.replace(clock)?;
        Ok(edit.finish())
    }

    /// Writes a stored clock into a flat one. O(chains).
    pub fn load(&self, clock: ClockRef, into: &mut Clock) {
        into.clear();
        self.for_each(clock, |chain, value| into.raise(chain, value));
    }

    /// Calls `visit` with each entry that is not 0, by ascending chain. O(nodes of the clock).
    pub fn for_each(&self, clock: ClockRef, visit: impl FnMut(ChainId, u32)) {
        self.for_each_above(clock, ClockRef::EMPTY, visit);
    }

    /// Calls `visit` with each entry of `clock` that is greater than that of `than`, by ascending
    /// chain. Shared parts are skipped, so the cost is that of the difference.
    pub fn for_each_above(
        &self,
        clock: ClockRef,
        mut than: ClockRef,
        mut visit: impl FnMut(ChainId, u32),
    ) {
        while than.height() > clock.height() {
            than = ClockRef::new(than.height() - 1, self.nodes[than.root() as usize][0]);
        }
        self.visit_above(clock, than, 0, &mut visit);
    }

    /// Calls `visit` with each entry that is not 0, by ascending chain, until it returns false.
    /// Returns whether it never did. O(nodes visited).
    pub fn for_each_while(
        &self,
        clock: ClockRef,
        mut visit: impl FnMut(ChainId, u32) -> bool,
    ) -> bool {
        self.visit_while(clock.root(), clock.height(), 0, &mut visit)
    }

    fn visit_while(
        &self,
        node: u32,
        height: u32,
        first: u32,
        visit: &mut impl FnMut(ChainId, u32) -> bool,
    ) -> bool {
        let children = self.nodes[node as usize].iter().enumerate();
        children.filter(|(_, child)| **child != 0).all(|(i, &child)| {
            let chain = first | (i as u32) << (FAN_BITS * height);
            match height {
                0 => visit(ChainId(chain), child),
                _ => self.visit_while(child, height - 1, chain, visit),
            }
        })
    }

    /// Visits a subtree whose first chain is `first`. The other tree may be lower: it covers the
    /// first chains only.
    fn visit_above(
        &self,
        tree: ClockRef,
        other: ClockRef,
        first: u32,
        visit: &mut impl FnMut(ChainId, u32),
    ) {
        if tree == other || tree.root() == 0 {
            return;
        }
        let height = tree.height();
        let is_lower = other.height() < height;
        let mut others = [0; FAN];
        if is_lower {
            others[0] = other.root();
        } else {
            others = self.nodes[other.root() as usize];
        }
        for (i, (&child, below)) in self.nodes[tree.root() as usize].iter().zip(others).enumerate()
        {
            let chain = first | (i as u32) << (FAN_BITS * height);
            if height > 0 {
                let height_below = if is_lower { other.height() } else { height - 1 };
                let below = ClockRef::new(height_below, below);
                self.visit_above(ClockRef::new(height - 1, child), below, chain, visit);
            } else if child > below {
                visit(ChainId(chain), child);
            }
        }
    }

    /// Begins a new clock as a copy of `from`. O(1).
    #[must_use]
    pub fn edit(&mut self, from: ClockRef) -> ClockEdit<'_> {
        let fresh_from = self.nodes.len() as u32;
        ClockEdit { store: self, fresh_from, height: from.height(), root: from.root() }
    }

    /// Drops all nodes that none of `clocks` needs, and renumbers the rest. The given refs are
    /// rewritten; all other refs of this store become invalid. O(nodes + clocks).
    pub fn compact<'c>(&mut self, clocks: impl IntoIterator<Item = &'c mut ClockRef>) {
        let mut moved = vec![0u32; self.nodes.len()];
        let mut kept: Vec<Node> = vec![[0; FAN]];
        for clock in clocks {
            let root = self.keep(clock.root(), clock.height(), &mut moved, &mut kept);
            *clock = ClockRef::new(clock.height(), root);
        }
        kept.shrink_to_fit();
        self.nodes = kept;
        self.stats.compactions += 1;
    }

    fn keep(&self, node: u32, height: u32, moved: &mut [u32], kept: &mut Vec<Node>) -> u32 {
        if node == 0 || moved[node as usize] != 0 {
            return moved[node as usize];
        }
        let mut copy = self.nodes[node as usize];
        if height > 0 {
            for child in &mut copy {
                *child = self.keep(*child, height - 1, moved, kept);
            }
        }
        // No more nodes are kept than there were, so the number fits.
        moved[node as usize] = kept.len() as u32;
        kept.push(copy);
        moved[node as usize]
    }

    /// Returns the counters so far.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        self.stats
    }

    /// Returns the number of 64-byte nodes, dead ones included.
    #[must_use]
    pub fn nodes_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the bytes held on the heap.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * NODE_BYTES
    }

    fn allocate(&mut self, node: Node) -> Result<u32, StoreFull> {
        if self.nodes.len() == self.nodes.capacity() {
            // Growth by a quarter instead of doubling: the arena is often most of the memory of a
            // run.
            let room = (self.memory_bytes_max / NODE_BYTES).saturating_sub(self.nodes.len());
            let more = (self.nodes.len() / 4).max(64).min(room);
            if more == 0 || self.nodes.try_reserve_exact(more).is_err() {
                return Err(StoreFull { memory_bytes_max: self.memory_bytes_max });
            }
        }
        let number = self.nodes.len() as u32;
        debug_assert!(number <= ClockRef::ROOT_MASK);
        self.nodes.push(node);
        Ok(number)
    }
}

/// A clock of a [`ClockStore`] under construction. Dropping it unfinished, or after an error,
/// leaves its nodes behind until the next [`ClockStore::compact`], and changes no finished clock.
#[derive(Debug)]
pub struct ClockEdit<'s> {
    store: &'s mut ClockStore,
    /// Nodes from here on belong to this clock alone and may change.
    fresh_from: u32,
    height: u32,
    root: u32,
}

impl ClockEdit<'_> {
    /// Makes the entry of a chain at least `value`. O(log16 chains).
    ///
    /// # Errors
    ///
    /// Fails when the limit of the store is reached.
    pub fn raise(&mut self, chain: ChainId, value: u32) -> Result<(), StoreFull> {
        let now = ClockRef::new(self.height, self.root);
        if value <= self.store.get(now, chain) {
            return Ok(());
        }
        while u64::from(chain.0) >= reach_of(self.height) {
            self.lift()?;
        }
        self.root = self.raise_in(self.root, self.height, chain.0, value)?;
        Ok(())
    }

    /// Takes the pointwise maximum with a finished clock of the same store.
    ///
    /// # Errors
    ///
    /// Fails when the limit of the store is reached.
    pub fn join(&mut self, other: ClockRef) -> Result<(), StoreFull> {
        while self.height < other.height() {
            self.lift()?;
        }
        self.root = self.join_in(self.root, self.height, other.root(), other.height())?;
        Ok(())
    }

    /// Makes all entries those of a flat clock, sharing leaves that are equal. O(entries).
    ///
    /// # Errors
    ///
    /// Fails when the limit of the store is reached.
    pub fn replace(&mut self, clock: &Clock) -> Result<(), StoreFull> {
        while clock.len() as u64 > reach_of(self.height) {
            self.lift()?;
        }
        self.root = self.replace_in(self.root, self.height, clock.as_slice())?;
        Ok(())
    }

    /// Returns the current entry of a chain.
    #[must_use]
    pub fn get(&self, chain: ChainId) -> u32 {
        self.store.get(ClockRef::new(self.height, self.root), chain)
    }

    /// Ends the edit. If nothing changed, it returns the ref that the edit began from.
    #[must_use]
    pub fn finish(self) -> ClockRef {
        self.store.stats.clocks += 1;
        if self.root < self.fresh_from {
            self.store.stats.clocks_shared += 1;
        }
        // Trees are as low as possible, so a ref changes only when an entry does.
        let (mut height, mut root) = (self.height, self.root);
        while height > 0 && self.store.nodes[root as usize][1..] == [0; FAN - 1] {
            root = self.store.nodes[root as usize][0];
            height -= 1;
        }
        ClockRef::new(height, root)
    }

    fn lift(&mut self) -> Result<(), StoreFull> {
        if self.root != 0 {
            let mut node = [0; FAN];
            node[0] = self.root;
            self.root = self.store.allocate(node)?;
        }
        self.height += 1;
        Ok(())
    }

    fn raise_in(
        &mut self,
        node: u32,
        height: u32,
        chain: u32,
        value: u32,
    ) -> Result<u32, StoreFull> {
        let at = digit(chain, height);
        let entry = if height == 0 {
            value
        } else {
            let child = self.store.nodes[node as usize][at];
            self.raise_in(child, height - 1, chain, value)?
        };
        let mut copy = self.store.nodes[node as usize];
        copy[at] = entry;
        self.put(node, height, copy)
    }

    fn join_in(
        &mut self,
        node: u32,
        height: u32,
        other: u32,
        other_height: u32,
    ) -> Result<u32, StoreFull> {
        debug_assert!(other_height <= height);
        if other == 0 || (node == other && height == other_height) {
            self.store.stats.joins_skipped += 1;
            return Ok(node);
        }
        if node == 0 && height == other_height {
            self.store.stats.joins_skipped += 1;
            return Ok(other);
        }
        self.store.stats.nodes_joined += 1;
        let mine = self.store.nodes[node as usize];
        let mut joined = mine;
        if height > other_height {
            joined[0] = self.join_in(mine[0], height - 1, other, other_height)?;
            return self.put(node, height, joined);
        }
        let theirs = self.store.nodes[other as usize];
        for i in 0..FAN {
            joined[i] = if height == 0 {
                mine[i].max(theirs[i])
            } else if mine[i] == theirs[i] {
                mine[i]
            } else {
                self.join_in(mine[i], height - 1, theirs[i], other_height - 1)?
            };
        }
        if joined == theirs && joined != mine {
            self.store.stats.leaves_taken += u64::from(height == 0);
            return Ok(other);
        }
        self.put(node, height, joined)
    }

    fn replace_in(&mut self, node: u32, height: u32, entries: &[u32]) -> Result<u32, StoreFull> {
        let mut copy = [0; FAN];
        if height == 0 {
            copy[..entries.len()].copy_from_slice(entries);
        } else {
            let old = self.store.nodes[node as usize];
            for (i, part) in entries.chunks(reach_of(height - 1) as usize).enumerate() {
                copy[i] = self.replace_in(old[i], height - 1, part)?;
            }
        }
        if copy == [0; FAN] { Ok(0) } else { self.put(node, height, copy) }
    }

    /// Replaces `node` by `contents`: unchanged if equal, in place if fresh, else as a new node.
    fn put(&mut self, node: u32, height: u32, contents: Node) -> Result<u32, StoreFull> {
        let leaf = u64::from(height == 0);
        let stats = &mut self.store.stats;
        if self.store.nodes[node as usize] == contents {
            stats.leaves_kept += leaf;
            Ok(node)
        } else if node >= self.fresh_from {
            stats.leaves_edited += leaf;
            self.store.nodes[node as usize] = contents;
            Ok(node)
        } else {
            stats.leaves_fresh += leaf;
            self.store.allocate(contents)
        }
    }
}

/// Returns the number of chains that a tree of this height has entries for.
#[inline]
const fn reach_of(height: u32) -> u64 {
    1 << (FAN_BITS * (height + 1))
}

/// Returns which child of a node at this height leads to a chain.
#[inline]
const fn digit(chain: u32, height: u32) -> usize {
    (chain >> (FAN_BITS * height)) as usize & (FAN - 1)
}
