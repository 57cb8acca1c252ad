//! The search: runs one execution after another, and puts what is to be tried the other way round
//! into the wakeup trees of the states along it.

use super::ending::spins_in_vain;
use super::label::{Label, Touch, can_wait, is_open, success_of};
use super::outcome::{DporExplored, DporOptions};
use super::path::{Node, Path, Reversal};
use super::sabotage::Sabotage;
use super::tree::{Begins, Tree, begins, insert};
use crate::execution::{Ending, Event, Execution, Step};
use crate::ids::ThreadId;
use crate::learn::{Blocked, Divergence, Fault, Found, Incomplete};
use crate::object::{Object, World};
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};
use crate::races::races_of;
use crate::spinning::LongLoop;
use rustc_hash::FxHashSet;

pub(super) type Visit<'v> = &'v mut dyn FnMut(&[Event], Ending);

pub(super) struct Search<'p, 'v, P: ThreadProgram + ?Sized> {
    pub(super) execution: Execution<'p, P>,
    pub(super) path: Path,
    pub(super) options: DporOptions,
    visit: Visit<'v>,
    pub(super) explored: DporExplored,
    known: FxHashSet<Fault>,
    pub(super) has_accesses: bool,
    /// A loop that gave up where nothing else could go on.
    given_up: Option<LongLoop>,
    pub(super) sabotage: Sabotage,
    /// What is run next.
    start: Start,
    /// On one of several cores: what is to be tried the other way round, by the events before.
    pub(super) reversed: Option<Vec<(u32, Vec<Label>)>>,
    /// Whether the program does what only one core explores.
    pub(super) needs_one_core: bool,
    /// The events of the execution before.
    before: Vec<Event>,
    /// To be used again.
    ready: Vec<Step>,
    apart: Vec<u32>,
}

/// What is run at the end of the path.
#[derive(Default)]
pub(super) struct Start {
    pub(super) sleep: Vec<Label>,
    /// In order. If there are none, anything may be run.
    pub(super) trees: Vec<Tree>,
}

impl<'p, 'v, P: ThreadProgram + ?Sized> Search<'p, 'v, P> {
    pub(super) fn new(
        program: &'p mut P,
        options: &DporOptions,
        visit: Visit<'v>,
        sabotage: Sabotage,
    ) -> Self {
        let mut execution = Execution::new(program);
        execution.set_spins_max(options.spins_max);
        execution.set_turns_max(options.turns_max);
        execution.reduce();
        Search {
            execution,
            path: Path::new(sabotage),
            options: options.clone(),
            visit,
            explored: DporExplored::default(),
            known: FxHashSet::default(),
            has_accesses: false,
            given_up: None,
            sabotage,
            start: Start::default(),
            reversed: None,
            needs_one_core: false,
            before: Vec::new(),
            ready: Vec::new(),
            apart: Vec::new(),
        }
    }

    /// Explores everything, and says what it found.
    pub(super) fn explore(mut self) -> DporExplored {
        let end = self.run_while(|_| true);
        self.finish(end.err())
    }

    /// Says what it found.
    pub(super) fn finish(mut self, incomplete: Option<Incomplete>) -> DporExplored {
        self.execution.stop();
        let loops = self.execution.loops();
        self.explored.long_loops = loops.long.clone();
        let longest = loops.long.iter().max_by_key(|long| long.turns).copied();
        let in_vain = loops.waited_in_vain.then_some(Incomplete::Diverged(None));
        let given_up = self.given_up.or(longest).map(Incomplete::GivesUp);
        self.explored.incomplete = incomplete.or(given_up).or(in_vain);
        self.explored
    }

    /// Runs one execution after another as long as it should. Returns whether all were run.
    pub(super) fn run_while(
        &mut self,
        mut goes_on: impl FnMut(&mut Self) -> bool,
    ) -> Result<bool, Incomplete> {
        loop {
            let check = self.options.cancel.check();
            check.map_err(|stopped| Incomplete::Stopped(stopped.0))?;
            if self.explored.executions + self.explored.blocked >= self.options.executions_max {
                return Err(Incomplete::Executions);
            }
            if !goes_on(self) {
                return Ok(false);
            }
            self.replay()?;
            let start = std::mem::take(&mut self.start);
            self.extend(start)?;
            match self.next_start() {
                Some(next) => self.start = next,
                None => return Ok(true),
            }
        }
    }

