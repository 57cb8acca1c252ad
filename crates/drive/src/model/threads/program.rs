//! A model as a program of threads: operations on shared objects, and what each thread does next.
//!
//! A step of the machine is one operation, if it touches one thing: a load, a store, a lock. A step
//! that touches several is an *invocation* of an object of the thread's own: the engine lets
//! nobody run within it, and takes what the thread knows afterwards for its result. A step that is
//! not possible with what it found waits until something of it changes, and begins anew.

use super::live::{Code, Found, Live, Then, Thing, Todo, is_long};
use super::numbers::Numbers;
use super::sabotage::Sabotage;
use super::specified::refuted;
use anyorder_common::cancel::Cancel;
use anyorder_system::Control;
use anyorder_threads::{
    Act, LockMode, MemoryOrder, Next, Object, ObjectId, Op, Patience, SiteId, ThreadId,
    ThreadProgram, Watched,
};
use anyorder_vm::{
    Attempt, Ended, LoneCall, LoneThread, Lonely, Misfit, SharedPlace, Sync, Value, Wait, Way,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::rc::Rc;

/// The failure of a run that ends where `final` does not hold.
pub(super) const FINAL: u32 = 0;
/// The first number of the failures of steps.
pub(super) const FAILURES: u32 = 1;
/// As which forked thread the one counts that stands for a lock that is never given back.
const GHOST: u32 = u32::MAX;

/// Results of attempts that are kept at most.
const ATTEMPTS_MAX: usize = 1 << 18;

/// A step of the machine that a thread took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) thread: ThreadId,
    pub(super) alternative: usize,
    /// The number of its failure, if it failed.
    pub(super) failure: Option<u32>,
    pub(super) forked: Option<ThreadId>,
}

/// A model as a program of threads.
pub(super) struct ModelThreads<'a> {
    lonely: Lonely,
    has_final: bool,
    control: &'a Control<'a>,
    things: Numbers<Thing>,
    objects: Vec<Object>,
    /// Values by their hashes, as the machine compares states.
    values: FxHashMap<u128, u64>,
    value_of: Vec<Value>,
    /// What threads know.
    knowledge: Numbers<u128>,
    /// Failures, by all that tells them apart.
    failures: Numbers<String>,
    /// Forked threads, by who forked them and as which one.
    forked: Numbers<(ThreadId, u32)>,
    positions: Numbers<u128>,
    /// Whether threads that wait at different places are told apart. The engine needs that only to
    /// find all places where threads wait for ever.
    marks: bool,
    calls: Numbers<u128>,
    /// The calls, each with a thread that is about to make it.
    call_of: Vec<(LoneCall, LoneThread)>,
    attempts: FxHashMap<(u128, Found), Rc<Attempt>>,
    executions: u64,
    live: FxHashMap<ThreadId, Live>,
    born: FxHashMap<ThreadId, LoneThread>,
    /// The steps of the execution.
    pub(super) done: Vec<Done>,
    /// The declared threads that ran.
    pub(super) ran: FxHashSet<u32>,
    /// Whether an execution came to its end.
    pub(super) has_ended: bool,
    pub(super) misfit: Option<Misfit>,
    pub(super) sabotage: Sabotage,
}

impl<'a> ModelThreads<'a> {
    pub(super) fn new(lonely: Lonely, has_final: bool, control: &'a Control<'a>) -> Self {
        ModelThreads {
            lonely,
            has_final,
            control,
            things: Numbers::default(),
            objects: Vec::new(),
            values: FxHashMap::default(),
            value_of: Vec::new(),
            knowledge: Numbers::default(),
            failures: Numbers::default(),
            forked: Numbers::default(),
            positions: Numbers::default(),
            marks: false,
            calls: Numbers::default(),
            call_of: Vec::new(),
            attempts: FxHashMap::default(),
            executions: 0,
            live: FxHashMap::default(),
            born: FxHashMap::default(),
            done: Vec::new(),
            ran: FxHashSet::default(),
            has_ended: false,
            misfit: None,
            sabotage: Sabotage::None,
        }
    }

    /// The number of declared threads.
    pub(super) fn declared(&self) -> u32 {
        u32::try_from(self.lonely.threads().len()).unwrap_or(u32::MAX)
    }

    /// Returns two methods whose calls do not commute, though they are said to.
    pub(super) fn refuted(&self, cancel: &Cancel) -> Option<[String; 2]> {
        refuted(&self.lonely, &self.call_of, cancel)
    }

