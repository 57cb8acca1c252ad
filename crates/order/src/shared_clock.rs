//! Clocks of many chains whose copies share their parts.
//!
//! **Problem.** A trace of `n` threads that take one lock has `n` clocks of `n` entries. As vectors
//! they take quadratic memory, and each join reads all entries, though it changes few of them.
//!
//! **Idea.** A clock of few chains is a [`Clock`]. A wider one is a tree of counted nodes, 32
//! entries a leaf and 16 children an inner node. A copy shares all nodes. A join does not enter
//! nodes that both sides share, and its result has the nodes of the other side where that is at
//! least as great, so that the next join of the two finds them shared. See also
//! [`ClockStore`](crate::ClockStore), whose nodes lie in one arena: it needs the list of all clocks
//! to free some, these clocks do not.
//!
//! **Source.** Driscoll, Sarnak, Sleator, Tarjan, "Making data structures persistent", JCSS 38,
//! 1989.
//!
//! **Cost.** With `c` chains, a copy of a wide clock takes constant time, reading or writing an
//! entry takes `log16 c`, and a join takes that for each entry that differs, at most.

use crate::clock::{ChainId, Clock};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// The least number of a chain that makes a clock wide.
const WIDE: u32 = 256;

const LEAF_BITS: u32 = 5;
const LEAF: usize = 1 << LEAF_BITS;
const FAN_BITS: u32 = 4;
const FAN: usize = 1 << FAN_BITS;

thread_local! {
    static NODES_JOINED: Cell<u64> = const { Cell::new(0) };
}

/// A vector clock like [`Clock`], whose copies share memory once it is wide.
///
/// ```
/// use anyorder_order::{ChainId, SharedClock};
///
/// let mut a = SharedClock::new();
/// a.raise(ChainId(70_000), 3);
/// let mut b = a.clone();
/// b.raise(ChainId(2), 1);
/// assert!(a.join(&b));
/// assert_eq!(a.get(ChainId(2)), 1);
/// assert_eq!(a.get(ChainId(70_000)), 3);
/// ```
#[derive(Clone)]
pub struct SharedClock(Form);

#[derive(Clone)]
enum Form {
    Flat(Clock),
    Wide(Tree),
}

/// A tree of clock entries. Height 0 is a leaf.
#[derive(Clone)]
struct Tree {
    height: u32,
    root: Arc<Node>,
}

#[derive(Clone)]
enum Node {
    Leaf([u32; LEAF]),
    Inner([Option<Arc<Node>>; FAN]),
}

impl Default for SharedClock {
    fn default() -> SharedClock {
        SharedClock::new()
    }
}

impl SharedClock {
    /// The clock with no entries. Takes no memory.
    #[must_use]
    pub const fn new() -> SharedClock {
        SharedClock(Form::Flat(Clock::new()))
    }

    /// Returns the entry of a chain, 0 where the clock has none. O(log16 chains).
    #[inline]
    #[must_use]
    pub fn get(&self, chain: ChainId) -> u32 {
        match &self.0 {
            Form::Flat(clock) => clock.get(chain),
            Form::Wide(tree) => tree.get(chain.0),
        }
    }

    /// Makes the entry of a chain at least `value`. O(log16 chains).
    #[inline]
    pub fn raise(&mut self, chain: ChainId, value: u32) {
        match &mut self.0 {
            Form::Flat(clock) if chain.0 < WIDE => clock.raise(chain, value),
            _ => {
                if value > self.get(chain) {
                    self.widen().set(chain.0, value);
                }
            }
        }
    }

    /// Takes the pointwise maximum with `other`; returns whether any entry grew. O(entries of
    /// `other`) for clocks that are not wide. The cost of two wide ones is that of their
    /// difference.
    pub fn join(&mut self, other: &SharedClock) -> bool {
        match (&mut self.0, &other.0) {
            (Form::Flat(mine), Form::Flat(theirs)) => mine.join(theirs),
            (Form::Wide(mine), Form::Wide(theirs)) => mine.join(theirs),
            (Form::Flat(_), Form::Wide(theirs)) => self.widen().join(theirs),
            (Form::Wide(mine), Form::Flat(theirs)) => {
                let mut grew = false;
                for (chain, &value) in (0..).zip(theirs.as_slice()) {
                    if value > mine.get(chain) {
                        mine.set(chain, value);
                        grew = true;
                    }
                }
                grew
            }
        }
    }

