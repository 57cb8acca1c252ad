//! Which accesses can matter to another thread.
//!
//! Most memory is touched by one thread only: its stack, and blocks that it allocates, uses and
//! frees. Other memory is filled before threads are created that read it, or handed over whole. One
//! pass over the merged events finds what is left, by pieces of eight bytes and by
//! [lives](super::lives).
//!
//! **What is left out.** Two accesses to a piece in one life *conflict* if one of them writes and
//! the order of [creations and joins](super::fork_join) does not order them. An atomic counts as a
//! write. A piece without a conflict is *private* in this life, and its accesses are left out. Of
//! pieces of one life that have the same [history](super::history), only the first one stays. A
//! life all of whose pieces are private, and whose allocation and frees are in that order, is
//! private: its allocation, its frees and its long accesses are left out, too.
//!
//! **Why that is sound.** To the engines, two accesses conflict only if their ranges overlap and
//! belong to the same *generation*: that of the last allocation over the first address before the
//! access in the order of the trace. That is the same order, so a generation is a life. Creations
//! and joins are in each order that an engine tries, so that what is private conflicts with nothing
//! whose order is open, and each read of it finds the write that it found.
//!
//! - An access after the free belongs to the life that was freed. Done by another thread, it makes
//!   the piece shared, so that the free and the access stay. The same is true of a second free.
//! - A reused block is another life, and conflicts with the first one in neither trace.
//! - The only other effect of an allocation is that accesses of its life come after it, and that
//!   locks in its memory are new ones. The allocation counts as a write of each piece. A life with
//!   a lock, a condition, or an object with invocations in it stays.
//! - What is left out orders nothing: plain accesses order nothing, and an atomic on private memory
//!   synchronises threads that are ordered.
//! - Pieces with one history were touched by the same threads, in the same order, at the same
//!   places in the code, between the same two synchronisations of each thread. So for each pair of
//!   accesses to the one there is a pair to the other at the same places, and what lies between the
//!   two pairs cannot wait. Pieces with atomics, or partly covered by a long access, stay.
//!
//! Pieces are coarser than addresses, which only keeps more. Allocators align blocks, so the rest
//! of the last piece of a block belongs to its life, and to its generation. Where that is not so
//! and several blocks lie in one piece, all of them stay if the piece is touched, and those of them
//! that end while it goes on stay anyway.
//!
//! **Long accesses** touch the whole of each block that they meet: then this block is private only
//! if one thread does all to it.
//!
//! **Stacks** are lives that begin with their threads. All of a stack counts as touched by its
//! thread, so that only accesses of others must be remembered.

use super::fork_join::{ForkJoin, Segment};
use super::history::{Act, Piece, UNTOUCHED, mixed};
use super::lives::{Ended, Lives, Part};
use super::pages::{PAGE, PIECE, Pages, pieces};
use super::ranges::Ranges;
use super::shared::{Run, Shared};
use crate::recording::{Event, Recording, kind};
use rustc_hash::FxHashSet;

/// Longer accesses touch the whole of a block.
pub(super) const SIZE_MAX: u64 = 1 << 16;

/// The most bytes that a free is taken to touch of memory that was never allocated.
pub(super) const UNKNOWN_MAX: u64 = 64;

/// Stands for several threads.
pub(super) const SEVERAL: u32 = u32::MAX;

/// Stands for no thread.
pub(super) const NOBODY: u32 = u32::MAX - 1;

/// The pieces of a page.
pub(super) const PIECES: usize = 1 << PAGE;

/// No address lies in it.
const NO_STACK: (u64, u64) = (1, 0);

/// Adds a thread to those that touch something.
fn add(owner: &mut u32, lane: u32) {
    if *owner == NOBODY {
        *owner = lane;
    } else if *owner != lane {
        *owner = SEVERAL;
    }
}

/// Finds who touches which memory, in one pass over the merged events.
#[derive(Debug)]
pub(super) struct Sharing<'a> {
    recording: &'a Recording,
    order: ForkJoin,
    /// By thread: a number for what it does since it synchronised last.
    regions: Vec<u64>,
    regions_begun: u64,
    lives: Lives,
    pieces: Pages<[Piece; PIECES]>,
    ranges: Ranges,
    runs: Vec<Run>,
    /// By life: whether it is not private. The first one is that of memory before any allocation.
    kept: Vec<bool>,
    /// The stack of each thread, while it runs.
    stacks: Vec<(u64, u64)>,
    ended: Ended,
    /// The histories of the shared pieces of a life.
    histories: FxHashSet<u64>,
    /// The life of `histories`.
    histories_of: usize,
    /// Memory on which the program declares races to be no mistake.
    benign: &'a [(u64, u64)],
}

