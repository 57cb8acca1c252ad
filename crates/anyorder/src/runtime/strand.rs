//! The state of a thread of the program.

use super::arena::Bump;
use super::failure::Panic;
use super::leaks::Log;
use super::locals::Locals;
use super::version::{hash_of, mix};
use anyorder_threads::{Act, LockMode, ObjectId, Op, Patience, ThreadId, Watched};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, Yielder};
use std::panic::Location;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

pub(crate) type Body = Box<dyn FnOnce() -> u64>;
pub(crate) type Routine = Coroutine<u64, (), ()>;

/// How many reads are kept that a spinning thread waits for.
const READS_MAX: usize = 16;

/// How many threads have a stack of their own, which nobody else uses.
const OWN_STACKS: u32 = 256;

/// A thread of the program: a coroutine, and what it has seen.
pub(crate) struct Strand {
    pub(crate) id: ThreadId,
    pub(crate) routine: Option<Routine>,
    /// What it will run.
    pub(crate) body: Option<Body>,
    pub(crate) yielder: *const Yielder<u64, ()>,
    /// From the lowest address to the highest one. After the end of the thread, too, if the stack
    /// is its own: what others know of an address there stays the same.
    pub(crate) stack: (usize, usize),
    /// Its stack, while it does not run.
    pub(crate) own_stack: Option<DefaultStack>,
    /// How far its memory was given out before which operation of the execution.
    pub(crate) marks: Vec<(u64, u32)>,
    /// Whether it is at an operation that is not the program's.
    pub(crate) is_aside: bool,
    /// The operation at which it is.
    pub(crate) last: Option<Op>,
    /// A hash of all results that it got.
    pub(crate) history: u64,
    /// How many objects it made, threads it spawned, and objects of unknown place it was first at.
    pub(crate) made: u32,
    pub(crate) spawned: u32,
    pub(crate) firsts: u32,
    /// Whether its results are not the same in all executions.
    pub(crate) is_varied: bool,
    /// Whether it begins with a read of what its creator gave it.
    pub(crate) is_given: bool,
    /// The number that its exit leaves.
    pub(crate) exit: u64,
    /// What it read since it gave way last, the oldest first.
    reads: Vec<Watched>,
    /// What it had read when it gave way last.
    reads_before: Vec<Watched>,
    /// The registers that it changed since it gave way last.
    changed: Vec<Changed>,
    /// What it wrote last, to what it wrote lately since it gave way first, the oldest first.
    written: Vec<(ObjectId, u64)>,
    /// Whether it has altered something since the invocation that began last.
    pub(crate) has_altered: bool,
    /// Operations of destructors that ran while it unwound.
    pub(crate) deferred: Vec<(Op, &'static Location<'static>)>,
    /// Locks that it took while it unwound.
    pub(crate) taken_unwinding: Vec<ObjectId>,
    /// Its panics since one reached its root: some are caught on the way.
    pub(crate) panics: Vec<Panic>,
    pub(crate) locals: Locals,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) end: ObjectId,
    pub(crate) token: ObjectId,
    pub(crate) bump: Box<Bump>,
}

/// A register that a thread changed: its first change of it, and the value before and after.
struct Changed {
    op: Op,
    before: u64,
    after: u64,
}

impl Strand {
    pub(crate) fn new(program: u32, id: ThreadId, end: ObjectId, token: ObjectId) -> Strand {
        Strand {
            id,
            routine: None,
            body: None,
            yielder: ptr::null(),
            stack: (0, 0),
            own_stack: None,
            marks: Vec::new(),
            is_aside: false,
            last: None,
            history: 0,
            made: 0,
            spawned: 0,
            firsts: 0,
            is_varied: false,
            is_given: false,
            exit: 0,
            reads: Vec::new(),
            reads_before: Vec::new(),
            changed: Vec::new(),
            written: Vec::new(),
            has_altered: false,
            deferred: Vec::new(),
            taken_unwinding: Vec::new(),
            panics: Vec::new(),
            locals: Locals::default(),
            name: None,
            end,
            token,
            bump: Box::new(Bump::new(program, id.0)),
        }
    }

