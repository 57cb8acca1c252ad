//! The least fixed point: which variables, handlers and events can influence the targets.

use super::targets::{Targets, takers};
use crate::unfold::{Action, EventKey, Node, Tree, UnitId, VarId, VarKind, World};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What is kept.
pub(super) struct Kept {
    pub(super) vars: BTreeSet<VarId>,
    /// The smaller trees.
    pub(super) trees: Vec<Tree>,
    pub(super) events: BTreeSet<EventKey>,
}

pub(super) fn keep(world: &World<'_>, targets: &Targets) -> Kept {
    let heard: BTreeMap<EventKey, Vec<UnitId>> =
        world.events.iter().map(|event| (event.clone(), takers(world, event))).collect();
    let mut vars = targets.vars.clone();
    let mut units = targets.units.clone();
    loop {
        let events: BTreeSet<EventKey> = heard
            .iter()
            .filter(|(_, takers)| takers.iter().any(|unit| units.contains(unit)))
            .map(|(event, _)| event.clone())
            .collect();
        let filter = Filter { world, vars: &vars, units: &units, events: &events };
        let trees: Vec<Tree> = world.trees.iter().map(|tree| filter.smaller(tree)).collect();
        let (mut more_vars, mut more_units) = (vars.clone(), units.clone());
        for (unit, tree) in trees.iter().enumerate() {
            if tree.nodes[0].action.is_some() {
                more_units.insert(unit);
            }
            for action in tree.nodes.iter().filter_map(|node| node.action.as_ref()) {
                if let Action::Read(var) | Action::Set { var, .. } = action {
                    more_vars.insert(*var);
                }
            }
        }
        more_vars.extend(triggers(world, &more_units));
        // The outside sends an event by setting its attribute.
        more_vars.extend(events.iter().filter_map(|event| world.var_of(event)));
        if more_vars.len() == vars.len() && more_units.len() == units.len() {
            return Kept { vars, trees, events };
        }
        (vars, units) = (more_vars, more_units);
    }
}

/// Returns the timers and subscriptions that run these handlers.
fn triggers<'w>(
    world: &'w World<'_>,
    units: &'w BTreeSet<UnitId>,
) -> impl Iterator<Item = VarId> + 'w {
    let runs = |app: usize, handler: &str, of_event: bool| {
        units.iter().any(|unit| {
            let facts = &world.units[*unit];
            facts.app == app && facts.handler == handler && facts.event.is_some() == of_event
        })
    };
    let subscribed = move |var: VarId| {
        let own = world.subscriptions.iter().filter(|one| one.var == var);
        own.map(|one| (one.app, one.handler.as_str())).collect::<Vec<_>>()
    };
    (0..world.vars.len()).filter(move |var| match &world.vars[*var].kind {
        VarKind::Timer(app, handler) => runs(*app, handler, false),
        VarKind::Subscribed(..) | VarKind::Request(..) => {
            subscribed(*var).into_iter().any(|(app, handler)| runs(app, handler, true))
        }
        _ => false,
    })
}

struct Filter<'f, 'a> {
    world: &'f World<'a>,
    vars: &'f BTreeSet<VarId>,
    units: &'f BTreeSet<UnitId>,
    events: &'f BTreeSet<EventKey>,
}

/// A node of a smaller tree, with its successors.
#[derive(PartialEq, Eq, Hash)]
struct Shared {
    action: Option<Action>,
    next: Vec<(usize, usize)>,
}

impl Filter<'_, '_> {
    /// Returns whether an action without branches can matter.
    fn matters(&self, action: &Action) -> bool {
        let ends = |of: &dyn Fn(&VarKind) -> bool| {
            self.vars.iter().any(|var| of(&self.world.vars[*var].kind))
        };
        match action {
            Action::Set { var, event, .. } => {
                self.vars.contains(var)
                    || event.as_ref().is_some_and(|event| self.events.contains(event))
            }
            Action::Emit { event, .. } => self.events.contains(event),
            Action::Run { unit, .. } => self.units.contains(unit),
            Action::Unschedule { app, handler } => ends(&|kind| match kind {
                VarKind::Timer(of, name) => {
                    of == app && handler.as_ref().is_none_or(|handler| handler == name)
                }
                _ => false,
            }),
            Action::Unsubscribe { app, .. } => {
                ends(&|kind| matches!(kind, VarKind::Subscribed(of, _) if of == app))
            }
            Action::Read(_) | Action::Choose(_) => true,
            // The result is incomplete by its note.
            Action::Unknown => false,
        }
    }

    /// Returns how many branches a node has if all executions are known.
    fn branches(&self, action: &Action) -> usize {
        match action {
            Action::Read(var) => self.world.vars[*var].domain.len(),
            Action::Choose(count) => usize::from(*count),
            _ => 1,
        }
    }

    /// Returns the tree without what does not matter. Equal nodes are one.
    fn smaller(&self, tree: &Tree) -> Tree {
        let mut nodes: Vec<Node> = vec![];
        let mut known: HashMap<Shared, usize> = HashMap::new();
        let mut shared = |action: Option<Action>, next: Vec<(usize, usize)>| {
            let node = Shared { action: action.clone(), next };
            if let Some(known) = known.get(&node) {
                return *known;
            }
            nodes.push(Node { action, next: node.next.iter().copied().collect() });
            known.insert(node, nodes.len() - 1);
            nodes.len() - 1
        };
        let end = shared(None, vec![]);
        // A node stands behind the node that leads to it.
        let mut of = vec![end; tree.nodes.len()];
        for (at, node) in tree.nodes.iter().enumerate().rev() {
            let Some(action) = &node.action else { continue };
            let next: Vec<(usize, usize)> =
                node.next.iter().map(|(branch, next)| (*branch, of[*next])).collect();
            let is_branch = matches!(action, Action::Read(_) | Action::Choose(_));
            let one = next.first().map_or(end, |(_, next)| *next);
            let is_equal = next.iter().all(|(_, next)| *next == one);
            of[at] = if is_branch {
                if is_equal && next.len() == self.branches(action) {
                    one
                } else {
                    shared(Some(action.clone()), next)
                }
            } else if self.matters(action) {
                shared(Some(action.clone()), if one == end { vec![] } else { vec![(0, one)] })
            } else {
                one
            };
        }
        rooted(nodes, of[0], tree.paths)
    }
}

/// Returns the part of a graph that a node reaches. The node becomes the first.
fn rooted(nodes: Vec<Node>, root: usize, paths: usize) -> Tree {
    let mut number: HashMap<usize, usize> = HashMap::from([(root, 0)]);
    let mut order = vec![root];
    let mut at = 0;
    while at < order.len() {
        for next in nodes[order[at]].next.values() {
            if !number.contains_key(next) {
                number.insert(*next, order.len());
                order.push(*next);
            }
        }
        at += 1;
    }
    let moved = order.iter().map(|old| {
        let mut node = nodes[*old].clone();
        node.next.values_mut().for_each(|next| *next = number[next]);
        node
    });
    Tree { nodes: moved.collect(), paths }
}