impl<'a> Sharing<'a> {
    /// Begins with threads that have the given numbers of events.
    pub(super) fn new(
        recording: &'a Recording,
        lengths: Vec<u64>,
        benign: &'a [(u64, u64)],
    ) -> Sharing<'a> {
        let threads = lengths.len();
        Sharing {
            recording,
            order: ForkJoin::new(lengths),
            regions: (0..threads as u64).collect(),
            regions_begun: threads as u64,
            lives: Lives::default(),
            pieces: Pages::new([UNTOUCHED; PIECES]),
            ranges: Ranges::default(),
            runs: Vec::new(),
            kept: vec![true],
            stacks: vec![NO_STACK; threads],
            ended: Ended::default(),
            histories: FxHashSet::default(),
            histories_of: 0,
            benign,
        }
    }

    /// Takes the next event of a thread.
    #[inline]
    pub(super) fn step(&mut self, lane: usize, event: &Event) {
        self.order.count(lane);
        match event.kind {
            kind::CALL | kind::RETURN => {}
            kind::READ => self.access(lane, event, event.size().into(), false),
            kind::WRITE => self.access(lane, event, event.size().into(), true),
            kind::VPTR_WRITE => self.access(lane, event, 8, true),
            kind::READ_RANGE => self.access(lane, event, event.third, false),
            kind::WRITE_RANGE => self.access(lane, event, event.third, true),
            _ => self.rare(lane, event),
        }
    }

    fn rare(&mut self, lane: usize, event: &Event) {
        self.regions[lane] = self.regions_begun;
        self.regions_begun += 1;
        let (by, address) = (lane as u32, event.address);
        match event.kind {
            kind::ATOMIC_LOAD..=kind::ATOMIC_RMW => {
                self.access(lane, event, event.size().into(), true);
            }
            kind::ALLOC => {
                let part = Part::new(self.order.present(lane), NOBODY, None);
                self.begin(address, event.third, part);
            }
            kind::FREE if self.lives.at(address).is_some() => self.free(lane, address, event.third),
            kind::FREE => {
                // What was never allocated has no owner of the whole.
                self.access(lane, event, event.third.clamp(1, UNKNOWN_MAX), true);
                self.whole(by, address, event.third);
            }
            kind::THREAD_BEGIN => {
                self.begin(address, event.third, Part::new(0, by, Some(by)));
            }
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
        let other = self.recording.position(address as u32);
        self.order.step(lane, event, other);
    }

    /// Keeps the life of an address.
    fn keep(&mut self, address: u64) {
        if let Some((_, part)) = self.lives.at(address) {
            self.kept[part.life] = true;
        }
    }

    #[inline]
    fn access(&mut self, lane: usize, event: &Event, size: u64, writes: bool) {
        let address = event.address;
        let (low, last) = self.stacks[lane];
        if low <= address && address <= last || size == 0 {
            return;
        }
        if size > SIZE_MAX {
            return self.whole(lane as u32, address, size);
        }
        let place = u64::from(event.pc) | u64::from(event.kind) << 32;
        let mut sign = mixed(self.regions[lane].rotate_left(40) ^ place);
        if event.kind > kind::VPTR_WRITE {
            // Whoever synchronises there stays.
            sign ^= mixed(address);
        }
        let (first, last) = pieces(address, size);
        let end = address.saturating_add(size);
        let mut piece = first;
        while piece <= last {
            let start = piece << PIECE;
            let (from, to) = (address.max(start), end.min(start + (1 << PIECE)));
            let covered = (from - start) << 4 | (to - from);
            let act = Act { writes, sign: sign.wrapping_add(covered << 56 | covered) };
            let one = &mut self.pieces.touch(piece >> PAGE)[piece as usize % PIECES];
            if !one.is_touched() {
                touch_first(one, &self.lives, from);
            }
            one.touch(lane, act, &mut self.order);
            piece += 1;
        }
    }

    /// A thread touches all of a range at once.
    fn whole(&mut self, lane: u32, address: u64, size: u64) {
        let order = &self.order;
        let is_all_allocated = self.lives.meet(address, size, |part| {
            add(&mut part.whole, lane);
            let by_others = |segment: Segment| segment != 0 && order.lane(segment) != lane;
            if by_others(part.allocated) || by_others(part.freed) {
                part.whole = SEVERAL;
            }
        });
        if !is_all_allocated {
            self.ranges.add(lane, address, size);
        }
    }

    /// A thread frees a block.
    fn free(&mut self, lane: usize, address: u64, size: u64) {
        let order = &mut self.order;
        let now = order.present(lane);
        // The size is what may be used of the block, which may be more than its life has.
        self.lives.meet(address, size, |part| {
            part.is_odd |= part.allocated != 0 && !order.is_before(part.allocated, lane);
            part.is_odd |= part.freed != 0 && order.lane(part.freed) as usize != lane;
            if part.whole != NOBODY {
                add(&mut part.whole, lane as u32);
            }
            part.freed = now;
        });
        let (first, last) = pieces(address, size);
        let mut page = first >> PAGE;
        while let Some(now) = self.pieces.next(page, last >> PAGE) {
            let (from, to) = (first.max(now << PAGE), last.min(((now + 1) << PAGE) - 1));
            if let Some(pieces) = self.pieces.get(now) {
                let within = from as usize % PIECES..=to as usize % PIECES;
                for piece in pieces[within].iter_mut().filter(|piece| piece.is_touched()) {
                    piece.free(lane, &mut self.order);
                }
            }
            page = now + 1;
        }
    }

    /// Begins the life of a block or of the stack of a thread.
    fn begin(&mut self, address: u64, size: u64, part: Part) {
        if size == 0 {
            return;
        }
        let mut ended = std::mem::take(&mut self.ended);
        let life = self.lives.begin(address, size, part, &mut ended);
        self.end_parts(&ended);
        self.ended = ended;
        // Where two blocks share a piece, what belongs to which is not known.
        let is_aligned = address.is_multiple_of(1 << PIECE);
        self.kept.resize(life, true);
        self.kept.push(part.stack_of.is_some() || !is_aligned);
        if let Some(thread) = part.stack_of {
            self.stacks[thread as usize] = (address, address.saturating_add(size - 1));
        }
    }

    /// Decides what is shared in lives that end.
    fn end_parts(&mut self, ended: &Ended) {
        for (start, part) in &ended.parts {
            // What a piece that goes on shows later would come too late for it.
            let is_kept = part.is_odd || part.whole == SEVERAL || ended.goes_on(*start, part);
            self.kept[part.life] |= is_kept;
            if let Some(thread) = part.stack_of {
                self.stacks[thread as usize] = NO_STACK;
            }
        }
        let (first, end) = ended.own;
        let mut next = 0;
        let mut page = first >> PAGE;
        self.histories.clear();
        while end > first
            && let Some(now) = self.pieces.next(page, (end - 1) >> PAGE)
        {
            let (from, to) = (first.max(now << PAGE), end.min((now + 1) << PAGE));
            self.end_page(now, (from, to), &ended.parts, &mut next);
            if to - from == PIECES as u64 {
                self.pieces.remove(now);
            } else if let Some(pieces) = self.pieces.get(now) {
                let within = (from - (now << PAGE)) as usize..(to - (now << PAGE)) as usize;
                pieces[within].fill(UNTOUCHED);
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
        let Some(pieces) = self.pieces.get(page) else { return };
        for at in from..to {
            let piece = &pieces[at as usize % PIECES];
            if !piece.is_touched() {
                continue;
            }
            while parts.get(*next).is_some_and(|(_, part)| part.last >> PIECE < at) {
                *next += 1;
            }
            // Where parts meet in a piece, which of them was touched is not known.
            let reaches = |(start, _): &&(u64, Part)| *start >> PIECE <= at;
            let meet = parts.get(*next..).unwrap_or_default().iter().take_while(reaches);
            let of_others = |(_, part): &(u64, Part)| {
                part.whole != NOBODY && piece.only(&self.order) != Some(part.whole)
            };
            let count = meet.clone().count();
            if !piece.is_shared() && count <= 1 && !meet.clone().any(of_others) {
                continue;
            }
            let in_none = (count == 0).then_some(0);
            let is_alike = match meet.clone().next() {
                Some((_, part)) => count == 1 && part.whole == NOBODY,
                None => !self.ranges.meet(at << PIECE, 1 << PIECE),
            };
            let life = meet.clone().next().map_or(0, |(_, part)| part.life);
            if is_alike && self.benign.is_empty() {
                if life != self.histories_of {
                    self.histories_of = life;
                    self.histories.clear();
                }
                if !self.histories.insert(piece.history()) {
                    continue;
                }
            }
            for life in meet.map(|(_, part)| part.life).chain(in_none) {
                share(&mut self.runs, life, at);
                self.kept[life] = true;
            }
        }
    }

    /// Ends all lives. Returns what is shared in them, which is everything on request.
    pub(super) fn finish(mut self, everything: bool) -> Shared {
        let parts = self.lives.take();
        let ended = Ended { parts, own: (0, 1 << (64 - PIECE)), room: 0 };
        self.end_parts(&ended);
        self.runs.sort_unstable();
        Shared::new(self.runs, self.ranges, self.kept, everything)
    }
}

/// Begins a piece in its life.
#[cold]
fn touch_first(piece: &mut Piece, lives: &Lives, address: u64) {
    let Some((_, part)) = lives.at(address) else { return };
    if part.stack_of.is_some() || part.is_odd {
        // What the thread does on its own stack is not looked at.
        piece.share();
    } else {
        piece.begin(part.allocated, part.freed);
    }
}

/// Adds a shared piece of a life to the last run, or to a new one.
fn share(runs: &mut Vec<Run>, life: usize, piece: u64) {
    match runs.last_mut() {
        Some(run) if run.life == life && run.end == piece => run.end += 1,
        _ => runs.push(Run { life, first: piece, end: piece + 1 }),
    }
}