    /// Works like [`join`](Self::join) with a clock that has all entries of this one but that of
    /// one chain, which is kept. O(log16 chains) for wide clocks. Returns false only if no entry
    /// grew.
    pub fn join_greater(&mut self, other: &SharedClock, own: ChainId) -> bool {
        let kept = self.get(own);
        match (&mut self.0, &other.0) {
            (Form::Wide(mine), Form::Wide(theirs)) if Arc::ptr_eq(&mine.root, &theirs.root) => {
                false
            }
            (Form::Wide(_), Form::Wide(_)) | (Form::Flat(_), Form::Flat(_)) => {
                self.copy_from(other);
                self.raise(own, kept);
                true
            }
            _ => self.join(other),
        }
    }

    /// Returns how many pairs of nodes the joins of this thread have entered, to see how their cost
    /// grows.
    #[must_use]
    pub fn nodes_joined() -> u64 {
        NODES_JOINED.get()
    }

    /// Makes this clock a copy of `other`, reusing its memory. O(1) for wide clocks.
    pub fn copy_from(&mut self, other: &SharedClock) {
        match (&mut self.0, &other.0) {
            (Form::Flat(mine), Form::Flat(theirs)) => mine.copy_from(theirs),
            (mine, theirs) => *mine = theirs.clone(),
        }
    }

    /// Returns whether no entry was ever raised.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Form::Flat(clock) if clock.is_empty())
    }

    /// Returns the bytes on the heap that no other clock shares.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match &self.0 {
            Form::Flat(clock) => clock.memory_bytes(),
            Form::Wide(tree) => own_bytes(&tree.root),
        }
    }

    /// Makes the clock a tree.
    fn widen(&mut self) -> &mut Tree {
        if let Form::Flat(clock) = &self.0 {
            self.0 = Form::Wide(Tree::of(clock.as_slice()));
        }
        match &mut self.0 {
            Form::Wide(tree) => tree,
            Form::Flat(_) => unreachable!("the clock was made wide"),
        }
    }
}

impl fmt::Debug for SharedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Flat(clock) => clock.fmt(f),
            Form::Wide(tree) => write!(f, "a clock of {} levels", tree.height + 1),
        }
    }
}

impl Tree {
    fn of(entries: &[u32]) -> Tree {
        let mut tree = Tree { height: 0, root: Arc::new(Node::Leaf([0; LEAF])) };
        for (chain, &value) in (0..).zip(entries).filter(|(_, value)| **value != 0) {
            tree.set(chain, value);
        }
        tree
    }

    #[inline]
    fn get(&self, chain: u32) -> u32 {
        if !self.reaches(chain) {
            return 0;
        }
        let (mut node, mut height) = (&self.root, self.height);
        loop {
            match &**node {
                Node::Leaf(entries) => return entries[chain as usize % LEAF],
                Node::Inner(children) => match &children[digit(chain, height)] {
                    Some(child) => node = child,
                    None => return 0,
                },
            }
            height -= 1;
        }
    }

    fn set(&mut self, chain: u32, value: u32) {
        while !self.reaches(chain) {
            self.lift();
        }
        let (mut node, mut height) = (&mut self.root, self.height);
        loop {
            match Arc::make_mut(node) {
                Node::Leaf(entries) => {
                    entries[chain as usize % LEAF] = value;
                    return;
                }
                Node::Inner(children) => {
                    node = children[digit(chain, height)]
                        .get_or_insert_with(|| Arc::new(empty(height - 1)));
                }
            }
            height -= 1;
        }
    }

    fn join(&mut self, other: &Tree) -> bool {
        while self.height < other.height {
            self.lift();
        }
        let lower = self.height - other.height;
        if lower == 0 {
            let joined = joined(&self.root, &other.root);
            return take(&mut self.root, &other.root, joined);
        }
        // The other tree has the first chains only.
        let mut node = &mut self.root;
        for _ in 1..lower {
            let Node::Inner(children) = Arc::make_mut(node) else { return false };
            let below = || Arc::new(Node::Inner([const { None }; FAN]));
            node = children[0].get_or_insert_with(below);
        }
        let Node::Inner(children) = Arc::make_mut(node) else { return false };
        let Some(first) = &mut children[0] else {
            children[0] = Some(other.root.clone());
            return true;
        };
        let joined = joined(first, &other.root);
        take(first, &other.root, joined)
    }

    /// Returns whether the tree has a place for a chain.
    #[inline]
    fn reaches(&self, chain: u32) -> bool {
        u64::from(chain) >> (LEAF_BITS + FAN_BITS * self.height) == 0
    }