    pub(super) fn part_of(&self, member: u32) -> usize {
        self.lonely.part_of(member)
    }

    fn object(&mut self, thing: Thing) -> ObjectId {
        if thing == Thing::Nothing {
            return ObjectId::NONE;
        }
        let (number, is_new) = self.things.of(&thing);
        if is_new {
            let object = match thing {
                Thing::Place(place) => {
                    let value = self.lonely.initial(place);
                    Object::Register(self.number(&value))
                }
                Thing::Lock(_) => Object::LOCK,
                Thing::Condition(_) => Object::condition(),
                Thing::End(_) => Object::End(None),
                Thing::Steps(_) | Thing::Position(_) | Thing::Object(_) | Thing::Nothing => {
                    Object::Data(0)
                }
                Thing::Never(..) | Thing::Failed(_) => {
                    Object::Semaphore { permits: 0, closed: false }
                }
            };
            self.objects.push(object);
        }
        ObjectId(number)
    }

    fn number(&mut self, value: &Value) -> u64 {
        let hash = value.fingerprint();
        let next = self.value_of.len() as u64;
        let number = *self.values.entry(hash).or_insert(next);
        if number == next {
            self.value_of.push(value.clone());
        }
        number
    }

    /// The position of a thread, if places are told apart.
    fn site(&mut self, thread: ThreadId) -> SiteId {
        let position = match self.live.get(&thread).map(|live| &live.code) {
            Some(Code::Of(lone)) if self.marks => Some(lone.position()),
            _ => None,
        };
        position.map_or(SiteId::NONE, |position| SiteId(self.positions.of(&position).0))
    }

    /// Returns whether an operation is that of a thread that has failed.
    pub(super) fn has_failed(&self, op: &Op) -> bool {
        matches!(self.things.thing(op.object.0), Some(Thing::Failed(_)))
    }

    /// Tells threads apart that wait at different places, from the next exploration on.
    pub(super) fn tell_places_apart(&mut self) {
        self.marks = self.sabotage != Sabotage::PlacesTogether;
    }

    fn next(&mut self, (thing, act): Todo) -> Next {
        Next { op: Op::new(self.object(thing), act), site: SiteId::NONE }
    }

    /// Tries the next step of a thread with what it found.
    fn attempt(&mut self, lone: &LoneThread, found: &Found) -> Result<Rc<Attempt>, Misfit> {
        let key = (lone.knowledge(), found.clone());
        if let Some(known) = self.attempts.get(&key) {
            return Ok(Rc::clone(known));
        }
        let values = self.values_of(found);
        let attempt = Rc::new(self.lonely.attempt(lone, &values)?);
        if self.attempts.len() >= ATTEMPTS_MAX {
            self.attempts.clear();
        }
        self.attempts.insert(key, Rc::clone(&attempt));
        Ok(attempt)
    }

    fn values_of(&self, found: &Found) -> Vec<(SharedPlace, Value)> {
        let value = |number: u64| self.value_of.get(number as usize).cloned().unwrap_or_default();
        found.iter().map(|(place, number)| (*place, value(*number))).collect()
    }

    /// Runs a thread to its next operation.
    fn go_on(&mut self, live: &mut Live, result: u64) -> Result<Todo, Misfit> {
        let mut result = Some(result);
        loop {
            if let Some(next) = live.queue.pop_front() {
                return Ok(next);
            }
            let result = result.take().unwrap_or(0);
            match std::mem::replace(&mut live.then, Then::Step) {
                Then::Step => {}
                Then::Value(place) => live.found.push((place, result)),
                Then::Anew => {
                    live.found.clear();
                    self.mark(live);
                }
                Then::Way(attempt) => self.plan(live, attempt, result as usize)?,
                Then::Commit(attempt, way) => self.commit(live, &attempt, way),
                Then::Woken => {
                    self.mark(live);
                    live.change(LoneThread::woken);
                }
                Then::Joined(handle) => {
                    self.mark(live);
                    if let Code::Of(lone) = &live.code {
                        live.code = Code::Of(lone.joined(handle)?);
                    }
                }
                Then::Never => {
                    live.then = Then::Never;
                    return Ok((self.never(live), Act::Acquire(1, Patience::Wait)));
                }
                Then::Failed => {
                    live.then = Then::Failed;
                    return Ok((Thing::Failed(live.id), Act::Acquire(1, Patience::Wait)));
                }
                Then::Exit => return Ok((Thing::End(live.id), Act::Exit(0))),
            }
            if !live.queue.is_empty() || !matches!(live.then, Then::Step) {
                continue;
            }
            if let Some(next) = match &live.code {
                Code::Main { .. } => Some(self.main(live)?),
                Code::Ghost => {
                    live.then = Then::Never;
                    continue;
                }
                Code::Of(lone) => {
                    let lone = lone.clone();
                    self.step(live, &lone)?
                }
            } {
                return Ok(next);
            }
        }
    }

