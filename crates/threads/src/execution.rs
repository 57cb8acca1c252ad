//! One execution of a program, step by step.

use crate::ids::{ObjectId, SiteId, ThreadId};
use crate::learn::Sabotage;
use crate::object::World;
use crate::op::{Act, Op};
use crate::program::{Next, ThreadProgram};
use crate::spinning::{
    End, Loops, RECENT, Spins, TRIAL_MAX, TURNS_MAX, Trial, Verdict, is_covered, mix, watched,
};

/// A step: a thread performs its operation in one of the ways that are possible.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The thread.
    pub thread: ThreadId,
    /// The way: below the number of alternatives.
    pub alternative: u32,
}

/// What happened in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The step.
    pub step: Step,
    /// The operation.
    pub op: Op,
    /// Its result.
    pub result: u64,
    /// Its position in the source.
    pub site: SiteId,
}

/// How an execution ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ending {
    /// All threads ended.
    Completed,
    /// No thread can go on, and some have not ended.
    Deadlock,
    /// Threads spin, nothing changes, and no other thread can go on.
    Livelock,
    /// It had as many steps as allowed.
    StepLimit,
}

/// How often in a row threads may spin where nothing can change what they wait for, unless said
/// otherwise. Loops that give up after some turns end; the others are a livelock.
pub const SPINS_MAX: u32 = 200;

/// A thread that has not ended.
#[derive(Debug)]
struct Live {
    id: ThreadId,
    next: Next,
    /// The alternatives now.
    ways: u32,
    /// How many invocations it is in.
    depth: u32,
    /// A hash of its results. Of an invocation that is over, only what it returned counts.
    history: u64,
    /// The same before the invocation that it is in.
    before_call: u64,
    /// Whether it is known whether it waits, if it gives way.
    is_settled: bool,
    /// What has to be possible before it can be tried whether it waits.
    needs: Option<Op>,
    /// What it waited as, if all that it has read since is what it read then.
    waited: Option<Op>,
}

/// Runs a program again and again, one step at a time.
pub struct Execution<'p, P: ThreadProgram + ?Sized> {
    program: &'p mut P,
    world: World,
    /// Sorted by number.
    live: Vec<Live>,
    events: Vec<Event>,
    is_running: bool,
    spins: Spins,
    spins_max: u32,
    turns_max: u32,
    loops: Loops,
    /// Whether one thread goes on alone, to see whether its loop gives up.
    is_trial: bool,
    /// Whether the program did not do again what it did.
    has_diverged: bool,
    /// Whether other threads run within an invocation, too, and every loop is tried.
    is_reduced: bool,
    /// Whether a thread gave way in a loop, in any execution.
    has_waits: bool,
}

impl<'p, P: ThreadProgram + ?Sized> Execution<'p, P> {
    /// Makes an execution of a program that has not begun.
    pub fn new(program: &'p mut P) -> Self {
        Execution {
            program,
            world: World::new(),
            live: Vec::new(),
            events: Vec::new(),
            is_running: false,
            spins: Spins::default(),
            spins_max: SPINS_MAX,
            turns_max: TURNS_MAX,
            loops: Loops::default(),
            is_trial: false,
            has_diverged: false,
            is_reduced: false,
            has_waits: false,
        }
    }

    /// Sets how often in a row threads may spin in vain.
    pub fn set_spins_max(&mut self, spins_max: u32) {
        self.spins_max = spins_max;
    }

    /// Sets after how many turns in vain a loop may give up that is explored turn by turn. With 0,
    /// every loop waits for a change.
    pub fn set_turns_max(&mut self, turns_max: u32) {
        self.turns_max = turns_max;
    }

    /// From now on an invocation is the operations within it, and it is tried whether a loop gives
    /// up also where nothing else can go on.
    pub(crate) fn reduce(&mut self) {
        self.is_reduced = true;
    }

    /// Whether a possible step is the turn of a thread that spins where nothing else can go on.
    pub(crate) fn is_turn(&self, step: Step) -> bool {
        let next = self.next(step.thread).filter(|next| matches!(next.op.act, Act::Await(_)));
        next.is_some_and(|next| self.world.alternatives(step.thread, &next.op) == 0)
    }

