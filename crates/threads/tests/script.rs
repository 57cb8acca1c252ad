//! The programs of `anyorder_testkit::concurrent` behind the door of a multithreaded program.

use anyorder_testkit::concurrent::{
    Call, Concurrent, Do, Hold, Order, Spin, Stmt, Thing, Waits, own_value,
};
use anyorder_threads::{
    Act, Change, LockMode, MemoryOrder, Next, Object, ObjectId, Op, Patience, SiteId, ThreadId,
    ThreadProgram, Watched,
};
use std::collections::{BTreeMap, BTreeSet};

/// Where a thread is: the lists it is in, with the position of the next statement in each.
#[derive(Clone, Debug, Default)]
struct Place {
    lists: Vec<(Vec<Stmt>, usize)>,
    last: u64,
    /// A spinning loop, and whether it gives way next.
    spin: Option<(Do, u64, bool)>,
    /// The operation before.
    previous: Option<Op>,
    /// What was read last before a spinning loop: its first turn is taken for one that reads it.
    stale: Option<(Op, u64)>,
    /// A loop that gives up.
    bounded: Option<Bounded>,
    /// The open calls, each with the number of lists at its begin.
    calls: Vec<(Call, usize)>,
    /// What the operation at which the thread is means to it.
    at: At,
    history: Vec<u64>,
    is_begun: bool,
}

/// Where a thread is in a loop that gives up.
#[derive(Clone, Debug)]
struct Bounded {
    spin: Spin,
    turns: u64,
    turns_left: u64,
    /// The operations of this turn that were made, and what they read.
    made: usize,
    reads: Vec<Watched>,
    /// What it wrote itself in its turns.
    written: BTreeMap<ObjectId, u64>,
    is_over: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum At {
    /// Its result becomes the last one.
    #[default]
    Operation,
    /// A failure, or a turn of a spinning loop: it results in something that nothing depends on.
    Other,
    /// The begin of a call.
    Begin,
    /// The end of a call, after which this is the last result.
    Return(u64),
}

/// Objects with specifications have numbers from this one.
const SPECIFIED: u32 = 1000;

/// A program that runs.
pub(crate) struct Script {
    program: Concurrent,
    places: BTreeMap<u32, Place>,
    /// Whether a thread goes on alone, to see whether its loop gives up.
    is_trial: bool,
    /// Whether the first turn of a loop is taken for one that read what was read before it, too.
    is_stale: bool,
    /// All that threads saw in any execution.
    pub(crate) seen: BTreeSet<(usize, Vec<u64>)>,
    pub(crate) ops: BTreeSet<String>,
}

impl Script {
    pub(crate) fn new(program: Concurrent) -> Script {
        let (places, seen, ops) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Script { program, places, is_trial: false, is_stale: false, seen, ops }
    }

    /// As [`new`](Self::new). In the first turn of a loop that waits, a thread also waits for what
    /// it read just before: as where that is what it had read when it gave way last.
    pub(crate) fn stale(program: Concurrent) -> Script {
        Script { is_stale: true, ..Script::new(program) }
    }

    /// The position of an operation of a loop that gives up; others need none.
    fn site(&self, thread: ThreadId) -> SiteId {
        let Some(place) = self.places.get(&thread.0) else { return SiteId::NONE };
        let Some(at) = &place.bounded else { return SiteId::NONE };
        let of_loop = place.lists.iter().fold(1 + thread.0, |site, list| 31 * site + list.1 as u32);
        SiteId(16 * of_loop + at.made as u32)
    }

    /// What a thread saw, with the last turn alone of each loop that gives up.
    pub(crate) fn without_turns_in_vain(&self, thread: usize, history: &[u64]) -> Vec<u64> {
        let mut alone = Script::new(self.program.clone());
        let id = ThreadId(thread as u32);
        let (mut kept, mut from) = (Vec::new(), 0);
        alone.resume(id, 0);
        for result in history {
            let bounded = alone.places.get(&id.0).and_then(|place| place.bounded.as_ref());
            if let Some(at) = bounded.filter(|at| at.made == 1) {
                if at.turns_left < at.turns {
                    kept.truncate(from);
                }
                from = kept.len();
            }
            kept.push(*result);
            alone.resume(id, *result);
        }
        kept
    }