    /// Prepares for another execution.
    pub(crate) fn begin(&mut self, body: Body, name: Option<Arc<str>>, is_given: bool) {
        self.body = Some(body);
        self.marks.clear();
        self.is_aside = false;
        self.last = None;
        self.history = mix(0, u64::from(self.id.0));
        (self.made, self.spawned, self.firsts) = (0, 0, 0);
        (self.is_varied, self.is_given) = (is_given, is_given);
        self.exit = 0;
        self.reads.clear();
        self.reads_before.clear();
        self.changed.clear();
        self.written.clear();
        self.deferred.clear();
        self.taken_unwinding.clear();
        self.panics.clear();
        self.name = name;
    }

    /// Takes the stack back. One of the first threads keeps it for the next execution, so that all
    /// is at the same addresses again; the others share theirs.
    pub(crate) fn keep_stack(&mut self, stack: DefaultStack, shared: &mut Vec<DefaultStack>) {
        if self.id.0 < OWN_STACKS {
            self.own_stack = Some(stack);
        } else {
            self.stack = (0, 0);
            shared.push(stack);
        }
    }

    pub(crate) fn set_stack(&mut self, stack: &DefaultStack) {
        self.stack = (stack.limit().get(), stack.base().get());
        STACKS_FROM.fetch_min(self.stack.0, Relaxed);
        STACKS_TO.fetch_max(self.stack.1, Relaxed);
    }

    /// Moves its last operation to the end of the log, with its result.
    #[inline(always)]
    pub(crate) fn log_last(&mut self, result: u64, log: &mut Log) {
        if std::mem::take(&mut self.is_aside) {
            self.last = None;
        }
        let Some(op) = &self.last else { return };
        log.reserve(1);
        let length = log.len();
        // SAFETY: there is room for one more entry, of which all three parts are written. The
        // operation is moved: its old place is overwritten, and not dropped. A `push` does the same
        // by way of the stack, and waits there for the parts of the entry to be written.
        unsafe {
            let entry = log.as_mut_ptr().add(length);
            (&raw mut (*entry).0).write(self.id);
            (&raw mut (*entry).1).copy_from_nonoverlapping(ptr::from_ref(op), 1);
            (&raw mut (*entry).2).write(result);
            log.set_len(length + 1);
            ptr::write(&raw mut self.last, None);
        }
        self.mark(length as u32);
        log.last().inspect(|(_, op, _)| self.note(op, result));
    }

    /// Notes the result of an operation.
    #[inline]
    fn note(&mut self, op: &Op, result: u64) {
        self.history = mix(self.history, result);
        self.is_varied |= varies(&op.act);
        let is_lock = matches!(op.act, Act::Lock(..) | Act::Unlock(_) | Act::Convert { .. });
        self.has_altered |= op.act.changes(result) && !is_lock;
        if op.act.only_reads(result) {
            self.note_read(op, result);
        } else if let Some(after) = op.act.leaves(result) {
            // Most threads never give way, and pay nothing for what they write.
            if !self.reads_before.is_empty() {
                self.note_write(op.object, after);
            }
            if matches!(op.act, Act::Update { .. }) {
                self.note_change(op, result, after);
            }
        }
    }

    /// Marks how far its memory was given out before an operation.
    #[inline]
    fn mark(&mut self, operation: u32) {
        let reached = self.bump.end_of_chunks();
        if self.marks.last().is_none_or(|mark| mark.0 < reached) {
            self.marks.push((reached, operation));
        }
    }

    fn note_read(&mut self, op: &Op, result: u64) {
        if let Some(at) = self.reads.iter().position(|other| other.op == *op) {
            self.reads.remove(at);
        } else if self.reads.len() == READS_MAX {
            self.reads.remove(0);
        }
        let is_own = self.written.contains(&(op.object, result));
        self.reads.push(Watched { op: op.clone(), result, is_own });
    }

    fn note_write(&mut self, object: ObjectId, value: u64) {
        if let Some(at) = self.written.iter().position(|(other, _)| *other == object) {
            self.written.remove(at);
        } else if self.written.len() == READS_MAX {
            self.written.remove(0);
        }
        self.written.push((object, value));
    }

