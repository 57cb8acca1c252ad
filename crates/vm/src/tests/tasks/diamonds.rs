//! Every pair of enabled tasks in a state, in both orders: tasks whose accesses do not conflict
//! form a diamond. Tested on the gallery and on random models.
//!
//! Partial-order reduction depends on these properties of the machine; they are tested in the
//! states of random walks. Two enabled tasks without a conflict lead to the same fingerprint and
//! the same enabled tasks in both orders, by the same steps. A task conflicts with each task that
//! it enables or disables, or whose number of alternatives it changes.

use super::changed::Changes;
use super::enumerate::choices;
use crate::tests::models::random as generate;
use anyorder_common::random::{Random, Rng};
use anyorder_lang::lower::compile;
use anyorder_system::{
    Access, AccessKind, Choice, EnabledTask, Hash128, RunError, SnapshotId, Snapshots, StateSystem,
    Step, SystemFactory, TaskSystem,
};
use anyorder_trace::{Location, LocationId};
use anyorder_vm::{MachineFactory, MachineRun};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Counters for one kind of pair.
#[derive(Clone, Copy, Default, Debug)]
struct Pairs {
    /// Pairs without a conflict.
    independent: u64,
    /// Pairs with a conflict.
    dependent: u64,
    /// Of these, pairs with the same result in both orders: more exact accesses could save them.
    harmless: u64,
    /// Of the harmless ones, pairs that share no variables, but only mailboxes, time or the running
    /// task.
    no_variable: u64,
}

/// Counters of the test.
#[derive(Default, Debug)]
struct Seen {
    states: u64,
    /// By the kinds of the two tasks.
    pairs: BTreeMap<(&'static str, &'static str), Pairs>,
    /// Tasks that another task enabled.
    enabled: u64,
    /// Steps that failed.
    failed: u64,
    replayed: u64,
    /// By kind of change: steps that meet it, and steps that do not.
    changed: BTreeMap<&'static str, (u64, u64)>,
}

impl Seen {
    fn total(&self) -> Pairs {
        self.pairs.values().fold(Pairs::default(), |sum, pairs| Pairs {
            independent: sum.independent + pairs.independent,
            dependent: sum.dependent + pairs.dependent,
            harmless: sum.harmless + pairs.harmless,
            no_variable: sum.no_variable + pairs.no_variable,
        })
    }

    fn add(&mut self, other: &Seen) {
        self.states += other.states;
        self.enabled += other.enabled;
        self.failed += other.failed;
        self.replayed += other.replayed;
        for (kind, (met, not)) in &other.changed {
            let sum = self.changed.entry(*kind).or_default();
            *sum = (sum.0 + met, sum.1 + not);
        }
        for (kinds, pairs) in &other.pairs {
            let sum = self.pairs.entry(*kinds).or_default();
            sum.independent += pairs.independent;
            sum.dependent += pairs.dependent;
            sum.harmless += pairs.harmless;
            sum.no_variable += pairs.no_variable;
        }
    }
}

/// One choice in a state, and its result.
struct Successor {
    choice: Choice,
    step: Step,
    after: SnapshotId,
    enabled: Vec<EnabledTask>,
    print: Hash128,
    kind: &'static str,
}

pub(crate) struct Subject {
    pub(crate) run: MachineRun,
    seen: Seen,
    /// A hash of all reports.
    pub(crate) reported: u64,
}

pub(crate) type Checked<T> = Result<T, String>;

pub(crate) fn broken(error: RunError) -> String {
    error.to_string()
}

/// The locations where two steps conflict.
fn conflicts(a: &Step, b: &Step) -> Vec<LocationId> {
    let writes = |access: &Access| access.kind != AccessKind::Read;
    let others = b.accesses.as_slice();
    let all =
        a.accesses.as_slice().iter().filter(|x| {
            others.iter().any(|y| x.location == y.location && (writes(x) || writes(y)))
        });
    all.map(|access| access.location).collect()
}