    /// What a thread saw, with one turn alone for several in a row that read the same in a loop
    /// that never gives up: how many there are before a livelock is called one, is nobody's matter.
    pub(crate) fn without_repeats(&self, thread: usize, history: &[u64]) -> Vec<u64> {
        let mut alone = Script::new(self.program.clone());
        let id = ThreadId(thread as u32);
        let mut kept = Vec::new();
        // What was read last, and how much was kept before it.
        let mut turn: Option<(u64, usize)> = None;
        alone.resume(id, 0);
        for result in history {
            let spin = alone.places.get(&id.0).and_then(|place| place.spin);
            match (spin, turn) {
                (None, _) => turn = None,
                (Some((.., true)), _) => {}
                (Some(_), Some((read, from))) if read == *result => kept.truncate(from),
                (Some(_), _) => turn = Some((*result, kept.len())),
            }
            kept.push(*result);
            alone.resume(id, *result);
        }
        kept
    }

    fn end(&self, thread: usize) -> ObjectId {
        ObjectId((self.program.things.len() + thread) as u32)
    }

    fn token(&self, thread: usize) -> ObjectId {
        ObjectId((self.program.things.len() + self.program.threads.len() + thread) as u32)
    }

    fn op(&self, thread: usize, op: Do, last: u64) -> Op {
        let on = |thing: usize, act| Op::new(ObjectId(thing as u32), act);
        let order = MemoryOrder::SeqCst;
        let update = |change| Act::Update { change, bits: 64, success: order, failure: order };
        match op {
            Do::Load(n) => on(n, Act::Load(order)),
            Do::Store(n, value) => on(n, Act::Store(value, order)),
            Do::StoreNext(n) => on(n, Act::Store(last.wrapping_add(1), order)),
            Do::Add(n, by) => on(n, update(Change::Add(by))),
            Do::Swap(n, current, new) => on(n, update(Change::CompareExchange { current, new })),
            Do::Lock(n, hold, waits) => on(n, Act::Lock(mode(hold), patience(waits))),
            Do::IsFree(n, hold) => on(n, Act::IsFree(mode(hold))),
            Do::Unlock(n, hold) => on(n, Act::Unlock(mode(hold))),
            Do::Upgrade(n, waits) => on(
                n,
                Act::Convert {
                    from: LockMode::Upgradable,
                    to: LockMode::Exclusive,
                    patience: patience(waits),
                },
            ),
            Do::Downgrade(n) => on(
                n,
                Act::Convert {
                    from: LockMode::Exclusive,
                    to: LockMode::Shared,
                    patience: Patience::Wait,
                },
            ),
            Do::Use(n) => on(n, Act::Use),
            Do::Alter(n, value) => on(n, Act::Alter(value)),
            Do::AlterOwn(n, own) => on(n, Act::Alter(own_value(own, last))),
            Do::AlterNext(n) => on(n, Act::Alter(last.wrapping_add(1))),
            Do::Wait(n, lock) => {
                on(n, Act::Wait { lock: ObjectId(lock as u32), mode: LockMode::Exclusive })
            }
            Do::Wake(n, waits) => on(n, Act::Wake(patience(waits))),
            Do::Notify(n, all, counted) => on(n, Act::Notify { all, counted }),
            Do::Park(waits) => Op::new(self.token(thread), Act::Park(patience(waits))),
            Do::Unpark(other) => Op::new(self.token(other), Act::Unpark),
            Do::Send(n, item, waits) => on(n, Act::Send(item, patience(waits))),
            Do::Receive(n, waits) => on(n, Act::Receive(patience(waits))),
            Do::Senders(n, more) => on(n, Act::Senders(more)),
            Do::Receivers(n, more) => on(n, Act::Receivers(more)),
            Do::Arrive(n) => on(n, Act::Arrive),
            Do::Pass(n, _) => on(n, Act::Pass(last >> 1)),
            Do::Acquire(n, count, waits) => on(n, Act::Acquire(count, patience(waits))),
            Do::Release(n, count) => on(n, Act::Release(count)),
            Do::Close(n) => on(n, Act::Close),
            Do::Retain(n) => on(n, Act::Retain),
            Do::Disown(n) => on(n, Act::Drop),
            Do::CountOwners(n) => on(n, Act::Owners),
            Do::Revive(n) => on(n, Act::Upgrade),
            Do::TakeSole(n) => on(n, Act::TakeSole),
            Do::Spawn(child) => Op::new(self.end(child), Act::Spawn(ThreadId(child as u32))),
            Do::Join(child) => Op::new(self.end(child), Act::Join),
            Do::IsFinished(child) => Op::new(self.end(child), Act::IsFinished),
            Do::LoadAs(n, order) => on(n, Act::Load(memory_order(order))),
            Do::StoreAs(n, value, order) => on(n, Act::Store(value, memory_order(order))),
            Do::AddAs(n, by, order) => {
                let (change, order) = (Change::Add(by), memory_order(order));
                on(n, Act::Update { change, bits: 64, success: order, failure: order })
            }
            Do::Fence(order) => Op::new(ObjectId::NONE, Act::Fence(memory_order(order))),
            Do::Peek(n) => on(n, Act::Access { write: false }),
            Do::Poke(n) => on(n, Act::Access { write: true }),
            Do::Choose(count) => Op::new(ObjectId::NONE, Act::Choose(count)),
        }
    }