    /// Runs the program to the end of the path.
    pub(super) fn replay(&mut self) -> Result<(), Incomplete> {
        std::mem::swap(&mut self.before, self.execution.events_mut());
        self.explored.runs += 1;
        self.execution.restart();
        for (node, before) in self.path.nodes.iter().zip(&self.before) {
            let result = self.execution.perform(node.step());
            let Some(event) = self.execution.events().last().filter(|_| result.is_some()) else {
                return Err(Incomplete::Diverged(None));
            };
            // What is known of a loop changes how it waits.
            let gives_way = |event: &Event| matches!(event.op.act, Act::Await(_) | Act::Yield);
            if event != before && !(gives_way(event) && gives_way(before)) {
                return Err(diverged(before, event));
            }
        }
        self.explored.steps += self.path.len() as u64;
        Ok(())
    }

    /// Goes on to the end of an execution.
    pub(super) fn extend(&mut self, start: Start) -> Result<(), Incomplete> {
        let Start { mut sleep, mut trees } = start;
        loop {
            if self.reversed.is_some() && self.asks_for_one_core() {
                return Err(Incomplete::Diverged(None));
            }
            let mut ready = std::mem::take(&mut self.ready);
            self.execution.ready(&mut ready);
            if self.execution.has_diverged() {
                return Err(Incomplete::Diverged(None));
            }
            let is_end = match ready.as_slice() {
                [] => true,
                [only] => self.execution.is_turn(*only),
                _ => false,
            };
            if is_end {
                self.ready = ready;
                self.end();
                return Ok(());
            }
            if self.path.len() >= self.options.steps_max {
                self.note(Fault::StepLimit, self.path.len());
                return Err(Incomplete::Steps);
            }
            if trees.is_empty() {
                let Some(step) = self.pick(&ready, &sleep) else {
                    self.ready = ready;
                    self.explored.blocked += 1;
                    return Ok(());
                };
                let label = self.label_of(step);
                trees.push(Tree { label, after: Vec::new() });
            }
            let Tree { label, after } = trees.remove(0);
            let step = Step { thread: ThreadId(label.thread), alternative: label.alternative };
            self.add_ways(&ready, step, &sleep, &mut trees);
            self.ready = ready;
            let Some(result) = self.execution.perform(step) else {
                return Err(Incomplete::Diverged(None));
            };
            sleep = self.push(step, result, (sleep, trees));
            trees = after;
        }
    }

    /// Any step that does not sleep, without a switch of threads if possible.
    fn pick(&self, ready: &[Step], sleep: &[Label]) -> Option<Step> {
        let is_awake = |step: &&Step| {
            let is_it = |label: &Label| {
                label.thread == step.thread.0 && label.alternative == step.alternative
            };
            !sleep.iter().any(is_it)
        };
        let last = self.path.nodes.last().map(|node| node.label.thread);
        let goes_on = |step: &&&Step| Some(step.thread.0) == last;
        let mut awake = ready.iter().filter(is_awake);
        let first = *awake.next()?;
        if Some(first.thread.0) == last {
            return Some(first);
        }
        let rest = ready.iter().filter(is_awake);
        Some(rest.filter(|step| goes_on(&step)).copied().next().unwrap_or(first))
    }

    /// A label of a step before it is made. Only its thread and its way count.
    fn label_of(&self, step: Step) -> Label {
        let op = Op::new(crate::ids::ObjectId::NONE, Act::Yield);
        Label::new(step.thread.0, step.alternative, &op, 0)
    }