    /// Whether a thread gave way in a loop, in any execution so far.
    pub(crate) fn has_waits(&self) -> bool {
        self.has_waits
    }

    pub(crate) fn set_sabotage(&mut self, sabotage: Sabotage) {
        self.loops.sabotage = sabotage;
    }

    /// What is known of loops.
    pub(crate) fn loops(&self) -> &Loops {
        &self.loops
    }

    /// Whether the program did not do again what it did, so that the execution cannot go on.
    pub(crate) fn has_diverged(&self) -> bool {
        self.has_diverged
    }

    /// Whether it is known whether a thread waits that gives way; and if not, what has to be
    /// possible before that can be tried.
    pub(crate) fn is_settled(&self, thread: ThreadId) -> (bool, Option<&Op>) {
        let at = self.live.binary_search_by_key(&thread, |live| live.id);
        at.map_or((true, None), |at| (self.live[at].is_settled, self.live[at].needs.as_ref()))
    }

    /// Ends the execution, if one runs, and begins another one.
    pub fn restart(&mut self) {
        self.stop();
        self.has_diverged = false;
        self.world.clear();
        self.events.clear();
        self.live.clear();
        self.spins = Spins::default();
        self.is_running = true;
        self.program.start();
        self.begin(ThreadId::MAIN);
    }

    /// Ends the execution, if one runs.
    pub fn stop(&mut self) {
        if std::mem::take(&mut self.is_running) {
            self.program.stop();
        }
    }

    /// The program.
    pub fn program(&mut self) -> &mut P {
        self.program
    }

    pub(crate) fn program_ref(&self) -> &P {
        self.program
    }

    /// What a thread that has not ended is about to do.
    #[must_use]
    pub fn next(&self, thread: ThreadId) -> Option<&Next> {
        let at = self.live.binary_search_by_key(&thread, |live| live.id).ok()?;
        Some(&self.live[at].next)
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub(crate) fn events_mut(&mut self) -> &mut Vec<Event> {
        &mut self.events
    }

    /// The states of the objects now.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The threads that have not ended, by number, and what each is about to do.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = (ThreadId, &Next)> {
        self.live.iter().map(|live| (live.id, &live.next))
    }

    /// Lists the steps that are possible now, by thread and alternative. None: the execution has
    /// ended, see [`ending`](Self::ending).
    ///
    /// Where a thread gives way and nobody knows whether its loop gives up, that is tried first:
    /// then the program runs twice.
    pub fn ready(&mut self, steps: &mut Vec<Step>) {
        steps.clear();
        loop {
            for live in &mut self.live {
                live.ways = self.world.alternatives(live.id, &live.next.op);
            }
            let Some(thread) = self.unsettled() else { break };
            self.try_loop(thread);
            if self.has_diverged {
                return;
            }
        }
        // Within an invocation, nobody else runs.
        let running = self.events.last().map(|event| event.step.thread);
        let is_within = |live: &Live| Some(live.id) == running && live.depth > 0 && live.ways > 0;
        if !self.is_reduced && self.live.iter().any(is_within) {
            let others = self.live.iter_mut().filter(|live| Some(live.id) != running);
            others.for_each(|live| live.ways = 0);
        }
        let mut list = |live: &Live, ways| {
            steps.extend((0..ways).map(|alternative| Step { thread: live.id, alternative }));
        };
        self.live.iter().for_each(|live| list(live, live.ways));
        if self.live.iter().all(|live| live.ways == 0) {
            let spins = |live: &&Live| matches!(live.next.op.act, Act::Await(_));
            let turn =
                self.spins.turn(self.live.iter().filter(spins).map(|live| live.id), self.spins_max);
            steps.extend(turn.map(|thread| Step { thread, alternative: 0 }));
        }
    }

    /// How the execution ended, if no step is possible.
    #[must_use]
    pub fn ending(&self) -> Ending {
        let spins = |live: &Live| matches!(live.next.op.act, Act::Await(_));
        match () {
            () if self.live.is_empty() => Ending::Completed,
            () if self.live.iter().any(spins) => Ending::Livelock,
            () => Ending::Deadlock,
        }
    }

    /// Performs a step and runs the thread to its next operation. Returns the result, or `None` if
    /// the step is not possible.
    pub fn step(&mut self, step: Step) -> Option<u64> {
        self.perform(step)
    }

