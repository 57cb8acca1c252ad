//! Which accesses can matter to another thread.
//!
//! Most memory is touched by one thread only: its stack, and blocks that it allocates, uses and
//! frees. Accesses to such memory conflict with nothing. One pass over the merged events finds what
//! several threads touch, by pieces of eight bytes and by [lives](super::lives).
//!
//! **What is left out.** In one life of a block, the threads that touch a piece are those with an
//! access to it, and those that touch the whole block: they allocate it, free it, or access more
//! than 4 KB of it at once. A piece that one thread touches is private in this life, and its
//! accesses are left out. A life all of whose pieces are private, and whose whole is touched by no
//! other thread, is private: its allocation, its frees and its long accesses are left out, too.
//!
//! **Why that is sound.** To the engines, two accesses conflict only if their ranges overlap and
//! belong to the same *generation*: that of the last allocation over the first address before the
//! access in the order of the trace. That is the same order, so a generation is a life. So no event
//! that is left out conflicts with one of another thread:
//!
//! - An access after the free belongs to the life that was freed. Done by another thread, it makes
//!   the piece shared, so that the free and the access stay. The same is true of a second free.
//! - A reused block is another life, and conflicts with the first one in neither trace.
//! - The only other effect of an allocation is that accesses of its life come after it, and that
//!   locks in its memory are new ones. The accesses that stay are in lives whose allocation stays:
//!   a life is private only if all its accesses are. Where one thread has them all, its own order
//!   has them after the allocation. A life with a lock, a condition, or an object with invocations
//!   in it stays.
//! - What is left out orders nothing: plain accesses order nothing, and an atomic on private memory
//!   has nobody to synchronise with.
//!
//! Pieces are coarser than addresses, which only keeps more. Allocators align blocks, so the rest
//! of the last piece of a block belongs to its life, and to its generation. Where that is not so
//! and several blocks lie in one piece, all of them stay if the piece is shared, and those of them
//! that end while it goes on stay anyway.
//!
//! **Stacks** are lives that begin with their threads. All of a stack counts as touched by its
//! thread, so that only accesses of others must be remembered.

use super::lives::{Ended, Lives, Part};
use super::pages::{PAGE, PIECE, Pages, pieces};
use crate::recording::{Event, kind};
use std::collections::BTreeMap;

/// Longer accesses touch the whole of a block.
const SIZE_MAX: u64 = 4096;

/// The most bytes that a free is taken to touch of memory that was never allocated.
const UNKNOWN_MAX: u64 = 64;

/// Stands for several threads.
const SEVERAL: u32 = u32::MAX;

/// Stands for no thread.
const NOBODY: u32 = u32::MAX - 1;

/// The pieces of a page.
const PIECES: usize = 1 << PAGE;

/// Shared pieces of one life that lie together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Run {
    /// The life; 0 for memory before its first allocation.
    life: usize,
    first: u64,
    /// The piece behind the last one.
    end: u64,
}

/// Memory that was never allocated, and of which much is accessed at once.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<u64, (u64, u32)>);

impl Ranges {
    /// Adds a range. Ranges that overlap become one: none of their bytes is lost, and each goes
    /// once.
    fn add(&mut self, lane: u32, address: u64, size: u64) {
        let (mut first, mut last) = (address, address.saturating_add(size.max(1) - 1));
        let mut owner = lane;
        while let Some((&start, &(end, other))) = self.0.range(..=last).next_back() {
            if end < address {
                break;
            }
            self.0.remove(&start);
            (first, last) = (first.min(start), last.max(end));
            if other != owner {
                owner = SEVERAL;
            }
        }
        self.0.insert(first, (last, owner));
    }

    /// Returns whether another thread has touched a part of a range at once.
    fn is_of_others(&self, lane: u32, address: u64, size: u64) -> bool {
        let last = address.saturating_add(size.max(1) - 1);
        let range = self.0.range(..=last).next_back();
        range.is_some_and(|(_, (end, owner))| *end >= address && *owner != lane)
    }
}