    /// Adds the other ways of an operation to what is to be run.
    fn add_ways(&mut self, ready: &[Step], step: Step, sleep: &[Label], trees: &mut Vec<Tree>) {
        let ways = ready.iter().filter(|other| other.thread == step.thread && **other != step);
        if self.sabotage == Sabotage::FirstWayOnly {
            return;
        }
        let mut ways = ways.peekable();
        if ways.peek().is_none() {
            return;
        }
        let Some(next) = self.execution.next(step.thread) else { return };
        let op = next.op.clone();
        for way in ways {
            let label = Label::new(way.thread.0, way.alternative, &op, 0);
            let sequence = vec![label];
            if self.is_asleep(sleep, &sequence) {
                continue;
            }
            match &mut self.reversed {
                Some(reversed) => reversed.push((self.path.nodes.len() as u32, sequence)),
                None => drop(insert(trees, sequence, self.sabotage)),
            }
        }
    }

    fn is_asleep(&self, sleep: &[Label], sequence: &[Label]) -> bool {
        let can_begin = |label: &Label| begins(label, sequence, self.sabotage) != Begins::Not;
        self.sabotage != Sabotage::SleepersNotAsked && sleep.iter().any(can_begin)
    }

    /// Whether the program did something that only one core explores: what is known of loops
    /// depends on what was run before, and numbers of calls are each program's own.
    pub(super) fn asks_for_one_core(&self) -> bool {
        self.needs_one_core || self.execution.has_waits() || self.execution.program_ref().is_bound()
    }

    /// Notes a step that was made. Returns what sleeps after it.
    pub(super) fn push(
        &mut self,
        step: Step,
        result: u64,
        (sleep, siblings): (Vec<Label>, Vec<Tree>),
    ) -> Vec<Label> {
        let own = self.path.len() as u32;
        let Some(event) = self.execution.events().last() else { return sleep };
        let mut label = Label::new(step.thread.0, step.alternative, &event.op, result);
        if label.touch == Touch::Remove {
            label.left = owners(self.execution.world(), &event.op) + 1;
        }
        let failure = match event.op.act {
            Act::Fail(number) => Some(number),
            _ => None,
        };
        self.has_accesses |= matches!(event.op.act, Act::Access { .. });
        self.needs_one_core |= matches!(event.op.act, Act::Invoke(_));
        let spawned = match event.op.act {
            Act::Spawn(child) => Some(child),
            _ => None,
        };
        let waiting = can_wait(&event.op.act).then(|| event.op.clone());
        let next = self.sleep_after(&sleep, &label);
        let before = self.path.last(step.thread.0);
        let node = Node { label, index: 0, sleep, siblings, reversals: Vec::new() };
        let races = self.path.push(node, spawned);
        let reversals = match waiting {
            Some(op) if !races.is_empty() => {
                let label = self.path.nodes[own as usize].label.clone();
                self.reversals_of_waiting((step.thread, &op, &label), before, Some(own))
            }
            _ => races.into_iter().map(|first| Reversal { first, without: Vec::new() }).collect(),
        };
        self.path.nodes[own as usize].reversals = reversals;
        self.explored.steps += 1;
        if let Some(number) = failure {
            self.note(Fault::Failure(number), self.path.len());
        }
        next
    }

    /// What sleeps at the end of the path.
    pub(super) fn sleep_at_end(&self) -> Vec<Label> {
        let last = self.path.nodes.last();
        last.map_or_else(Vec::new, |node| self.sleep_after(&node.sleep, &node.label))
    }

    fn sleep_after(&self, sleep: &[Label], label: &Label) -> Vec<Label> {
        let stays = |sleeper: &Label| {
            if self.sabotage == Sabotage::SleepersSleepOn {
                return (sleeper.thread != label.thread).then(|| sleeper.clone());
            }
            if sleeper.is_dependent(label, self.sabotage) {
                return None;
            }
            let mut sleeper = sleeper.clone();
            if sleeper.removes_with(label) && self.sabotage != Sabotage::LastOwnersCommute {
                sleeper.left = sleeper.left.saturating_sub(1);
                return (sleeper.left >= 2).then_some(sleeper);
            }
            Some(sleeper)
        };
        sleep.iter().filter_map(stays).collect()
    }

