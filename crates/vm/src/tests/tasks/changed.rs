//! States with one change: a step whose accesses do not meet the change is the same step, leads to
//! the same state except for the change, and is enabled in both states or in neither.

use super::diamonds::{Checked, Subject, broken};
use super::enumerate::choices;
use crate::sabotage::{Counts, Reports};
use crate::tests::access::{Edit, PlaceSpec, View};
use crate::tests::reducible::edits::{ByElement, Changed, Pool, edits};
use crate::tests::reducible::sharp;
use anyorder_lang::lower::compile;
use anyorder_system::{
    AccessKind, Choice, Hash128, Snapshots, StateSystem, Step, SystemFactory, TaskSystem,
};
use anyorder_testkit::effort::is_due;
use anyorder_vm::program::MailboxKind;
use anyorder_vm::{Machine, MachineFactory, MachineRun, State};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

static COUNTS: Counts = Counts::new();

/// The most choices tried in one state.
const CHOICES: usize = 16;

/// What the test needs to know about changes of a program, and how often each was tried.
#[derive(Default)]
pub(crate) struct Changes {
    by: ByElement,
    pool: Pool,
    /// For each kind of change: steps that meet it, and steps that do not.
    pub(crate) seen: BTreeMap<&'static str, (u64, u64)>,
    /// A hash of all reports.
    reported: u64,
}

impl Changes {
    pub(crate) fn of(machine: &Machine) -> Changes {
        Changes { by: ByElement::of(machine), ..Changes::default() }
    }
}

/// The locations of a change, in the words of the run.
fn locations(
    machine: &Machine,
    run: &MachineRun,
    view: &View,
    changed: &Changed,
) -> BTreeSet<String> {
    let program = machine.program();
    let member = |member: u32| machine.member_name(member);
    let mut all = BTreeSet::new();
    let mut add = |text: String| _ = all.insert(text);
    let field = |class: u16, field: u16| {
        let class = &program.classes[usize::from(class)];
        let name = &program.names[class.fields[usize::from(field)].index()];
        let uid = match changed.edit {
            Edit::Field(uid, ..) | Edit::FieldElement(uid, ..) => uid,
            _ => 0,
        };
        format!("{}#{}.{name}", class.name, run.object_number(uid).unwrap_or(0))
    };
    for spot in &changed.spots {
        match spot {
            PlaceSpec::Global(global) => add(program.globals[*global].name.clone()),
            PlaceSpec::Element(global, index) => {
                add(format!("{}[{}]", program.globals[*global].name, words(index)));
            }
            PlaceSpec::Field(class, of) => add(field(*class, *of)),
            PlaceSpec::FieldElement(class, of, index) => {
                add(format!("{}[{}]", field(*class, *of), words(index)));
            }
            PlaceSpec::Lock(lock) => add(format!("lock {}", machine.lock_name(*lock))),
            PlaceSpec::Cond(cond) => add(format!("cond {}", machine.cond_name(*cond))),
            PlaceSpec::Started(of) => {
                add(format!("started.{}", member(*of)));
                add(format!("event.{}", member(*of)));
                add(format!("enabled({})", member(*of)));
            }
            PlaceSpec::Toggled(of) => add(format!("enabled({})", member(*of))),
            PlaceSpec::Busy(slot) => add(format!("busy.{}", machine.slot_name(*slot))),
            PlaceSpec::Head(queue) => add(format!("first.{}", machine.slot_name(*queue as u32))),
            PlaceSpec::Tail(queue) => add(format!("last.{}", machine.slot_name(*queue as u32))),
            PlaceSpec::Now => add("time.now".to_owned()),
            // Each task has a location of its own.
            PlaceSpec::Standing(_) | PlaceSpec::Posted(..) | PlaceSpec::Forked(_) => {}
        }
    }
    match changed.edit {
        // One more is like one that is there.
        Edit::Drop(uid) | Edit::End(uid) | Edit::Duplicate(uid) => {
            add(format!("task.{}", run.created_name(uid).unwrap_or_default()));
        }
        Edit::EndDeclared(member) => add(format!("thread.{}", machine.thread_name(member))),
        _ => {}
    }
    // What was posted with a delay moves the time on when it is taken.
    if let Edit::Duplicate(uid) = changed.edit
        && view.messages.iter().any(|m| m.uid == uid && m.kind == MailboxKind::Delayed)
    {
        all.insert("time.now".to_owned());
    }
    all
}