    /// As [`step`](Self::step), as part of its caller. A processor guesses to where functions
    /// return by the calls before, and is wrong for those around a switch between coroutines: the
    /// fewer there are, the better.
    #[inline(always)]
    pub(crate) fn perform(&mut self, step: Step) -> Option<u64> {
        let at = self.live.binary_search_by_key(&step.thread, |live| live.id).ok()?;
        let live = &mut self.live[at];
        let result = match self.world.perform(step.thread, &live.next.op, step.alternative) {
            Some(result) => {
                self.spins.note(&live.next.op.act, result);
                result
            }
            None if matches!(live.next.op.act, Act::Await(_)) => {
                self.spins.take(step.thread);
                0
            }
            None => return None,
        };
        live.note(result, self.loops.sabotage);
        let (site, has_ended) = (live.next.site, matches!(live.next.op.act, Act::Exit(_)));
        let child = match live.next.op.act {
            Act::Spawn(child) => Some(child),
            _ => None,
        };
        // What is copied while its parts are still being written is waited for. So the operation is
        // moved by itself, from where it has been for a while.
        self.events.push(Event { step, op: Op::new(ObjectId::NONE, Act::Yield), result, site });
        if let Some(event) = self.events.last_mut() {
            std::mem::swap(&mut event.op, &mut live.next.op);
        }
        match has_ended {
            true => drop(self.live.remove(at)),
            false => self.resume(at, result),
        }
        if let Some(child) = child {
            self.begin(child);
        }
        Some(result)
    }

    /// Runs a thread to its next operation.
    #[inline(always)]
    fn resume(&mut self, at: usize, result: u64) {
        let live = &mut self.live[at];
        self.program.resume_to(live.id, result, &mut live.next);
        let program = &*self.program;
        self.world.make(&live.next.op, |object| program.initial(object));
        self.arrive(at);
    }

    /// Runs a new thread to its first operation.
    #[inline(never)]
    fn begin(&mut self, thread: ThreadId) {
        let at = self.live.partition_point(|live| live.id < thread);
        self.live.insert(at, Live::new(thread));
        self.resume(at, 0);
    }

    /// Makes of a wait what is known of it.
    #[inline]
    fn arrive(&mut self, at: usize) {
        let live = &mut self.live[at];
        (live.is_settled, live.needs) = (true, None);
        let is_wait = matches!(live.next.op.act, Act::Await(_));
        self.has_waits |= is_wait;
        if is_wait && self.turns_max > 0 && !self.is_trial {
            self.arrive_waiting(at);
        }
    }

    #[inline(never)]
    fn arrive_waiting(&mut self, at: usize) {
        let live = &mut self.live[at];
        let place = (live.id, live.history);
        let mut verdict = self.loops.verdict(place).cloned();
        if matches!(verdict, None | Some(Verdict::Unclear(_)))
            && let Some(before) = &live.waited
            && is_covered(&live.next.op, before)
        {
            // It is the next turn of a loop that does not give up.
            let wide = !is_covered(before, &live.next.op);
            let waits = Verdict::Waits(wide.then(|| before.clone()));
            self.loops.note(place, waits.clone());
            verdict = Some(waits);
        }
        match verdict {
            Some(Verdict::Yields) => live.next.op.act = Act::Yield,
            Some(Verdict::Waits(None)) => {}
            Some(Verdict::Waits(Some(op))) => live.next.op = op,
            Some(Verdict::Unclear(op)) => (live.is_settled, live.needs) = (false, Some(op)),
            None => live.is_settled = false,
        }
    }

    /// A thread that gives way where nobody knows whether its loop gives up, if others can go on
    /// meanwhile.
    fn unsettled(&self) -> Option<ThreadId> {
        let is_open = |live: &&Live| {
            let is_possible = |op: &Op| self.world.alternatives(live.id, op) > 0;
            !live.is_settled && live.ways == 0 && live.needs.as_ref().is_none_or(is_possible)
        };
        let open = self.live.iter().find(is_open)?;
        let spins = |live: &&Live| matches!(live.next.op.act, Act::Await(_));
        let is_only = self.live.iter().all(|live| live.ways == 0)
            && self.live.iter().filter(spins).count() == 1;
        (!is_only || self.is_reduced).then_some(open.id)
    }