/// Adds a thread to those that touch something.
#[inline]
fn add(owner: &mut u32, lane: u32) {
    if *owner == NOBODY {
        *owner = lane;
    } else if *owner != lane {
        *owner = SEVERAL;
    }
}

/// Finds who touches which memory, in one pass over the merged events.
#[derive(Debug)]
pub(super) struct Sharing {
    lives: Lives,
    owners: Pages<[u32; PIECES]>,
    ranges: Ranges,
    runs: Vec<Run>,
    /// By life: whether it is not private. The first one is that of memory before any allocation.
    kept: Vec<bool>,
    /// The stack of each thread, while it runs.
    stacks: Vec<(u64, u64)>,
    ended: Ended,
}

impl Sharing {
    pub(super) fn new(threads: usize) -> Sharing {
        Sharing {
            lives: Lives::default(),
            owners: Pages::new([NOBODY; PIECES]),
            ranges: Ranges::default(),
            runs: Vec::new(),
            kept: vec![true],
            stacks: vec![NO_STACK; threads],
            ended: Ended::default(),
        }
    }

    /// Takes the next event of a thread.
    #[inline]
    pub(super) fn step(&mut self, lane: usize, event: &Event) {
        match event.kind {
            kind::CALL | kind::RETURN => {}
            kind::READ | kind::WRITE | kind::ATOMIC_LOAD..=kind::ATOMIC_RMW => {
                self.access(lane, event.address, u64::from(event.size()));
            }
            kind::VPTR_WRITE => self.access(lane, event.address, 8),
            kind::READ_RANGE | kind::WRITE_RANGE => self.access(lane, event.address, event.third),
            _ => self.rare(lane, event),
        }
    }

    fn rare(&mut self, lane: usize, event: &Event) {
        let (by, address) = (lane as u32, event.address);
        match event.kind {
            kind::ALLOC => self.begin(by, address, event.third, None),
            // The size is what may be used of the block, which may be more than its life has.
            kind::FREE if self.lives.at(address).is_some() => {
                self.lives.meet(address, event.third, |part| add(&mut part.whole, by));
            }
            kind::FREE => {
                // What was never allocated has no owner of the whole.
                self.access(lane, address, event.third.clamp(1, UNKNOWN_MAX));
                self.whole(by, address, event.third);
            }
            kind::THREAD_BEGIN => self.begin(by, address, event.third, Some(by)),
            kind::THREAD_END => self.stacks[lane] = NO_STACK,
            kind::LOCK..=kind::LOCK_DESTROY
            | kind::COND_SIGNAL..=kind::COND_DESTROY
            | kind::BARRIER_INIT..=kind::SEM_REQUEST
            | kind::ACQUIRE
            | kind::RELEASE
            | kind::OBJECT
            | kind::INVOKE
            | kind::INVOKE_RETURN => self.keep(address),
            kind::COND_WAIT | kind::COND_WAKE => {
                self.keep(address);
                self.keep(event.third);
            }
            _ => {}
        }
    }

    /// Keeps the life of an address.
    fn keep(&mut self, address: u64) {
        if let Some((_, part)) = self.lives.at(address) {
            self.kept[part.life] = true;
        }
    }

    #[inline]
    fn access(&mut self, lane: usize, address: u64, size: u64) {
        let (low, last) = self.stacks[lane];
        if low <= address && address <= last {
            return;
        }
        if size > SIZE_MAX {
            return self.whole(lane as u32, address, size);
        }
        if size == 0 {
            return;
        }
        let (first, last) = pieces(address, size);
        let mut piece = first;
        while piece <= last {
            let page = self.owners.touch(piece >> PAGE);
            add(&mut page[piece as usize % PIECES], lane as u32);
            piece += 1;
        }
    }

    /// A thread touches all of a range at once.
    fn whole(&mut self, lane: u32, address: u64, size: u64) {
        let is_all_allocated = self.lives.meet(address, size, |part| add(&mut part.whole, lane));
        if !is_all_allocated {
            self.ranges.add(lane, address, size);
        }
    }