/// The location of the container of the changed element: writing it writes the element.
fn container(machine: &Machine, run: &MachineRun, changed: &Changed) -> Option<String> {
    let whole = changed.container.clone()?;
    let changed = Changed { spots: vec![whole], ..changed.clone() };
    let view = machine.view(run.state());
    locations(machine, run, &view, &changed).pop_first()
}

fn words(index: &anyorder_vm::Value) -> String {
    match index {
        anyorder_vm::Value::Int(at) => at.to_string(),
        _ => String::new(),
    }
}

/// A choice, its step and the state after it.
struct Tried {
    step: Step,
    after: State,
}

impl Subject {
    fn touched(&self, step: &Step) -> BTreeSet<String> {
        let tables = self.run.tables();
        let accesses = step.accesses.as_slice().iter();
        accesses.map(|access| tables.location_text(access.location)).collect()
    }

    /// Adds a report to the hash.
    fn report(&mut self, what: impl Hash) {
        let mut hasher = DefaultHasher::new();
        (self.reported, what).hash(&mut hasher);
        self.reported = hasher.finish();
    }

    /// Whether a step writes a location.
    fn writes(&self, step: &Step, location: &str) -> bool {
        let tables = self.run.tables();
        let accesses = step.accesses.as_slice().iter();
        let mut writes = accesses.filter(|access| access.kind != AccessKind::Read);
        writes.any(|access| tables.location_text(access.location) == location)
    }

    fn try_all(&mut self) -> Checked<BTreeMap<(String, u32), Tried>> {
        let start = self.run.save().map_err(broken)?;
        let all: Vec<Choice> = choices(&mut self.run).map_err(broken)?;
        let mut tried = BTreeMap::new();
        for choice in all.into_iter().take(CHOICES) {
            self.run.restore(start).map_err(broken)?;
            let step = self.run.execute(&choice).map_err(broken)?;
            let after = self.run.state().clone();
            let reported: BTreeSet<(String, bool)> = step
                .accesses
                .as_slice()
                .iter()
                .map(|a| (self.run.tables().location_text(a.location), a.kind == AccessKind::Read))
                .collect();
            self.report(reported);
            tried.insert((choice.task.to_string(), choice.alternative), Tried { step, after });
        }
        self.run.restore(start).map_err(broken)?;
        self.run.forget(start);
        Ok(tried)
    }

    /// Tries single changes in the current state of the run.
    pub(crate) fn changed(
        &mut self,
        machine: &Machine,
        changes: &mut Changes,
        mut next: impl FnMut(usize) -> usize,
        count: usize,
    ) -> Checked<()> {
        let state = self.run.state().clone();
        let view = machine.view(&state);
        changes.pool.add(&view);
        let mut all = edits(&view, &changes.pool, &changes.by);
        if all.is_empty() {
            return Ok(());
        }
        let here = self.try_all()?;
        let cut = here.len() == CHOICES;
        for _ in 0..count.min(all.len()) {
            let changed = all.swap_remove(next(all.len()));
            let Some(other) = machine.edited(&state, &changed.edit) else { continue };
            if machine.fingerprint(&other) == machine.fingerprint(&state) {
                continue;
            }
            let of = locations(machine, &self.run, &view, &changed);
            let container = container(machine, &self.run, &changed);
            self.run.put(other);
            let there = self.try_all()?;
            self.run.put(state.clone());
            for name in here.keys().chain(there.keys()) {
                // A task without a name is the additional one.
                let (a, b) = (here.get(name), there.get(name));
                if name.0.contains('?') || (cut && (a.is_none() || b.is_none())) {
                    continue;
                }
                let misses = |t: &Tried| {
                    self.touched(&t.step).is_disjoint(&of)
                        && container.as_ref().is_none_or(|c| !self.writes(&t.step, c))
                };
                if !a.is_some_and(misses) && !b.is_some_and(misses) {
                    changes.seen.entry(changed.kind).or_default().0 += 1;
                    continue;
                }
                changes.seen.entry(changed.kind).or_default().1 += 1;
                self.same(machine, (name, a, b), &changed, &view)?;
            }
        }
        Ok(())
    }