    /// The races of an operation that may have to wait: with the latest events before which it
    /// would not wait.
    fn reversals_of_waiting(
        &self,
        (thread, op, label): (ThreadId, &Op, &Label),
        before: Option<u32>,
        second: Option<u32>,
    ) -> Vec<Reversal> {
        let end = second.unwrap_or(self.path.len() as u32);
        let conflicting = self.path.conflicting(label, before, end);
        let (mut found, mut apart) = (Vec::<Reversal>::new(), Vec::new());
        for first in &conflicting {
            if found.iter().any(|later| self.path.is_before(*first, later.first)) {
                continue;
            }
            let mut reversal = Reversal { first: *first, without: Vec::new() };
            self.path.apart(&reversal, second, end, &mut apart);
            let mut is_possible = self.is_possible(*first, &apart, thread, op);
            let rivals: Vec<u32> =
                apart.iter().copied().filter(|at| conflicting.contains(at)).collect();
            for from in (0..rivals.len()).rev() {
                if is_possible || self.sabotage == Sabotage::NobodyLeftOut {
                    break;
                }
                reversal.without = rivals[from..].to_vec();
                self.path.apart(&reversal, second, end, &mut apart);
                is_possible = self.is_possible(*first, &apart, thread, op);
            }
            if is_possible {
                found.push(reversal);
            }
            if self.sabotage == Sabotage::LastConflictOnly {
                break;
            }
        }
        found
    }

    /// The objects of an operation after the events before one, and some later ones.
    fn world_of(&self, op: &Op, first: u32, apart: &[u32]) -> World {
        let program = self.execution.program_ref();
        let mut world = World::new();
        let mut all: Vec<u32> = Vec::new();
        op.objects(|object| {
            let changes = self.path.accesses(object).iter();
            let changes = changes.filter(|access| access.1 != Touch::Read).map(|access| access.0);
            all.extend(changes.filter(|at| *at < first || apart.binary_search(at).is_ok()));
        });
        all.sort_unstable();
        all.dedup();
        for at in all {
            let Event { step, op, .. } = &self.execution.events()[at as usize];
            world.make(op, |object| program.initial(object));
            world.perform(step.thread, op, step.alternative);
        }
        world.make(op, |object| program.initial(object));
        world
    }

    fn is_possible(&self, first: u32, apart: &[u32], thread: ThreadId, op: &Op) -> bool {
        self.world_of(op, first, apart).alternatives(thread, op) > 0
    }

    /// Ends an execution in which no thread can go on.
    fn end(&mut self) {
        self.explored.executions += 1;
        self.reverse_all();
        let ending = match self.ready.first() {
            None => self.execution.ending(),
            Some(_) => {
                let spins_max = self.options.spins_max;
                if let Some(long) = spins_in_vain(&mut self.execution, &mut self.ready, spins_max) {
                    self.given_up.get_or_insert(long);
                    return;
                }
                Ending::Livelock
            }
        };
        (self.visit)(self.execution.events(), ending);
        self.note_ending(ending);
    }

    /// Notes what is wrong at the end of an execution.
    pub(super) fn note_ending(&mut self, ending: Ending) {
        let stuck = || -> Vec<Blocked> {
            let pending = self.execution.pending();
            let blocked = |(thread, next): (ThreadId, &Next)| Blocked {
                thread,
                op: next.op.clone(),
                site: next.site,
            };
            pending.map(blocked).collect()
        };
        let all = self.execution.events().len();
        match ending {
            Ending::Deadlock => self.note(Fault::Deadlock(stuck()), all),
            Ending::Livelock => self.note(Fault::Livelock(stuck()), all),
            _ => {}
        }
        if self.has_accesses {
            for race in races_of(self.execution.events()) {
                self.note(Fault::Race(race), all);
            }
        }
    }

    pub(super) fn note(&mut self, fault: Fault, count: usize) {
        if self.known.insert(key_of(&fault)) {
            let steps = self.execution.events()[..count].iter().map(|event| event.step).collect();
            self.explored.faults.push(Found { fault, steps, is_shortest: false });
        }
    }