    /// Begins the life of a block or of the stack of a thread.
    fn begin(&mut self, lane: u32, address: u64, size: u64, stack_of: Option<u32>) {
        if size == 0 {
            return;
        }
        let mut ended = std::mem::take(&mut self.ended);
        let life = self.lives.begin(address, size, lane, stack_of, &mut ended);
        self.end_parts(&ended);
        self.ended = ended;
        // Where two blocks share a piece, what belongs to which is not known.
        let is_aligned = address.is_multiple_of(1 << PIECE);
        self.kept.resize(life, true);
        self.kept.push(stack_of.is_some() || !is_aligned);
        if let Some(thread) = stack_of {
            self.stacks[thread as usize] = (address, address.saturating_add(size - 1));
        }
    }

    /// Decides what is shared in lives that end.
    fn end_parts(&mut self, ended: &Ended) {
        for (start, part) in &ended.parts {
            // What a piece that goes on shows later would come too late for it.
            self.kept[part.life] |= part.whole == SEVERAL || ended.goes_on(*start, part);
            if let Some(thread) = part.stack_of {
                self.stacks[thread as usize] = NO_STACK;
            }
        }
        let (first, end) = ended.own;
        let mut next = 0;
        let mut page = first >> PAGE;
        while end > first
            && let Some(now) = self.owners.next(page, (end - 1) >> PAGE)
        {
            let (from, to) = (first.max(now << PAGE), end.min((now + 1) << PAGE));
            self.end_page(now, (from, to), &ended.parts, &mut next);
            if to - from == PIECES as u64 {
                self.owners.remove(now);
            } else if let Some(owners) = self.owners.get(now) {
                let within = (from - (now << PAGE)) as usize..(to - (now << PAGE)) as usize;
                owners[within].fill(NOBODY);
            }
            page = now + 1;
        }
    }

    /// Decides what is shared of the pieces of a page. `next` is the first of the parts that may
    /// reach into it.
    fn end_page(
        &mut self,
        page: u64,
        (from, to): (u64, u64),
        parts: &[(u64, Part)],
        next: &mut usize,
    ) {
        let Some(owners) = self.owners.get(page) else { return };
        for piece in from..to {
            let owner = owners[piece as usize % PIECES];
            if owner == NOBODY {
                continue;
            }
            while parts.get(*next).is_some_and(|(_, part)| part.last >> PIECE < piece) {
                *next += 1;
            }
            // Where parts meet in a piece, which of them was touched is not known.
            let reaches = |(start, _): &&(u64, Part)| *start >> PIECE <= piece;
            let meet = parts.get(*next..).unwrap_or_default().iter().take_while(reaches);
            let of_others = |(_, part): &(u64, Part)| owner != part.whole;
            if owner == SEVERAL || meet.clone().any(of_others) {
                let in_none = meet.clone().next().is_none().then_some(0);
                for life in meet.map(|(_, part)| part.life).chain(in_none) {
                    share(&mut self.runs, life, piece);
                    self.kept[life] = true;
                }
            }
        }
    }

    /// Ends all lives. Returns what is shared in them, which is everything on request.
    pub(super) fn finish(mut self, everything: bool) -> Shared {
        let parts = self.lives.take();
        let ended = Ended { parts, own: (0, 1 << (64 - PIECE)), room: 0 };
        self.end_parts(&ended);
        self.runs.sort_unstable();
        Shared {
            lives: Lives::default(),
            bits: Pages::new([0; PIECES / 64]),
            ranges: self.ranges,
            runs: self.runs,
            next: 0,
            kept: self.kept,
            ended: self.ended,
            everything,
        }
        .begun()
    }
}

/// No address lies in it.
const NO_STACK: (u64, u64) = (1, 0);

/// Adds a shared piece of a life to the last run, or to a new one.
fn share(runs: &mut Vec<Run>, life: usize, piece: u64) {
    match runs.last_mut() {
        Some(run) if run.life == life && run.end == piece => run.end += 1,
        _ => runs.push(Run { life, first: piece, end: piece + 1 }),
    }
}