    fn lift(&mut self) {
        // A node without entries has no place in a tree, so that joins need not look for them.
        let is_empty = matches!(&*self.root, Node::Leaf(entries) if *entries == [0; LEAF]);
        let mut children = [const { None }; FAN];
        children[0] = (!is_empty).then(|| self.root.clone());
        self.root = Arc::new(Node::Inner(children));
        self.height += 1;
    }
}

/// Returns a node of some height without entries.
fn empty(height: u32) -> Node {
    if height == 0 { Node::Leaf([0; LEAF]) } else { Node::Inner([const { None }; FAN]) }
}

/// Returns the place of a chain among the children of a node.
#[inline]
const fn digit(chain: u32, height: u32) -> usize {
    (chain >> (LEAF_BITS + FAN_BITS * (height - 1))) as usize % FAN
}

/// The join of two nodes.
enum Joined {
    /// The first node, which is greater somewhere.
    Mine,
    /// The second node, which is greater somewhere.
    Theirs,
    /// Both nodes are equal.
    Equal,
    New(Arc<Node>),
}

/// Replaces a node by its join with another one. Returns whether it grew.
fn take(mine: &mut Arc<Node>, theirs: &Arc<Node>, joined: Joined) -> bool {
    match joined {
        Joined::Mine => return false,
        Joined::Equal => {
            // Shared from now on.
            mine.clone_from(theirs);
            return false;
        }
        Joined::Theirs => mine.clone_from(theirs),
        Joined::New(node) => *mine = node,
    }
    true
}

/// Joins two nodes of one height.
fn joined(mine: &Arc<Node>, theirs: &Arc<Node>) -> Joined {
    if Arc::ptr_eq(mine, theirs) {
        return Joined::Equal;
    }
    NODES_JOINED.set(NODES_JOINED.get() + 1);
    match (&**mine, &**theirs) {
        (Node::Leaf(a), Node::Leaf(b)) => joined_leaves(a, b),
        (Node::Inner(a), Node::Inner(b)) => joined_inner(a, b),
        // Nodes of one height are of one kind.
        _ => Joined::Mine,
    }
}

fn joined_leaves(mine: &[u32; LEAF], theirs: &[u32; LEAF]) -> Joined {
    let (mut is_less, mut is_greater) = (false, false);
    for (mine, theirs) in mine.iter().zip(theirs) {
        is_less |= mine < theirs;
        is_greater |= mine > theirs;
    }
    match (is_less, is_greater) {
        (false, false) => Joined::Equal,
        (false, true) => Joined::Mine,
        (true, false) => Joined::Theirs,
        (true, true) => {
            let mut both = *mine;
            both.iter_mut().zip(theirs).for_each(|(both, theirs)| *both = (*both).max(*theirs));
            Joined::New(Arc::new(Node::Leaf(both)))
        }
    }
}

fn joined_inner(mine: &[Option<Arc<Node>>; FAN], theirs: &[Option<Arc<Node>>; FAN]) -> Joined {
    let (mut is_less, mut is_greater) = (false, false);
    let mut both: [Option<Arc<Node>>; FAN] = [const { None }; FAN];
    for (both, (a, b)) in both.iter_mut().zip(mine.iter().zip(theirs)) {
        match (a, b) {
            (None, None) => {}
            (Some(a), None) => {
                is_greater = true;
                *both = Some(a.clone());
            }
            (None, Some(b)) => {
                is_less = true;
                *both = Some(b.clone());
            }
            (Some(a), Some(b)) => {
                *both = Some(match joined(a, b) {
                    Joined::Mine => {
                        is_greater = true;
                        a.clone()
                    }
                    Joined::Equal => b.clone(),
                    Joined::Theirs => {
                        is_less = true;
                        b.clone()
                    }
                    Joined::New(node) => {
                        (is_less, is_greater) = (true, true);
                        node
                    }
                });
            }
        }
    }
    match (is_less, is_greater) {
        (false, false) => Joined::Equal,
        (false, true) => Joined::Mine,
        (true, false) => Joined::Theirs,
        (true, true) => Joined::New(Arc::new(Node::Inner(both))),
    }
}

/// Returns the bytes of the nodes that only one clock has.
fn own_bytes(node: &Arc<Node>) -> usize {
    if Arc::strong_count(node) > 1 {
        return 0;
    }
    let below: usize = match &**node {
        Node::Leaf(_) => 0,
        Node::Inner(children) => children.iter().flatten().map(own_bytes).sum(),
    };
    below + size_of::<Node>() + 2 * size_of::<usize>()
}