fn sorted(mut enabled: Vec<EnabledTask>) -> Vec<EnabledTask> {
    enabled.sort_by(|a, b| a.task.cmp(&b.task));
    enabled
}

fn alternatives(enabled: &[EnabledTask], choice: &Choice) -> u32 {
    enabled.iter().find(|e| e.task == choice.task).map_or(0, |e| e.alternatives)
}

impl Subject {
    pub(crate) fn new(run: MachineRun) -> Subject {
        Subject { run, seen: Seen::default(), reported: 0 }
    }

    /// Takes walks from the start, and tries some changes in each state.
    pub(crate) fn walks(
        &mut self,
        machine: &anyorder_vm::Machine,
        (walks, steps, edits): (usize, usize, usize),
        seed: u64,
        changes: &mut Changes,
    ) -> Checked<()> {
        let mut random = Rng::new(seed);
        for _ in 0..walks {
            self.run.reset().map_err(broken)?;
            for _ in 0..steps {
                self.changed(machine, changes, |n| random.index(n), edits)?;
                let all = choices(&mut self.run).map_err(broken)?;
                if all.is_empty() {
                    break;
                }
                let choice = &all[random.index(all.len())];
                let step = self.run.execute(choice).map_err(broken)?;
                if !step.failures.is_empty() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes walks from the start, and checks all pairs in each state.
    pub(crate) fn walk_often(
        &mut self,
        machine: &anyorder_vm::Machine,
        walks: usize,
        steps: usize,
    ) -> Checked<()> {
        let mut random = Rng::new(5);
        (0..walks).try_for_each(|_| self.walk(machine, steps, &mut random))
    }

    fn kind(&self, step: &Step) -> &'static str {
        let tables = self.run.tables();
        let own = |access: &&Access| access.kind == AccessKind::Rmw;
        for access in step.accesses.as_slice().iter().filter(own) {
            let text = tables.location_text(access.location);
            for (class, kind) in [("event.", "event"), ("thread.", "thread"), ("task.", "task")] {
                if text.starts_with(class) {
                    return kind;
                }
            }
        }
        "init"
    }

    fn enabled(&mut self) -> Checked<Vec<EnabledTask>> {
        self.run.enabled().map(sorted).map_err(broken)
    }

    /// Makes every enabled choice, each from the same state.
    fn make_all(&mut self, start: SnapshotId) -> Checked<Vec<Successor>> {
        let all = choices(&mut self.run).map_err(broken)?;
        let mut made = Vec::new();
        for choice in all {
            self.run.restore(start).map_err(broken)?;
            let step = self.run.execute(&choice).map_err(broken)?;
            let after = self.run.save().map_err(broken)?;
            let (enabled, print) = (self.enabled()?, self.run.fingerprint());
            let kind = self.kind(&step);
            self.seen.failed += u64::from(!step.failures.is_empty());
            made.push(Successor { choice, step, after, enabled, print, kind });
        }
        Ok(made)
    }

    /// Makes a further choice, if it is enabled: returns the step, and its result.
    fn then(
        &mut self,
        first: &Successor,
        second: &Choice,
    ) -> Checked<Option<(Step, Hash128, Vec<EnabledTask>)>> {
        if second.alternative >= alternatives(&first.enabled, second) {
            return Ok(None);
        }
        self.run.restore(first.after).map_err(broken)?;
        let step = self.run.execute(second).map_err(broken)?;
        Ok(Some((step, self.run.fingerprint(), self.enabled()?)))
    }

    fn pair(&mut self, before: &[EnabledTask], a: &Successor, b: &Successor) -> Checked<()> {
        let ab = self.then(a, &b.choice)?;
        let ba = self.then(b, &a.choice)?;
        let kinds = (a.kind.min(b.kind), a.kind.max(b.kind));
        let is_same_end = match (&ab, &ba) {
            (Some((_, x, enabled)), Some((_, y, others))) => x == y && enabled == others,
            _ => false,
        };
        let common = conflicts(&a.step, &b.step);
        let locations = &self.run.tables().locations;
        let is_variable = |at: &LocationId| matches!(locations[at.index()], Location::Named(_));
        let no_variable = !common.iter().any(is_variable);
        let pairs = self.seen.pairs.entry(kinds).or_default();
        if !common.is_empty() {
            pairs.dependent += 1;
            pairs.harmless += u64::from(is_same_end);
            pairs.no_variable += u64::from(is_same_end && no_variable);
            return Ok(());
        }
        pairs.independent += 1;
        let names = format!("`{}` and `{}`", a.choice.task, b.choice.task);
        let (Some((b_second, ..)), Some((a_second, ..))) = (&ab, &ba) else {
            return Err(format!("{names}: one disables the other"));
        };
        for (of, first, second) in [(a, &a.step, a_second), (b, &b.step, b_second)] {
            if first != second {
                return Err(self.unlike(&format!("{names}: `{}`", of.choice.task), first, second));
            }
        }
        if !is_same_end {
            return Err(format!("{names}: another end: {ab:?} and {ba:?}"));
        }
        for (other, of) in [(a, b), (b, a)] {
            let [was, is] = [before, &other.enabled].map(|e| alternatives(e, &of.choice));
            if was != is {
                return Err(format!("{names}: {was} and then {is} alternatives"));
            }
        }
        Ok(())
    }

    pub(crate) fn unlike(&self, what: &str, a: &Step, b: &Step) -> String {
        let tables = self.run.tables();
        let texts = |step: &Step| {
            let text = |a: &Access| {
                let location = tables.location_text(a.location);
                format!("{:?} {location} {:?} {:?}", a.kind, a.read, a.written)
            };
            step.accesses.as_slice().iter().map(text).collect::<Vec<_>>().join("; ")
        };
        format!("{what}: steps differ: {}\n  {}\n{a:?}\n{b:?}", texts(a), texts(b))
    }

    /// A task conflicts with the tasks it enables.
    fn enables(&mut self, before: &[EnabledTask], a: &Successor) -> Checked<()> {
        for new in &a.enabled {
            if before.iter().any(|e| e.task == new.task) {
                continue;
            }
            for alternative in 0..new.alternatives {
                let choice = Choice { alternative, ..Choice::of(new.task.clone()) };
                let Some((step, ..)) = self.then(a, &choice)? else {
                    return Err(format!("`{}` is enabled and cannot run", new.task));
                };
                if conflicts(&a.step, &step).is_empty() {
                    let text = format!("`{}` enables `{}`", a.choice.task, new.task);
                    return Err(self.unlike(&text, &a.step, &step));
                }
                self.seen.enabled += 1;
            }
        }
        Ok(())
    }

    /// A state survives encoding and decoding, whatever else the run stores.
    fn form(&mut self, machine: &anyorder_vm::Machine) -> Checked<()> {
        let mut bytes = Vec::new();
        machine.encode(self.run.state(), &mut bytes);
        let decoded = machine.decode(&bytes).ok_or("a state that cannot be read")?;
        if machine.fingerprint(&decoded) == machine.fingerprint(self.run.state()) {
            return Ok(());
        }
        Err("a state with the fingerprint of another".to_owned())
    }

    fn walk(
        &mut self,
        machine: &anyorder_vm::Machine,
        steps: usize,
        random: &mut Rng,
    ) -> Checked<()> {
        self.run.reset().map_err(broken)?;
        let mut path = Vec::new();
        for _ in 0..steps {
            self.form(machine)?;
            self.seen.states += 1;
            let before = self.enabled()?;
            let start = self.run.save().map_err(broken)?;
            let made = self.make_all(start)?;
            for (at, a) in made.iter().enumerate() {
                self.enables(&before, a)?;
                for b in made[at + 1..].iter().filter(|b| b.choice.task != a.choice.task) {
                    self.pair(&before, a, b)?;
                }
            }
            let going: Vec<&Successor> =
                made.iter().filter(|m| m.step.failures.is_empty()).collect();
            let next = if going.is_empty() { None } else { Some(going[random.index(going.len())]) };
            self.run.restore(start).map_err(broken)?;
            if let Some(next) = next {
                self.run.restore(next.after).map_err(broken)?;
                if self.run.fingerprint() != next.print || self.enabled()? != next.enabled {
                    return Err("a restored state is another".to_owned());
                }
                path.push(next.choice.clone());
            }
            let going_on = next.is_some();
            self.run.forget(start);
            made.iter().for_each(|made| self.run.forget(made.after));
            if !going_on {
                break;
            }
        }
        let (end, enabled) = (self.run.fingerprint(), self.enabled()?);
        self.run.reset().map_err(broken)?;
        for choice in &path {
            self.run.execute(choice).map_err(broken)?;
            self.seen.replayed += 1;
        }
        if (end, enabled) != (self.run.fingerprint(), self.enabled()?) {
            return Err("the same choices lead elsewhere".to_owned());
        }
        Ok(())
    }
}

/// Walks through a model, which must compile.
fn check(text: &str, file: &str, walks: usize, steps: usize, seed: u64) -> Checked<Seen> {
    let compiled = compile(text, file).map_err(|all| format!("it does not compile: {all:?}"))?;
    let machine = anyorder_vm::Machine::new(compiled.program)
        .map_err(|error| format!("no machine: {error}"))?;
    let machine = Arc::new(machine);
    let run = MachineFactory(machine.clone()).make().map_err(broken)?;
    let mut subject = Subject::new(run);
    let mut random = Rng::new(seed);
    for _ in 0..walks {
        subject.walk(&machine, steps, &mut random)?;
    }
    let mut changes = Changes::of(&machine);
    subject.walks(&machine, (walks.min(3), steps, 2), seed, &mut changes)?;
    subject.seen.changed = changes.seen;
    Ok(subject.seen)
}

fn print(seen: &Seen) {
    for ((a, b), pairs) in &seen.pairs {
        println!("  {a}, {b}: {pairs:?}");
    }
    println!("  met and not met: {:?}", seen.changed);
    let Seen { states, enabled, failed, replayed, .. } = seen;
    println!("  {states} states, {enabled} enabled, {failed} failed, {replayed} replayed");
}

/// Fails if a property was not tested.
fn assert_seen(seen: &Seen, kinds_min: usize) {
    let both = |pairs: &Pairs| pairs.independent > 0 && pairs.dependent > 0;
    let kinds = seen.pairs.values().filter(|pairs| both(pairs)).count();
    assert!(kinds >= kinds_min, "{:?}", seen.pairs);
    assert!(seen.enabled > 0 && seen.failed > 0 && seen.replayed > 0);
}

#[test]
fn independent_tasks_commute_in_the_gallery() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    let mut all = Seen::default();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the gallery")
        .map(|f| f.expect("a file").path())
        .collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|e| e == "any"));
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let text = std::fs::read_to_string(file).expect("a model");
        match check(&text, &name, 12, 30, 11) {
            Ok(seen) => {
                println!("{name}: {:?}", seen.total());
                all.add(&seen);
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    print(&all);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(files.len() > 40);
    assert_seen(&all, 4);
}

#[test]
fn independent_tasks_commute_in_random_models() {
    let seeds = anyorder_testkit::effort::seeds(100);
    let (mut all, mut wrong) = (Seen::default(), Vec::new());
    for seed in seeds.clone() {
        let (text, _) = generate::model(seed);
        match check(&text, "random.any", 3, 12, seed) {
            Ok(seen) => all.add(&seen),
            Err(error) => {
                if wrong.len() < 4 {
                    println!("seed {seed}: {error}\n{text}\n");
                }
                wrong.push(seed);
            }
        }
    }
    println!("models of seeds {seeds:?}");
    print(&all);
    assert!(wrong.is_empty(), "{} models: seeds {wrong:?}", wrong.len());
    assert_seen(&all, 6);
}