/// What several threads touch, in the order of a second pass over the same events.
#[derive(Debug)]
pub(super) struct Shared {
    lives: Lives,
    /// By piece: whether it is shared in its present life.
    bits: Pages<[u64; PIECES / 64]>,
    ranges: Ranges,
    /// In the order of the lives.
    runs: Vec<Run>,
    /// The first run of a life that has not begun.
    next: usize,
    kept: Vec<bool>,
    ended: Ended,
    /// Whether everything counts as shared.
    everything: bool,
}

impl Shared {
    /// Begins with the memory that no allocation has covered.
    fn begun(mut self) -> Shared {
        self.set(0);
        self
    }

    /// Marks the shared pieces of a life.
    fn set(&mut self, life: usize) {
        while let Some(run) = self.runs.get(self.next).filter(|run| run.life <= life) {
            self.next += 1;
            for piece in run.first..run.end {
                let bits = self.bits.touch(piece >> PAGE);
                bits[piece as usize % PIECES / 64] |= 1 << (piece % 64);
            }
        }
    }

    /// Begins the life of a block or a stack. Returns its bytes; `None` if it is private.
    pub(super) fn begin(&mut self, address: u64, size: u64) -> Option<u64> {
        if size == 0 {
            return Some(0);
        }
        let life = self.lives.begin(address, size, NOBODY, None, &mut self.ended);
        let (first, end) = self.ended.own;
        let mut page = first >> PAGE;
        while end > first
            && let Some(now) = self.bits.next(page, (end - 1) >> PAGE)
        {
            let (from, to) = (first.max(now << PAGE), end.min((now + 1) << PAGE));
            if to - from == PIECES as u64 {
                self.bits.remove(now);
            } else if let Some(bits) = self.bits.get(now) {
                for piece in from..to {
                    bits[piece as usize % PIECES / 64] &= !(1 << (piece % 64));
                }
            }
            page = now + 1;
        }
        self.set(life);
        let is_kept = self.everything || self.kept.get(life).is_none_or(|kept| *kept);
        is_kept.then_some(self.ended.room)
    }

    /// Returns whether the life of an address is not private. Memory that was never allocated is
    /// not.
    pub(super) fn is_kept(&self, address: u64) -> bool {
        let part = self.lives.at(address);
        self.everything
            || part.is_none_or(|(_, part)| self.kept.get(part.life).is_none_or(|kept| *kept))
    }

    /// Returns whether another thread touches memory that is freed and was never allocated.
    pub(super) fn is_unknown_shared(&mut self, lane: u32, address: u64, size: u64) -> bool {
        self.is_shared(lane, address, size.clamp(1, UNKNOWN_MAX))
    }

    /// Returns whether another thread touches the memory of an access.
    #[inline]
    pub(super) fn is_shared(&mut self, lane: u32, address: u64, size: u64) -> bool {
        if size > SIZE_MAX || self.everything {
            return self.everything || self.is_shared_at_once(address, size);
        }
        let (first, last) = pieces(address, size);
        let mut piece = first;
        while piece <= last {
            let bits = self.bits.get(piece >> PAGE);
            if bits.is_some_and(|bits| bits[piece as usize % PIECES / 64] >> (piece % 64) & 1 != 0)
            {
                return true;
            }
            piece += 1;
        }
        // A long access of another thread has touched the whole of each life that it met.
        !self.ranges.0.is_empty()
            && self.ranges.is_of_others(lane, address, size)
            && !self.lives.meet(address, size, |_| ())
    }

    /// Returns whether a range is not all in private lives.
    fn is_shared_at_once(&mut self, address: u64, size: u64) -> bool {
        let (mut is_kept, kept) = (false, &self.kept);
        let is_all_allocated = self.lives.meet(address, size, |part| {
            is_kept |= kept.get(part.life).is_none_or(|kept| *kept);
        });
        is_kept || !is_all_allocated
    }
}