    fn next(&mut self, thread: usize) -> Op {
        let mut place = self.places.remove(&(thread as u32)).unwrap_or_default();
        let op = self.advance(thread, &mut place);
        place.previous = (place.at == At::Operation).then(|| op.clone());
        self.places.insert(thread as u32, place);
        op
    }

    fn advance(&self, thread: usize, place: &mut Place) -> Op {
        place.at = At::Operation;
        if let Some((op, until, gives_way)) = place.spin {
            let watched = self.op(thread, op, place.last);
            if gives_way {
                // After the turn, the loop goes on.
                place.spin = Some((op, until, false));
                return watched;
            }
            if place.last != until {
                place.spin = Some((op, until, true));
                place.at = At::Other;
                let stale = place.stale.take().filter(|(op, _)| *op != watched);
                let all = stale.into_iter().chain([(watched, place.last)]);
                let watched = all.map(|(op, result)| Watched::new(op, result)).collect();
                return Op::new(ObjectId::NONE, Act::Await(watched));
            }
            (place.spin, place.stale) = (None, None);
        }
        if let Some(op) = self.turn(thread, place) {
            return op;
        }
        while let Some((list, at)) = place.lists.last_mut() {
            let Some(stmt) = list.get(*at).cloned() else {
                place.lists.pop();
                let open = place.lists.len();
                if let Some((call, _)) = place.calls.pop_if(|call| call.1 == open) {
                    let value = if call.returns { place.last } else { 0 };
                    place.at = At::Return(value);
                    let act = Act::Return { call: call.call, value };
                    return Op::new(ObjectId(SPECIFIED + call.object as u32), act);
                }
                continue;
            };
            *at += 1;
            match stmt {
                Stmt::Do(op) => return self.op(thread, op, place.last),
                Stmt::Fail(number) => {
                    place.at = At::Other;
                    return Op::new(ObjectId::NONE, Act::Fail(number));
                }
                Stmt::Call(call) => {
                    place.calls.push(((*call).clone(), place.lists.len()));
                    place.lists.push((call.body, 0));
                    place.at = At::Begin;
                    let object = ObjectId(SPECIFIED + call.object as u32);
                    return Op::new(object, Act::Invoke(call.call));
                }
                Stmt::If(value, then, otherwise) => {
                    place.lists.push((if place.last == value { then } else { otherwise }, 0));
                }
                Stmt::SpinUpTo(spin) => {
                    let turns = spin.turns + if spin.is_more { place.last } else { 0 };
                    let (spin, made, reads) = (*spin, 0, Vec::new());
                    let (turns_left, written, is_over) = (turns, BTreeMap::new(), false);
                    let bounded =
                        Bounded { spin, turns, turns_left, made, reads, written, is_over };
                    place.bounded = Some(bounded);
                    if let Some(op) = self.turn(thread, place) {
                        return op;
                    }
                }
                Stmt::SpinUntil(op, until) => {
                    let reads = |op: &Op| self.is_stale && op.act.only_reads(place.last);
                    let previous = place.previous.take().filter(reads);
                    place.stale = previous.map(|previous| (previous, place.last));
                    place.spin = Some((op, until, false));
                    return self.op(thread, op, place.last);
                }
            }
        }
        Op::new(self.end(thread), Act::Exit(0))
    }
}

impl Script {
    /// The next operation of a loop that gives up, if the thread is in one and it goes on.
    fn turn(&self, thread: usize, place: &mut Place) -> Option<Op> {
        let last = place.last;
        let Some(at) = &mut place.bounded else { return None };
        let body = &at.spin.body;
        if at.made > 0 && at.made <= body.len() {
            let made = place.previous.clone();
            let op = made.unwrap_or_else(|| self.op(thread, body[at.made - 1], last));
            at.is_over |= last == at.spin.until;
            if op.act.only_reads(last) {
                let is_own = at.written.get(&op.object) == Some(&last);
                at.reads.push(Watched { op, result: last, is_own });
            } else if let Some(left) = op.act.leaves(last) {
                at.written.insert(op.object, left);
            }
            if at.made == body.len() && !at.is_over {
                at.made += 1;
                place.at = At::Other;
                let mut reads = std::mem::take(&mut at.reads);
                for read in reads.iter_mut().filter(|read| read.is_own) {
                    read.result = at.written.get(&read.op.object).copied().unwrap_or(read.result);
                }
                return Some(Op::new(ObjectId::NONE, Act::Await(reads.into())));
            }
        }
        if at.made > body.len() {
            (at.made, at.turns_left) = (0, at.turns_left - 1);
        }
        if at.turns_left == 0 || (at.is_over && at.made == body.len()) {
            if at.spin.counts {
                place.last = at.turns - at.turns_left;
            }
            place.bounded = None;
            return None;
        }
        at.made += 1;
        Some(self.op(thread, body[at.made - 1], last))
    }
}

/// Whether a call among statements says that it does not commute with another one.
fn clashes(stmts: &[Stmt], object: usize, call: u64, other: u64) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::If(_, then, otherwise) => {
            clashes(then, object, call, other) || clashes(otherwise, object, call, other)
        }
        Stmt::Call(found) => {
            (found.object == object && found.call == call && found.clashes.contains(&other))
                || clashes(&found.body, object, call, other)
        }
        _ => false,
    })
}