    /// Begins a step of a thread, or goes on with it. Returns its next operation, unless that was
    /// queued.
    fn step(&mut self, live: &mut Live, lone: &LoneThread) -> Result<Option<Todo>, Misfit> {
        if let Some((cond, _)) = lone.waits() {
            live.then = Then::Woken;
            return Ok(Some((Thing::Condition(cond), Act::Wake(Patience::Wait))));
        }
        if live.inside.is_none()
            && let Some(call) = self.lonely.call(lone)
        {
            return Ok(Some(self.invoke(live, lone, &call)));
        }
        let attempt = self.attempt(lone, &live.found)?;
        if attempt.missing.is_some()
            && live.inside.is_none()
            && is_long(&attempt)
            && self.sabotage != Sabotage::StepsInterrupted
        {
            live.inside = Some((Thing::Steps(live.id), 0));
            return Ok(Some((Thing::Steps(live.id), Act::Invoke(0))));
        }
        if let Some(place) = attempt.missing {
            live.then = Then::Value(place);
            return Ok(Some((Thing::Place(place), Act::Load(MemoryOrder::SeqCst))));
        }
        match attempt.ways.len() {
            0 => self.wait(live, &attempt).map(Some),
            1 => {
                self.plan(live, attempt, 0)?;
                Ok(None)
            }
            ways => {
                let ways = u32::try_from(ways).unwrap_or(u32::MAX);
                live.then = Then::Way(attempt);
                Ok(Some((Thing::Nothing, Act::Choose(ways))))
            }
        }
    }

    /// What a thread does whose step is not possible.
    fn wait(&mut self, live: &mut Live, attempt: &Attempt) -> Result<Todo, Misfit> {
        match attempt.wait {
            Wait::Lock(lock) => {
                live.then = Then::Never;
                Ok((Thing::Lock(lock), Act::Lock(LockMode::Exclusive, Patience::Wait)))
            }
            Wait::End(handle) => {
                let child = live.children.iter().find(|child| child.0 == handle);
                let (_, child) = child.ok_or(Misfit::Handles)?;
                live.then = Then::Joined(handle);
                Ok((Thing::End(*child), Act::Join))
            }
            Wait::Values if live.found.is_empty() => {
                live.then = Then::Never;
                Ok((self.never(live), Act::Acquire(1, Patience::Wait)))
            }
            Wait::Values => {
                let mut watch = |(place, value): &(SharedPlace, u64)| {
                    let load = Act::Load(MemoryOrder::SeqCst);
                    Watched::new(Op::new(self.object(Thing::Place(*place)), load), *value)
                };
                let mut watched: Vec<Watched> = live.found.iter().map(&mut watch).collect();
                if self.sabotage == Sabotage::FirstValueWatched {
                    watched.truncate(1);
                }
                let waiting = (Thing::Nothing, Act::Await(watched.into()));
                live.then = Then::Anew;
                let Some((object, call)) = live.inside.take() else { return Ok(waiting) };
                live.queue.push_back(waiting);
                // What it found is known to it while it waits.
                let value = self.knowledge_of(live, &live.found);
                Ok((object, Act::Return { call, value }))
            }
        }
    }

