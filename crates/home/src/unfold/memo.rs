//! Executions that homes share: each is evaluated once.
//!
//! **Problem.** The pairs of a hundred apps are five thousand homes. An app does nearly the same in
//! each of them, and its evaluation takes nearly all of the time.
//!
//! **Method.** An execution is a function of the replies to its deeds. For each handler with an
//! event, the executions are a tree: a deed at each node, a branch for each reply. A home that
//! needs an execution walks down the tree with its own replies. If they lead to an end, the deeds
//! are carried out in this home; else the evaluator runs, and the tree grows.
//!
//! **Guarantee.** The world after a repeated execution is that after the evaluation:
//! `tests/memo_twin.rs` compares the programs of random homes.
//!
//! **Cost.** A step of a walk is a look-up of its reply.

use super::deed::{Deed, Deeds, Reply};
use super::world::Unit;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most deeds that are kept: about a gigabyte.
const DEEDS_MAX: u64 = 4_000_000;

/// The executions of the apps of one folder. All homes that share it must have their devices and
/// apps under the same numbers, with the same settings and the same options.
#[derive(Debug, Default)]
pub struct Memo {
    tapes: Mutex<HashMap<Unit, Arc<Mutex<Tape>>>>,
    deeds: AtomicU64,
    repeated: AtomicU64,
    evaluated: AtomicU64,
}

impl Memo {
    /// Returns how many executions were repeated, and how many were evaluated.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (self.repeated.load(Ordering::Relaxed), self.evaluated.load(Ordering::Relaxed))
    }

    fn tape(&self, unit: &Unit) -> Arc<Mutex<Tape>> {
        let mut tapes = self.tapes.lock().unwrap_or_else(PoisonError::into_inner);
        tapes.entry(unit.clone()).or_default().clone()
    }

    /// Repeats an execution if it is known; else nothing happens.
    pub(super) fn repeat(&self, unit: &Unit, deeds: &mut Deeds<'_, '_>) -> bool {
        let tape = self.tape(unit);
        let tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(nodes) = tape.find(deeds) else { return false };
        for node in nodes {
            if let Some(deed) = &tape.nodes[node].deed {
                deeds.carry_out(deed);
            }
        }
        self.repeated.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Keeps an execution.
    pub(super) fn keep(&self, unit: &Unit, done: Vec<(Deed, Reply)>) {
        self.evaluated.fetch_add(1, Ordering::Relaxed);
        if self.deeds.load(Ordering::Relaxed) > DEEDS_MAX {
            return;
        }
        let tape = self.tape(unit);
        let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        self.deeds.fetch_add(tape.keep(done), Ordering::Relaxed);
    }
}

/// The executions of a handler for one event; node 0 is the first.
#[derive(Debug)]
struct Tape {
    nodes: Vec<Node>,
}

#[derive(Debug, Default)]
struct Node {
    /// `None`: no execution came here, or one ends here.
    deed: Option<Deed>,
    is_end: bool,
    next: HashMap<Reply, usize>,
}

impl Default for Tape {
    fn default() -> Tape {
        Tape { nodes: vec![Node::default()] }
    }
}

impl Tape {
    /// Returns the nodes of the execution that these replies lead to.
    fn find(&self, deeds: &Deeds<'_, '_>) -> Option<Vec<usize>> {
        let (mut at, mut branches, mut sets, mut nodes) = (0, 0, 0, vec![]);
        while let Some(deed) = &self.nodes[at].deed {
            nodes.push(at);
            let reply = deeds.foretold(deed, &mut branches, &mut sets)?;
            at = *self.nodes[at].next.get(&reply)?;
        }
        self.nodes[at].is_end.then_some(nodes)
    }

    /// Adds an execution; returns the number of new nodes.
    fn keep(&mut self, done: Vec<(Deed, Reply)>) -> u64 {
        let (mut at, mut new) = (0, 0);
        for (deed, reply) in done {
            debug_assert!(!self.nodes[at].is_end, "an execution goes on behind an end");
            let known = self.nodes[at].deed.get_or_insert(deed.clone());
            debug_assert_eq!(*known, deed, "an execution depends on more than its replies");
            at = match self.nodes[at].next.get(&reply) {
                Some(next) => *next,
                None => {
                    self.nodes.push(Node::default());
                    let next = self.nodes.len() - 1;
                    self.nodes[at].next.insert(reply, next);
                    new += 1;
                    next
                }
            };
        }
        debug_assert!(self.nodes[at].deed.is_none(), "an execution ends before another");
        self.nodes[at].is_end = true;
        new
    }
}