    /// Sees to it that each pair in a race is tried the other way round.
    fn reverse_all(&mut self) {
        for second in 0..self.path.len() {
            if self.path.nodes[second].reversals.is_empty() {
                continue;
            }
            let reversals = std::mem::take(&mut self.path.nodes[second].reversals);
            for reversal in &reversals {
                self.reverse(reversal, Some(second as u32), None);
            }
            self.path.nodes[second].reversals = reversals;
        }
        if self.sabotage == Sabotage::WaitingForgotten {
            return;
        }
        let waiting: Vec<(ThreadId, Op)> =
            self.execution.pending().map(|(thread, next)| (thread, next.op.clone())).collect();
        for (thread, op) in waiting {
            let label = Label::new(thread.0, 0, &op, success_of(&op.act));
            let before = self.path.last(thread.0);
            for reversal in self.reversals_of_waiting((thread, &op, &label), before, None) {
                self.reverse(&reversal, None, Some((thread, &op)));
            }
        }
    }

    /// Sees to it that an event comes before another one. The event is one of the path, or what a
    /// waiting thread does.
    fn reverse(
        &mut self,
        reversal: &Reversal,
        second: Option<u32>,
        waiting: Option<(ThreadId, &Op)>,
    ) {
        let mut apart = std::mem::take(&mut self.apart);
        let end = self.path.len() as u32;
        self.path.apart(reversal, second, end, &mut apart);
        let first = reversal.first;
        let mut sequence: Vec<Label> =
            apart.iter().map(|at| self.path.nodes[*at as usize].label.clone()).collect();
        let event = second.map(|second| &self.execution.events()[second as usize]);
        let moved = event.map(|event| (event.step.thread, &event.op)).or(waiting);
        let Some((thread, op)) = moved else { return };
        let old = second.map(|second| self.path.nodes[second as usize].label.clone());
        let label = match old {
            Some(old) if !is_open(&op.act) || self.sabotage == Sabotage::TouchesStay => {
                old.first_way()
            }
            _ => {
                let world = self.world_of(op, first, &apart);
                let result = world.would(thread, op).unwrap_or(success_of(&op.act));
                let mut label = Label::new(thread.0, 0, op, result);
                label.left = owners(&world, op);
                label
            }
        };
        sequence.push(label);
        if sequence.iter().any(|label| label.touch == Touch::Remove) {
            self.count_owners(first, &apart, &mut sequence);
        }
        self.apart = apart;
        if self.is_asleep(&self.path.nodes[first as usize].sleep, &sequence) {
            return;
        }
        match &mut self.reversed {
            Some(reversed) => reversed.push((first, sequence)),
            None => {
                let siblings = &mut self.path.nodes[first as usize].siblings;
                insert(siblings, sequence, self.sabotage);
            }
        }
    }

    /// Sets how many owners there are before each one that is removed.
    fn count_owners(&self, first: u32, apart: &[u32], sequence: &mut [Label]) {
        let removes = |at: &u32| self.path.nodes[*at as usize].label.touch == Touch::Remove;
        for (number, at) in apart.iter().enumerate().filter(|(_, at)| removes(at)) {
            let op = &self.execution.events()[*at as usize].op;
            let world = self.world_of(op, first, &apart[..number]);
            sequence[number].left = owners(&world, op);
        }
    }

    /// Goes back to where something else is to be run.
    fn next_start(&mut self) -> Option<Start> {
        while let Some(node) = self.path.pop() {
            if !node.siblings.is_empty() {
                let mut sleep = node.sleep;
                if self.sabotage != Sabotage::NobodySleeps {
                    sleep.push(node.label);
                }
                return Some(Start { sleep, trees: node.siblings });
            }
        }
        None
    }
}

/// What is the same in faults that are one.
pub(super) fn key_of(fault: &Fault) -> Fault {
    match fault {
        Fault::Race(race) => Fault::Race(race.normal()),
        other => other.clone(),
    }
}

/// How many owners an object has.
fn owners(world: &World, op: &Op) -> u64 {
    match world.get(op.object) {
        Some(Object::Count(count)) => *count,
        _ => 0,
    }
}

fn diverged(before: &Event, event: &Event) -> Incomplete {
    let next = |event: &Event| Next { op: event.op.clone(), site: event.site };
    if before.op == event.op {
        return Incomplete::Diverged(None);
    }
    Incomplete::Diverged(Some(Box::new(Divergence {
        thread: event.step.thread,
        expected: next(before),
        found: next(event),
    })))
}