    /// Queues the operations of a step that ends in one of its ways.
    fn plan(&mut self, live: &mut Live, attempt: Rc<Attempt>, way: usize) -> Result<(), Misfit> {
        let Some(taken) = attempt.ways.get(way) else { return Err(Misfit::Sections) };
        if let Some(failure) = &taken.failure {
            let number = FAILURES + self.failures.of(&format!("{failure:?}")).0;
            self.done.push(Done {
                thread: live.id,
                alternative: way,
                failure: Some(number),
                forked: None,
            });
            live.queue.push_back((Thing::Nothing, Act::Fail(number)));
            live.then = match self.sabotage == Sabotage::FailuresEnd {
                true => Then::Exit,
                false => Then::Failed,
            };
        } else {
            self.plan_effects(live, &attempt, taken);
            live.then = Then::Commit(Rc::clone(&attempt), way);
        }
        if let Some((object, call)) = live.inside.take() {
            let ended = u128::from(taken.failure.is_some()) << 1 | u128::from(taken.leaves_locks);
            let hash = taken.after.as_ref().map_or(ended, LoneThread::knowledge);
            let mut value = u64::from(self.knowledge.of(&hash).0);
            if self.sabotage == Sabotage::KnowledgeForgotten {
                value = 0;
            }
            live.queue.push_back((object, Act::Return { call, value }));
        }
        Ok(())
    }

    fn plan_effects(&mut self, live: &mut Live, attempt: &Attempt, taken: &Way) {
        if live.inside.is_none() && taken.writes.len() > 1 && is_long(attempt) {
            live.inside = Some((Thing::Steps(live.id), 0));
            live.queue.push_back((Thing::Steps(live.id), Act::Invoke(0)));
        }
        for (place, value) in &taken.writes {
            let value = self.number(value);
            live.queue.push_back((Thing::Place(*place), Act::Store(value, MemoryOrder::SeqCst)));
        }
        live.queue.extend(match &taken.sync {
            None => None,
            Some(Sync::Acquire(lock)) => {
                Some((Thing::Lock(*lock), Act::Lock(LockMode::Exclusive, Patience::Wait)))
            }
            Some(Sync::Release(lock)) => {
                Some((Thing::Lock(*lock), Act::Unlock(LockMode::Exclusive)))
            }
            Some(Sync::Wait { cond, lock }) => {
                let (lock, mode) = (self.object(Thing::Lock(*lock)), LockMode::Exclusive);
                Some((Thing::Condition(*cond), Act::Wait { lock, mode }))
            }
            Some(Sync::Notify { cond, all }) => {
                Some((Thing::Condition(*cond), Act::Notify { all: *all, counted: false }))
            }
            Some(Sync::Fork(_)) => {
                let child = self.child(live.id, live.forks);
                Some((Thing::End(child), Act::Spawn(child)))
            }
        });
        if let Some(Sync::Acquire(_)) = taken.sync {
            self.mark(live);
        }
    }

    /// Begins a call of an object with a specification.
    fn invoke(&mut self, live: &mut Live, lone: &LoneThread, call: &LoneCall) -> Todo {
        let (number, is_new) = self.calls.of(&call.fingerprint());
        if is_new {
            self.call_of.push((call.clone(), lone.clone()));
        }
        let object = Thing::Object(call.object);
        live.inside = Some((object, u64::from(number)));
        (object, Act::Invoke(u64::from(number)))
    }

    /// Tells the engine where a thread has waited: whatever waits there has another future than
    /// what waits elsewhere.
    fn mark(&mut self, live: &mut Live) {
        if self.marks {
            let position = self.position(live);
            live.queue.push_back((Thing::Position(position), Act::Choose(1)));
        }
    }

    fn never(&mut self, live: &Live) -> Thing {
        let position = if self.marks { self.position(live) } else { 0 };
        Thing::Never(live.id, position)
    }

    fn position(&mut self, live: &Live) -> u32 {
        match &live.code {
            Code::Of(lone) => self.positions.of(&lone.position()).0,
            Code::Main { .. } | Code::Ghost => 0,
        }
    }

    fn child(&mut self, of: ThreadId, number: u32) -> ThreadId {
        let (number, _) = self.forked.of(&(of, number));
        ThreadId(1 + self.declared() + number)
    }

    /// A step is done.
    fn commit(&mut self, live: &mut Live, attempt: &Attempt, way: usize) {
        let Some(taken) = attempt.ways.get(way) else { return };
        let mut forked = None;
        if let Some(Sync::Fork(child)) = &taken.sync {
            let id = self.child(live.id, live.forks);
            live.forks += 1;
            live.children.retain(|known| known.0 != child.handle());
            live.children.push((child.handle(), id));
            self.born.insert(id, child.clone());
            forked = Some(id);
        }
        self.done.push(Done { thread: live.id, alternative: way, failure: None, forked });
        live.found.clear();
        match &taken.after {
            Some(after) => live.code = Code::Of(after.clone()),
            None => {
                if taken.leaves_locks
                    && !self.has_final
                    && self.sabotage != Sabotage::LocksForgotten
                {
                    let ghost = self.child(live.id, GHOST);
                    live.queue.push_back((Thing::End(ghost), Act::Spawn(ghost)));
                }
                live.then = Then::Exit;
            }
        }
    }