    fn same(
        &self,
        machine: &Machine,
        (name, a, b): (&(String, u32), Option<&Tried>, Option<&Tried>),
        changed: &Changed,
        view: &View,
    ) -> Checked<()> {
        let what = format!(
            "`{name:?}` with {:?} {:?} in {:?}",
            changed.edit, changed.spots, view.messages
        );
        let (Some(a), Some(b)) = (a, b) else {
            return Err(format!("{what}: it can be taken in one of two states only"));
        };
        if a.step != b.step {
            return Err(self.unlike(&what, &a.step, &b.step));
        }
        let writes = |spot: &PlaceSpec| {
            matches!(spot, PlaceSpec::Global(global) if {
                let name = &machine.program().globals[*global].name;
                self.touched(&a.step).contains(name)
            })
        };
        if !a.step.failures.is_empty() || changed.uses.iter().any(writes) {
            return Ok(());
        }
        let edited = machine.edited(&a.after, &changed.edit).unwrap_or_else(|| a.after.clone());
        let print = |state: &State| -> Hash128 { machine.fingerprint(state) };
        if print(&edited) == print(&b.after) {
            return Ok(());
        }
        Err(format!("{what}: leads elsewhere: {:?}", machine.show(&b.after)))
    }
}

/// Tests a model on a machine that makes some of its reports.
fn check(
    name: &str,
    text: &str,
    reports: Reports,
    (walks, steps, edits): (usize, usize, usize),
) -> Checked<Changes> {
    let machine = Machine::new(compile(text, name).expect("a model").program).expect("a program");
    let machine = Arc::new(machine.reporting(reports));
    let run = MachineFactory(machine.clone()).make().expect("a run");
    let mut subject = Subject::new(run);
    let mut changes = Changes::of(&machine);
    subject.walks(&machine, (walks, steps, edits), 77, &mut changes)?;
    changes.reported = subject.reported;
    Ok(changes)
}

#[test]
fn steps_do_not_notice_what_they_do_not_access() {
    let mut seen: BTreeMap<&'static str, (u64, u64)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, text) in sharp::SHARP {
        match check(name, text, Reports::All, (30, 12, 5)) {
            Ok(changes) => {
                for (kind, (met, not)) in changes.seen {
                    let sum = seen.entry(kind).or_default();
                    *sum = (sum.0 + met, sum.1 + not);
                }
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    println!("met and not met: {seen:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(seen.len() >= 12 && seen.values().all(|(met, not)| *met > 0 && *not > 0), "{seen:?}");
}

/// Each line of the machine that reports an access, when disabled in turn, is noticed.
/// A push tries one line in so many.
const PARTS: usize = 6;

#[test]
fn every_access_that_is_dropped_is_noticed() {
    let reported = |reports| {
        let reported = |(name, text): &(&str, &str)| {
            check(name, text, reports, (8, 12, 3)).ok()?.reported.into()
        };
        sharp::SHARP.iter().map(reported).collect::<Vec<Option<u64>>>()
    };
    let right = reported(Reports::Counted(&COUNTS));
    let (mut unnoticed, mut others) = (Vec::new(), Vec::new());
    // Neighbours among the lines are mostly noticed by the same model.
    let mut last = 0;
    let due = COUNTS.by_line().into_iter().enumerate().filter(|(index, _)| is_due(*index, PARTS));
    for (_, (line, count)) in due {
        let (file, at) = (line.0.rsplit('/').next().unwrap_or_default(), line.1);
        let noticed = (last..sharp::SHARP.len()).chain(0..last).find(|at| {
            let (name, text) = sharp::SHARP[*at];
            check(name, text, Reports::Without(line), (10, 12, 6)).is_err()
                || diamonds(name, text, Reports::Without(line)).is_err()
        });
        last = noticed.unwrap_or(last);
        let noticed = noticed.map(|at| sharp::SHARP[at].0);
        if noticed.is_none() && reported(Reports::Without(line)) == right {
            // The line serves reduction only, or another line reports the same.
            others.push(format!("{file}:{at}"));
            continue;
        }
        println!("{file}:{at}, {count} reports: noticed by {noticed:?}");
        if noticed.is_none() {
            unnoticed.push(format!("{file}:{at}"));
        }
    }
    println!("{} lines add nothing: {others:?}", others.len());
    assert!(unnoticed.is_empty(), "{unnoticed:?}");
}

fn diamonds(name: &str, text: &str, reports: Reports) -> Checked<()> {
    let machine = Machine::new(compile(text, name).expect("a model").program).expect("a program");
    let machine = Arc::new(machine.reporting(reports));
    let run = MachineFactory(machine.clone()).make().expect("a run");
    Subject::new(run).walk_often(&machine, 6, 12)
}