    fn note_change(&mut self, op: &Op, before: u64, after: u64) {
        let known = self.changed.iter_mut().find(|changed| changed.op.object == op.object);
        if let Some(changed) = known {
            changed.after = after;
        } else if self.changed.len() < READS_MAX {
            self.changed.push(Changed { op: op.clone(), before, after });
        }
    }

    /// Returns what it read since it gave way last, if that is what it read before. A change that
    /// it took back is a read of what was there: an attempt in vain. To give way several times
    /// without a read in between is to give way once. What it wrote itself may be another number in
    /// each turn, as long as it reads something of others that stays.
    pub(crate) fn give_way(&mut self) -> Option<Box<[Watched]>> {
        for changed in std::mem::take(&mut self.changed) {
            if changed.before == changed.after {
                self.note_read(&changed.op, changed.before);
            }
        }
        if self.reads.is_empty() {
            return None;
        }
        let mut reads = std::mem::take(&mut self.reads);
        for read in reads.iter_mut().filter(|read| read.is_own) {
            let now = self.written.iter().find(|(object, _)| *object == read.op.object);
            read.result = now.map_or(read.result, |now| now.1);
        }
        let spins = reads == self.reads_before || is_next_turn(&self.reads_before, &reads);
        let awaited = spins.then(|| reads.clone().into_boxed_slice());
        self.reads_before = reads;
        awaited
    }

    pub(crate) fn forget_reads(&mut self) {
        self.reads.clear();
        self.reads_before.clear();
        self.changed.clear();
    }

    pub(crate) fn hash_of_reads(&self) -> u64 {
        hash_of(&(&self.reads, &self.reads_before))
    }

    /// A number for data that is a function of what the thread has seen.
    pub(crate) fn version(&self) -> u64 {
        mix(self.history, u64::from(self.id.0) << 32 | 0x9e37)
    }
}

/// Whether a turn of a loop is like the one before, but for what the thread wrote itself.
fn is_next_turn(before: &[Watched], reads: &[Watched]) -> bool {
    before.len() == reads.len()
        && reads.iter().any(|read| !read.is_own)
        && before.iter().zip(reads).all(|(before, read)| before.is_like(read))
}

/// From where to where all stacks of all threads were so far.
static STACKS_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);
static STACKS_TO: AtomicUsize = AtomicUsize::new(0);

/// Returns whether an address may be on a stack.
#[inline]
pub(super) fn is_near_stacks(address: usize) -> bool {
    STACKS_FROM.load(Relaxed) <= address && address < STACKS_TO.load(Relaxed)
}

/// Returns whether the results of an operation differ between executions.
fn varies(act: &Act) -> bool {
    !matches!(
        act,
        Act::Store(..)
            | Act::Fence(_)
            | Act::Unlock(_)
            | Act::Alter(_)
            | Act::Poison(_)
            | Act::Wait { .. }
            | Act::Wake(Patience::Wait)
            | Act::Notify { counted: false, .. }
            | Act::Park(Patience::Wait)
            | Act::Unpark
            | Act::Senders(_)
            | Act::Receivers(_)
            | Act::Pass(_)
            | Act::Release(_)
            | Act::Close
            | Act::Retain
            | Act::Spawn(_)
            | Act::Invoke(_)
            | Act::Return { .. }
            | Act::Fail(_)
    )
}

/// Returns whether an operation has no result, so that it can be performed later.
pub(crate) fn has_no_result(act: &Act) -> bool {
    matches!(
        act,
        Act::Store(..)
            | Act::Unlock(LockMode::Exclusive | LockMode::Shared | LockMode::Upgradable)
            | Act::Alter(_)
            | Act::Poison(_)
            | Act::Notify { counted: false, .. }
            | Act::Unpark
            | Act::Senders(_)
            | Act::Receivers(_)
            | Act::Release(_)
            | Act::Close
            | Act::Retain
            | Act::Drop
            | Act::Return { .. }
    )
}
