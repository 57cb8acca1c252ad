//! The tree of the executions of one handler.

use super::world::{EventKey, Origin, Site, UnitId, VarId};
use crate::value::Stored;
use std::collections::BTreeMap;

/// What an execution does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    /// Reads a variable: one branch for each value, by its position in the domain.
    Read(VarId),
    /// Takes any of so many alternatives.
    Choose(u16),
    /// Sets a variable. With an event, only a change is a step, and the event follows it.
    Set { var: VarId, value: Stored, event: Option<EventKey>, site: Site },
    /// An event without a variable.
    Emit { event: EventKey, site: Site },
    /// Runs another handler now: a timer that is immediate by option.
    Run { unit: UnitId, site: Site },
    /// Ends the timers of an app: one, or all.
    Unschedule { app: usize, handler: Option<String> },
    /// Ends the subscriptions of an app: those to these, or all.
    Unsubscribe { app: usize, from: Option<Vec<Origin>> },
    /// Ends where something was not understood: what follows is unknown.
    Unknown,
}

/// A node: an action, and what follows it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Node {
    /// `None`: the execution ends here.
    pub(crate) action: Option<Action>,
    /// The nodes behind it by branch; 0 if it has only one.
    pub(crate) next: BTreeMap<usize, usize>,
}

/// The executions of one handler; node 0 is the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: Vec<Node>,
    /// The number of executions in it.
    pub(crate) paths: usize,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { nodes: vec![Node::default()], paths: 0 }
    }
}

impl Tree {
    /// Adds an execution: its actions, each with the branch that it took. Executions agree up to
    /// the first branch in which they differ, since an evaluation is deterministic.
    pub(crate) fn insert(&mut self, path: Vec<(Action, usize)>) {
        let mut at = 0;
        for (action, branch) in path {
            debug_assert!(self.nodes[at].action.as_ref().is_none_or(|known| *known == action));
            self.nodes[at].action.get_or_insert(action);
            at = match self.nodes[at].next.get(&branch) {
                Some(known) => *known,
                None => {
                    self.nodes.push(Node::default());
                    let new = self.nodes.len() - 1;
                    self.nodes[at].next.insert(branch, new);
                    new
                }
            };
        }
        self.paths += 1;
    }
}
