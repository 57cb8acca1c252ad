//! Every random trace is possible.

use anyorder_testkit::synthetic::{EventDriven, Fixpoint, event_driven, fixpoint};
use anyorder_testkit::worked::r4_slides;
use anyorder_testkit::{Shape, random_trace, show};
use anyorder_trace::{
    Action, Block, Columns, HandlerId, LockId, Mailbox, Mode, Position, Tables, TaskId, Trace,
    TraceSink, wellformed,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// Executes a trace and reports impossible events.
struct Follower<'t> {
    trace: &'t Trace,
    /// The pending tasks of each handler, in the order in which they were posted.
    pending: BTreeMap<HandlerId, Vec<TaskId>>,
    running: BTreeMap<HandlerId, TaskId>,
    begun: BTreeSet<TaskId>,
    holds: Vec<(HandlerId, LockId, Mode)>,
}

impl Follower<'_> {
    fn follow(&mut self) -> Result<(), String> {
        for event in self.trace.events() {
            self.event(event.action(), event.task)
                .map_err(|what| format!("event {}: {what}", event.id.0))?;
        }
        Ok(())
    }

    fn event(&mut self, action: Action, task: TaskId) -> Result<(), String> {
        let handler = self.trace.span(task).handler;
        match action {
            Action::Post(posted) => {
                let to = self.trace.span(posted).handler;
                self.pending.entry(to).or_default().push(posted);
            }
            Action::Cancel(cancelled) => {
                let pending = self.pending.values_mut().flatten();
                let count = pending.filter(|t| **t == cancelled).count();
                // A cancel may come too late.
                if count != usize::from(!self.begun.contains(&cancelled)) {
                    return Err("cancels what is not pending".to_owned());
                }
                self.pending.values_mut().for_each(|list| list.retain(|t| *t != cancelled));
            }
            Action::Get(_) => {
                self.begun.insert(task);
                if let Some(other) = self.running.insert(handler, task) {
                    return Err(format!("begins inside `{}`", self.trace.task_name(other)));
                }
                self.get(handler, task)?;
            }
            Action::End => _ = self.running.remove(&handler),
            Action::Acquire(lock, mode) => {
                let free = self
                    .holds
                    .iter()
                    .filter(|(_, l, _)| *l == lock)
                    .all(|(h, _, m)| *h == handler || (m.is_shared() && mode.is_shared()));
                if !free {
                    return Err("takes a lock that another holds".to_owned());
                }
                self.holds.push((handler, lock, mode));
            }
            Action::Release(lock, mode) => {
                let fits = |hold: &(HandlerId, LockId, Mode)| {
                    (hold.0, hold.1, hold.2.is_shared()) == (handler, lock, mode.is_shared())
                };
                let hold = self.holds.iter().position(fits);
                self.holds.remove(hold.ok_or("releases what it does not hold")?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether the mailbox's discipline lets a task begin now.
    fn get(&mut self, handler: HandlerId, task: TaskId) -> Result<(), String> {
        let list = self.pending.entry(handler).or_default();
        let index = list.iter().position(|t| *t == task).ok_or("begins what is not pending")?;
        list.remove(index);
        let tables = self.trace.tables();
        if tables.handlers[handler.index()].mailbox == Mailbox::Bag {
            return Ok(());
        }
        let def = |t: TaskId| tables.tasks[t.index()];
        let front = |t: TaskId| def(t).position == Position::Front;
        // By due time: a later post overtakes only with less delay, or from the front.
        let passes = |earlier: TaskId| {
            front(task) || (!front(earlier) && def(task).delay < def(earlier).delay)
        };
        // Only a post to the front overtakes an earlier post.
        let waits = |later: TaskId| !front(later);
        if let Some(earlier) = list[..index].iter().find(|t| !passes(**t)) {
            return Err(format!("overtakes `{}`", self.trace.task_name(*earlier)));
        }
        match list[index..].iter().find(|t| !waits(**t)) {
            Some(later) => Err(format!("ignores `{}` in front", self.trace.task_name(*later))),
            None => Ok(()),
        }
    }
}

fn check(name: &str, trace: &Trace) {
    let mut follower = Follower {
        trace,
        pending: BTreeMap::new(),
        running: BTreeMap::new(),
        begun: BTreeSet::new(),
        holds: Vec::new(),
    };
    let found = follower.follow();
    assert!(found.is_ok(), "{name}: {found:?}\n{}", show(trace));
    let problems = wellformed::check(trace);
    assert_eq!(problems.errors_total, 0, "{name}: {problems:#?}\n{}", show(trace));
}

#[test]
fn random_traces_can_happen() {
    for (name, shape) in Shape::all() {
        for seed in 0..2_000 {
            let trace = random_trace(seed, &shape);
            assert!(trace.len() <= shape.events_max, "{name} {seed}: {} events", trace.len());
            check(&format!("{name} {seed}"), &trace);
        }
    }
}

#[test]
fn random_traces_are_deterministic_and_various() {
    for (name, shape) in Shape::all() {
        let shows: Vec<String> = (0..200).map(|seed| show(&random_trace(seed, &shape))).collect();
        assert_eq!(shows[7], show(&random_trace(7, &shape)));
        let mut distinct = shows.clone();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() >= 195, "{name}: {} different traces of 200", distinct.len());
    }
}

/// Stores everything.
#[derive(Default)]
struct Collected(Tables, Columns);

impl TraceSink for Collected {
    fn block(&mut self, _: &Tables, block: &Block) -> io::Result<()> {
        self.1.append(&block.columns);
        Ok(())
    }

    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.0 = tables.clone();
        Ok(())
    }
}

#[test]
fn synthetic_and_worked_traces_can_happen() {
    check("slides", &r4_slides().trace);
    for seed in 1..6 {
        let mut whole = Collected::default();
        let config = EventDriven { events: 20_000, tasks: 800, handlers: 12, sessions: 40, seed };
        event_driven(&config, &mut whole).expect("memory takes everything");
        check("event-driven", &Trace::new(whole.0, whole.1));
        let mut whole = Collected::default();
        let config = Fixpoint { events: 5_000, rungs: 12, lanes: 3, accesses: 2, seed };
        fixpoint(&config, &mut whole).expect("memory takes everything");
        check("fixpoint", &Trace::new(whole.0, whole.1));
    }
}

#[test]
fn the_follower_refuses_impossible_events() {
    let head = "handler ui delayed\nhandler w none\nhandler v none\ntask m ui\ntask n ui\ntask d ui delay=5\n";
    let bad = [
        "w post m\nw post n\nn get\nn end",
        "w post m\nw post d\nd get\nd end",
        "w post m\nw post n\nm get\nn get",
        "m get\nm end",
        "w post m\nv cancel m\nm get",
        "w acquire l\nv acquire l",
        "w acquire l\nv release l",
    ];
    for text in bad {
        let script = anyorder_testkit::script(&format!("{head}{text}"));
        let mut follower = Follower {
            trace: &script.trace,
            pending: BTreeMap::new(),
            running: BTreeMap::new(),
            begun: BTreeSet::new(),
            holds: Vec::new(),
        };
        assert!(follower.follow().is_err(), "{text}");
    }
}