fn mode(hold: Hold) -> LockMode {
    match hold {
        Hold::Write => LockMode::Exclusive,
        Hold::Read => LockMode::Shared,
        Hold::Upgradable => LockMode::Upgradable,
    }
}

fn memory_order(order: Order) -> MemoryOrder {
    match order {
        Order::Relaxed => MemoryOrder::Relaxed,
        Order::Acquire => MemoryOrder::Acquire,
        Order::Release => MemoryOrder::Release,
        Order::Both => MemoryOrder::AcqRel,
    }
}

fn patience(waits: Waits) -> Patience {
    match waits {
        Waits::Ever => Patience::Wait,
        Waits::Never => Patience::Try,
        Waits::Some => Patience::TimeOut,
    }
}

impl ThreadProgram for Script {
    fn start(&mut self) {
        self.places.clear();
        self.is_trial = false;
    }

    fn resume(&mut self, thread: ThreadId, result: u64) -> Next {
        let number = thread.index();
        let body = &self.program.threads[number];
        let place = self.places.entry(thread.0).or_default();
        if std::mem::replace(&mut place.is_begun, true) {
            let is_inside = !place.calls.is_empty();
            match place.at {
                At::Operation => place.last = result,
                At::Return(value) => place.last = value,
                At::Other | At::Begin => {}
            }
            match place.at {
                At::Begin => {}
                _ if is_inside => {}
                At::Return(value) => place.history.push(value),
                _ => place.history.push(result),
            }
        } else {
            place.lists.push((body.clone(), 0));
        }
        if !self.is_trial {
            self.seen.insert((number, place.history.clone()));
        }
        let op = self.next(number);
        self.ops.insert(format!("{:?}", op.act));
        Next { op, site: self.site(thread) }
    }

    fn stop(&mut self) {}

    fn begin_trial(&mut self) {
        self.is_trial = true;
    }

    fn commute(&self, object: ObjectId, call: u64, other: u64) -> bool {
        let object = (object.0 - SPECIFIED) as usize;
        let clash = |call, other| {
            self.program.threads.iter().any(|stmts| clashes(stmts, object, call, other))
        };
        assert_eq!(clash(call, other), clash(other, call), "{call} and {other} of {object}");
        !clash(call, other)
    }

    fn initial(&self, object: ObjectId) -> Object {
        let things = self.program.things.len();
        match self.program.things.get(object.index()) {
            Some(Thing::Number(value)) => Object::Register(*value),
            Some(Thing::Lock) => Object::LOCK,
            Some(Thing::Content(value)) => Object::Data(*value),
            Some(Thing::Condition) => Object::condition(),
            Some(Thing::Queue(room)) => Object::queue(Some(*room)),
            Some(Thing::Barrier(size)) => {
                Object::Barrier { size: *size, arrived: 0, generation: 0 }
            }
            Some(Thing::Permits(permits)) => Object::Semaphore { permits: *permits, closed: false },
            Some(Thing::Owners(count)) => Object::Count(*count),
            None if object.index() < things + self.program.threads.len() => Object::End(None),
            None => Object::Token(false),
        }
    }
}
