//! The block of thread-local memory that every hook reads.
//!
//! It is in static thread-local storage with the initial-exec model: two instructions reach it, and
//! it exists from the first instruction of a thread to its last. `thread_local!` of a shared object
//! would call a function, which is three times as slow. The block of another thread is at the same
//! distance from its `pthread_t`, which is the address of its control block.

use crate::c::Pthread;
use core::arch::{asm, global_asm};

/// What a thread knows of its recording. All zero: nothing is recorded, and the first event asks.
#[repr(C)]
pub(crate) struct Block {
    /// Where the next event goes.
    pub(crate) cursor: usize,
    /// An event may begin at addresses below it; 0 if the slow path has to look first.
    pub(crate) limit: usize,
    /// As `limit`, for calls: also 0 if the list of modules has to be copied.
    pub(crate) call_limit: usize,
    /// As `limit`, for plain accesses: also 0 while they are ignored.
    pub(crate) access_limit: usize,
    /// The high half of the time that the last TIME event has.
    pub(crate) time_high: u64,
    /// The number of synchronisations so far, from bit 35 on.
    pub(crate) epoch: u64,
    /// The last accesses, [`CACHE_ENTRIES`] pairs of words.
    pub(crate) cache: usize,
    /// Accesses left out that the header does not count yet.
    pub(crate) left_out: u64,
    /// The number of calls that have not returned.
    pub(crate) depth: usize,
    /// The stack pointers of these calls, [`FRAMES`] at the most.
    pub(crate) frames: usize,
    /// The end of this thread's chunk; 0 if it has none.
    pub(crate) chunk_end: usize,
    /// Where the last CALL event is.
    pub(crate) last_call: usize,
    /// The table of cells; 0 before the thread begins. This and the next four: see `cells`.
    pub(crate) cells: usize,
    /// The number of cells, a power of two, less one.
    pub(crate) cells_mask: usize,
    /// What a cell of this thread alone has.
    pub(crate) own: u64,
    /// The low half of the time of the last event that took its time, in the upper half.
    pub(crate) stamp: u64,
    /// The same time as it is in cells.
    pub(crate) stamp_in_cell: u64,
    /// What packs the chunks of this thread; 0 before the first one is full. See `pack`.
    pub(crate) packer: usize,
    /// The number of this thread, dense from 0.
    pub(crate) number: u32,
    /// See the constants below.
    pub(crate) state: u32,
    /// The kernel's number of this thread.
    pub(crate) thread_id: u32,
    /// The number of chunks that this thread has had.
    pub(crate) chunks: u32,
    /// The lock of atomics that this thread holds, or 0.
    pub(crate) held: usize,
    /// How often accesses were asked to be ignored.
    pub(crate) ignored: u32,
    /// The number of signal handlers that run.
    pub(crate) handlers: u32,
    /// For each running signal handler: the depth before it, the stack pointer of its frame.
    pub(crate) handler_frames: [[usize; 2]; HANDLERS],
    /// The calls of this thread in which signal handlers are expected.
    pub(crate) awaits_signals: u32,
    /// The innermost call of `pthread_once`, or 0.
    pub(crate) once: usize,
    /// Rounds of key destructors so far.
    pub(crate) rounds: u32,
    /// The list of modules must be copied: `dlopen` was called.
    pub(crate) modules_changed: u32,
    /// Under a plan: the path of this thread, and how many threads it has created.
    pub(crate) plan_path: u64,
    pub(crate) plan_children: u64,
    /// How often this thread was at each place of the plan; 0 if it is not under one.
    pub(crate) plan_counts: usize,
    /// The place of the call that was announced, or 0.
    pub(crate) plan_place: usize,
    /// The block whose free is held back, or 0.
    pub(crate) plan_kept: usize,
    /// The event of the plan that this thread is at, plus 1; or 0.
    pub(crate) plan_open: u32,
    /// In a scheduled run: the slot of this thread, plus 1; 0 if it has none.
    pub(crate) schedule_slot: u32,
    /// Whether this thread is in the scheduler.
    pub(crate) schedule_inside: u32,
    /// What its creator knows of its slot; it stays until it is joined.
    pub(crate) schedule_birth: u64,
}

/// No event was written, and none is to be written before the thread is known.
pub(crate) const UNKNOWN: u32 = 0;
/// Events are written.
pub(crate) const RECORDED: u32 = 1;
/// Nothing is recorded of this thread, now and later.
pub(crate) const SILENT: u32 = 2;
/// The thread is being created or forked: events of the libraries below are left out.
pub(crate) const PAUSED: u32 = 3;

pub(crate) const CACHE_ENTRIES: usize = 256;
pub(crate) const FRAMES: usize = 16_384;
pub(crate) const HANDLERS: usize = 8;
/// One synchronisation, in [`Block::epoch`].
pub(crate) const EPOCH_STEP: u64 = 1 << 35;

global_asm!(
    ".pushsection .tbss.anyorder_block, \"awT\", @nobits",
    ".balign 64",
    ".hidden anyorder_block",
    ".globl anyorder_block",
    ".type anyorder_block, @object",
    ".size anyorder_block, {size}",
    "anyorder_block:",
    ".zero {size}",
    ".popsection",
    size = const size_of::<Block>(),
);

/// Returns this thread's block.
#[inline(always)]
pub(crate) fn block() -> *mut Block {
    let address: *mut Block;
    // SAFETY: this reads the offset of the block and the address of the thread's control block.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + anyorder_block@gottpoff]",
            "add {0}, qword ptr fs:[0]",
            out(reg) address,
            options(nostack, pure, readonly),
        );
    }
    address
}

/// Returns the block of a thread that exists.
pub(crate) fn block_of(thread: Pthread) -> *mut Block {
    let offset: usize;
    // SAFETY: this reads the offset of the block, which is the same in each thread.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + anyorder_block@gottpoff]",
            out(reg) offset,
            options(nostack, pure, readonly),
        );
    }
    thread.wrapping_add(offset) as *mut Block
}