    /// The number of what a thread knows that found something.
    fn knowledge_of(&mut self, live: &Live, found: &Found) -> u64 {
        let Code::Of(lone) = &live.code else { return 0 };
        let text = format!("{} {found:?}", lone.knowledge());
        let hash = anyorder_system::Hash128(0).part(text.as_bytes());
        u64::from(self.knowledge.of(&hash.0).0)
    }

    /// The next operation of the thread that starts the others.
    fn main(&mut self, live: &mut Live) -> Result<Todo, Misfit> {
        let declared = self.declared();
        let Code::Main { started, joined } = &mut live.code else { return Err(Misfit::NoThreads) };
        if *started < declared {
            *started += 1;
            return Ok((Thing::End(ThreadId(*started)), Act::Spawn(ThreadId(*started))));
        }
        if self.has_final && *joined < declared {
            *joined += 1;
            return Ok((Thing::End(ThreadId(*joined)), Act::Join));
        }
        let values = self.values_of(&live.found);
        match self.lonely.end(&values)? {
            Ended::Missing(place) if self.has_final => {
                live.then = Then::Value(place);
                return Ok((Thing::Place(place), Act::Load(MemoryOrder::SeqCst)));
            }
            Ended::Known(false) if self.sabotage != Sabotage::EndForgotten => {
                live.then = Then::Exit;
                self.has_ended = true;
                return Ok((Thing::Nothing, Act::Fail(FINAL)));
            }
            _ => {}
        }
        self.has_ended = true;
        Ok((Thing::End(live.id), Act::Exit(0)))
    }
}

impl ThreadProgram for ModelThreads<'_> {
    fn start(&mut self) {
        self.executions += 1;
        self.control.progress.report(self.executions, None);
        // The token of the search may be another one.
        if self.control.check().is_err() {
            self.misfit = Some(Misfit::Stopped);
        }
        self.live.clear();
        self.born.clear();
        self.done.clear();
    }

    fn resume(&mut self, thread: ThreadId, result: u64) -> Next {
        let mut live = self.live.remove(&thread).unwrap_or_else(|| {
            let declared = self.lonely.threads();
            let of = |thread: ThreadId| declared.get(thread.index().checked_sub(1)?).cloned();
            let lone = of(thread).or_else(|| self.born.get(&thread).cloned());
            let code = match lone {
                Some(lone) => Code::Of(lone),
                None if thread == ThreadId::MAIN => Code::Main { started: 0, joined: 0 },
                None => Code::Ghost,
            };
            Live {
                id: thread,
                code,
                found: Vec::new(),
                inside: None,
                queue: VecDeque::new(),
                then: Then::Step,
                forks: 0,
                children: Vec::new(),
            }
        });
        let before = self.done.len();
        let next = match self.misfit {
            Some(misfit) => Err(misfit),
            None => self.go_on(&mut live, result),
        };
        if self.done.len() > before && thread.0 <= self.declared() {
            self.ran.insert(thread.0.wrapping_sub(1));
        }
        self.live.insert(thread, live);
        match next {
            Ok(next) => Next { site: self.site(thread), ..self.next(next) },
            Err(misfit) => {
                self.misfit = Some(misfit);
                self.next((Thing::End(thread), Act::Exit(0)))
            }
        }
    }

    fn stop(&mut self) {}

    fn initial(&self, object: ObjectId) -> Object {
        self.objects.get(object.index()).cloned().unwrap_or(Object::Data(0))
    }

    /// All but those of objects with a specification are invocations of a thread's own object.
    fn commute(&self, object: ObjectId, call: u64, other: u64) -> bool {
        if !matches!(self.things.thing(object.0), Some(Thing::Object(_))) {
            return true;
        }
        match (self.call_of.get(call as usize), self.call_of.get(other as usize)) {
            _ if self.sabotage == Sabotage::CallsCommute => true,
            (Some((call, _)), Some((other, _))) => self.lonely.commute(call, other),
            _ => false,
        }
    }
}