    /// Lets a thread that gives way go on alone, and comes back to where it was.
    fn try_loop(&mut self, thread: ThreadId) {
        let events = self.events.clone();
        let own = events.iter().rev().find(|event| event.step.thread == thread);
        let before = own.map_or(SiteId::NONE, |event| event.site);
        let mut trial = Trial::new(thread, before);
        self.is_trial = true;
        self.program.begin_trial();
        let end = self.run_trial(&mut trial);
        self.is_trial = false;
        self.restart();
        for event in events {
            if self.step(event.step) != Some(event.result) {
                self.has_diverged = true;
                return;
            }
        }
        let Ok(at) = self.live.binary_search_by_key(&thread, |live| live.id) else { return };
        let end = match end {
            // What the thread itself holds.
            End::Needs(op) if self.world.alternatives(thread, &op) > 0 => End::Left,
            end => end,
        };
        self.loops.conclude(&trial, end, self.turns_max);
        self.arrive(at);
    }

    fn run_trial(&mut self, trial: &mut Trial) -> End {
        let (thread, before) = (trial.thread(), self.events.len());
        let mut most = 0;
        loop {
            let at = self.live.binary_search_by_key(&thread, |live| live.id);
            let Some(live) = at.ok().map(|at| &self.live[at]) else { return End::Left };
            let Next { op, site } = &live.next;
            let is_wait = matches!(op.act, Act::Await(_));
            if is_wait {
                if trial.turns() == 0 {
                    let limits = (self.turns_max, self.spins_max);
                    most = self.loops.turns_of_trial((*site, op), limits);
                }
                trial.wait(live.history, op, *site);
                if trial.turns() >= most {
                    return End::Spins;
                }
            } else if self.world.alternatives(thread, op) == 0 {
                let takes =
                    matches!(op.act, Act::Lock(..) | Act::Convert { .. } | Act::Acquire(..));
                // Of a whole turn, the trial has shown all operations.
                let is_whole =
                    trial.turns() > 1 && self.loops.sabotage != Sabotage::LocksBeforeCount;
                let from = if is_whole { before } else { 0 };
                let own = self.events[from..].iter().rev();
                let own = own.filter(|event| event.step.thread == thread).take(RECENT);
                let is_own = own.into_iter().any(|event| event.site == *site && event.op == *op);
                return if takes && is_own { End::Needs(op.clone()) } else { End::Left };
            }
            let is_long = self.events.len() - before >= TRIAL_MAX;
            if is_long || self.step(Step { thread, alternative: 0 }).is_none() {
                return End::Left;
            }
            if let Some(event) = self.events.last().filter(|_| !is_wait) {
                trial.step(event);
            }
        }
    }
}

impl Live {
    fn new(id: ThreadId) -> Live {
        let next = Next { op: Op::new(ObjectId::NONE, Act::Yield), site: SiteId::NONE };
        let (history, is_settled) = (mix(0, u64::from(id.0)), true);
        let (before_call, needs, waited) = (history, None, None);
        Live { id, next, ways: 0, depth: 0, history, before_call, is_settled, needs, waited }
    }

    /// Notes the result of the operation at which the thread is.
    #[inline]
    fn note(&mut self, result: u64, sabotage: Sabotage) {
        let Next { op, .. } = &self.next;
        match op.act {
            Act::Invoke(_) => {
                if self.depth == 0 {
                    self.before_call = self.history;
                }
                self.depth += 1;
            }
            Act::Return { .. } => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.history = match op.act {
            Act::Return { call, value } if self.depth == 0 => {
                mix(mix(self.before_call, call), value)
            }
            _ => mix(self.history, result),
        };
        if matches!(op.act, Act::Await(_)) {
            self.waited = self.is_settled.then(|| op.clone());
        } else if let Some(before) = &self.waited
            && op.act.only_reads(result)
            && sabotage != Sabotage::ChangesForgotten
            // What others made of its own number is no longer its own where it gives way again.
            && !watched(before).iter().any(|one| one.op == *op && (one.result == result || one.is_own))
        {
            self.waited = None;
        }
    }
}

impl<P: ThreadProgram + ?Sized> Drop for Execution<'_, P> {
    fn drop(&mut self) {
        self.stop();
    }
}
