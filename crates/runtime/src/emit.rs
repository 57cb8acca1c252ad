//! How events are written: the only code that moves a thread's cursor.
//!
//! A signal may come at any instruction, and its handler writes events, too. So each of these
//! sequences can be begun again: it changes nothing but memory past the cursor, until its last
//! instruction moves the cursor. The wrapper of signal handlers calls [`leave_sequence`], which
//! sends an interrupted sequence back to its start. That needs no flag and no atomic instruction
//! in the usual case, and times of a thread never decrease.

use crate::block::{Block, CACHE_ENTRIES, EPOCH_STEP, FRAMES, block};
use crate::cells::{self, GRANULE_SHIFT, STAMP_SHIFT};
use crate::kind::{CALL, READ, RETURN};
use crate::{record, thread};
use core::arch::global_asm;
use core::mem::offset_of;

/// The bytes of the longest event.
pub(crate) const LONGEST: usize = 24;
/// Repeats of an access that are written. Later ones are left out; a read only while no other
/// thread has changed the cell of its memory, so that the read that ends a loop is there.
const REPEATS: u64 = 4;

// Registers of all sequences: r8 the block, r10 the cursor.
global_asm!(
    ".pushsection .text.anyorder_emit, \"ax\", @progbits",
    ".hidden anyorder_access, anyorder_emit, anyorder_entry, anyorder_exit",
    ".globl anyorder_access, anyorder_emit, anyorder_entry, anyorder_exit",
    // A plain access. rdi: address, rsi: kind and argument in place, [rsp]: the return address.
    ".type anyorder_access, @function",
    "anyorder_access:",
    ".cfi_startproc",
    "mov r8, qword ptr [rip + anyorder_block@gottpoff]",
    "add r8, qword ptr fs:[0]",
    "20:",
    "mov r10, qword ptr [r8 + {cursor}]",
    "cmp r10, qword ptr [r8 + {access_limit}]",
    "jae 26f",
    // r9: the first word.
    "mov r9, rdi",
    "shl r9, 16",
    "shr r9, 16",
    "or r9, rsi",
    // rax: epoch, place and count 0 of the entry.
    "mov eax, dword ptr [rsp]",
    "mov edx, edi",
    "shr edx, 2",
    "xor edx, eax",
    "and edx, {mask}",
    "shl edx, 4",
    "add rdx, qword ptr [r8 + {cache}]",
    "shl rax, 3",
    "or rax, qword ptr [r8 + {epoch}]",
    "cmp r9, qword ptr [rdx]",
    "jne 22f",
    "mov rcx, qword ptr [rdx + 8]",
    "xor rcx, rax",
    "cmp rcx, {repeats}",
    "je 28f",
    "ja 22f",
    "inc qword ptr [rdx + 8]",
    "jmp 23f",
    // A read that may see what another thread has written since is no repeat.
    "28:",
    "mov rcx, r9",
    "shr rcx, 48",
    "cmp cl, {read}",
    "jne 25f",
    "mov r11, rdi",
    "shr r11, {granule_shift}",
    "and r11, qword ptr [r8 + {cells_mask}]",
    "shl r11, 3",
    "add r11, qword ptr [r8 + {cells}]",
    "mov rax, qword ptr [r11]",
    "cmp rax, qword ptr [r8 + {own}]",
    "je 25f",
    "test ax, ax",
    "jne 23f",
    "cmp rax, qword ptr [r8 + {stamp_in_cell}]",
    "jbe 25f",
    "jmp 23f",
    "22:",
    "mov qword ptr [rdx], r9",
    "inc rax",
    "mov qword ptr [rdx + 8], rax",
    "23:",
    // r11: the cell. See `cells`.
    "mov r11, rdi",
    "shr r11, {granule_shift}",
    "and r11, qword ptr [r8 + {cells_mask}]",
    "shl r11, 3",
    "add r11, qword ptr [r8 + {cells}]",
    "mov rax, qword ptr [r11]",
    "cmp rax, qword ptr [r8 + {own}]",
    "je 21f",
    // The cell is not this thread's alone. rcx: kind.
    "mov rcx, r9",
    "shr rcx, 48",
    "test ax, ax",
    "jne 19f",
    "cmp cl, {read}",
    "jne 19f",
    "cmp rax, qword ptr [r8 + {stamp_in_cell}]",
    "jbe 21f",
    "19:",
    "mov qword ptr [rsp - 8], rax",
    "rdtsc",
    "cmp edx, dword ptr [r8 + {time_high}]",
    "jne 26f",
    "shl rdx, 32",
    "or rdx, rax",
    "shl rdx, {stamp_shift}",
    "xor dx, dx",
    "shl rax, 32",
    "mov qword ptr [r8 + {stamp}], rax",
    "mov qword ptr [r8 + {stamp_in_cell}], rdx",
    "mov rax, qword ptr [rsp - 8]",
    "cmp cl, {read}",
    "jne 18f",
    // A read leaves a cell of readers as it is.
    "test ax, ax",
    "je 21f",
    "jmp 17f",
    "18:",
    "movzx edx, word ptr [r8 + {own}]",
    "17:",
    "lock cmpxchg qword ptr [r11], rdx",
    "jne 23b",
    "21:",
    "mov rax, qword ptr [r8 + {stamp}]",
    "mov ecx, dword ptr [rsp]",
    "or rax, rcx",
    "mov qword ptr [r10 + 8], rax",
    "mov qword ptr [r10], r9",
    "add r10, 16",
    "mov qword ptr [r8 + {cursor}], r10",
    "24:",
    "ret",
    "25:",
    "inc qword ptr [r8 + {left_out}]",
    "ret",
    "26:",
    "cmp dword ptr [rip + {state}], 0",
    "je 27f",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    // The block, the kind, the address and the place.
    "mov rdx, rdi",
    "mov rcx, qword ptr [rsp + 24]",
    "mov rdi, r8",
    "call {refill_access}",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "test al, al",
    "jne 20b",
    "27:",
    "ret",
    ".cfi_endproc",
    // Any other event. rdi: first word, rsi: place, rdx: third word, rcx: words (1 to 3).
    ".type anyorder_emit, @function",
    "anyorder_emit:",
    ".cfi_startproc",
    "mov r8, qword ptr [rip + anyorder_block@gottpoff]",
    "add r8, qword ptr fs:[0]",
    "mov r9, rdx",
    "30:",
    "mov r10, qword ptr [r8 + {cursor}]",
    "cmp r10, qword ptr [r8 + {limit}]",
    "jae 36f",
    "lfence",
    "rdtsc",
    "cmp edx, dword ptr [r8 + {time_high}]",
    "jne 36f",
    "shl rdx, 32",
    "or rdx, rax",
    "shl rdx, {stamp_shift}",
    "xor dx, dx",
    "shl rax, 32",
    "mov qword ptr [r8 + {stamp}], rax",
    "mov qword ptr [r8 + {stamp_in_cell}], rdx",
    "mov edx, esi",
    "or rax, rdx",
    "cmp rcx, 2",
    "jb 31f",
    "mov qword ptr [r10 + 8], rax",
    "je 31f",
    "mov qword ptr [r10 + 16], r9",
    "31:",
    "mov qword ptr [r10], rdi",
    "lea r10, [r10 + rcx * 8]",
    "mov qword ptr [r8 + {cursor}], r10",
    "34:",
    "ret",
    "36:",
    "push rdi",
    ".cfi_adjust_cfa_offset 8",
    "push rsi",
    ".cfi_adjust_cfa_offset 8",
    "push rcx",
    ".cfi_adjust_cfa_offset 8",
    "push r9",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    // The block, the first word, the place and the third word.
    "mov rdx, rsi",
    "mov rcx, r9",
    "mov rsi, rdi",
    "mov rdi, r8",
    "call {refill}",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "pop r9",
    ".cfi_adjust_cfa_offset -8",
    "pop rcx",
    ".cfi_adjust_cfa_offset -8",
    "pop rsi",
    ".cfi_adjust_cfa_offset -8",
    "pop rdi",
    ".cfi_adjust_cfa_offset -8",
    "test al, al",
    "jne 30b",
    "ret",
    ".cfi_endproc",
    // The begin of a function. rdi: the return address into its caller.
    ".type anyorder_entry, @function",
    "anyorder_entry:",
    ".cfi_startproc",
    "mov r8, qword ptr [rip + anyorder_block@gottpoff]",
    "add r8, qword ptr fs:[0]",
    "mov r9, rdi",
    "shl r9, 16",
    "shr r9, 16",
    "mov rax, {call}",
    "or r9, rax",
    "40:",
    "mov r10, qword ptr [r8 + {cursor}]",
    "cmp r10, qword ptr [r8 + {call_limit}]",
    "jae 46f",
    "mov rcx, qword ptr [r8 + {depth}]",
    "cmp rcx, {frames_max}",
    "jae 41f",
    "mov rdx, qword ptr [r8 + {frames}]",
    "mov qword ptr [rdx + rcx * 8], rsp",
    "41:",
    "mov qword ptr [r10], r9",
    "mov qword ptr [r8 + {last_call}], r10",
    "add r10, 8",
    "mov qword ptr [r8 + {cursor}], r10",
    "44:",
    "inc qword ptr [r8 + {depth}]",
    "45:",
    "ret",
    "46:",
    "cmp dword ptr [rip + {state}], 0",
    "je 45b",
    "push r9",
    ".cfi_adjust_cfa_offset 8",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "sub rsp, 8",
    ".cfi_adjust_cfa_offset 8",
    "mov rdi, r8",
    "call {refill_call}",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "pop r9",
    ".cfi_adjust_cfa_offset -8",
    "test al, al",
    "jne 40b",
    "ret",
    ".cfi_endproc",
    // The end of a function.
    ".type anyorder_exit, @function",
    "anyorder_exit:",
    ".cfi_startproc",
    "mov r8, qword ptr [rip + anyorder_block@gottpoff]",
    "add r8, qword ptr fs:[0]",
    "50:",
    "mov r10, qword ptr [r8 + {cursor}]",
    "cmp r10, qword ptr [r8 + {call_limit}]",
    "jae 56f",
    "lea rax, [r10 - 8]",
    "cmp rax, qword ptr [r8 + {last_call}]",
    "je 51f",
    "mov rax, {return}",
    "mov qword ptr [r10], rax",
    "add r10, 8",
    "mov qword ptr [r8 + {cursor}], r10",
    "54:",
    "dec qword ptr [r8 + {depth}]",
    "ret",
    // Nothing happened in the call: it is taken back. An interrupted one is completed.
    "51:",
    "mov qword ptr [rax], 0",
    "52:",
    "mov qword ptr [r8 + {cursor}], rax",
    "53:",
    "mov qword ptr [r8 + {last_call}], 0",
    "dec qword ptr [r8 + {depth}]",
    "ret",
    "56:",
    "cmp dword ptr [rip + {state}], 0",
    "je 45b",
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "mov rdi, r8",
    "call {refill_call}",
    "pop r8",
    ".cfi_adjust_cfa_offset -8",
    "test al, al",
    "jne 50b",
    "ret",
    ".cfi_endproc",
    ".popsection",
    // See `Sequences`.
    ".pushsection .data.rel.ro.anyorder_sequences, \"aw\", @progbits",
    ".balign 8",
    ".hidden anyorder_sequences",
    ".globl anyorder_sequences",
    "anyorder_sequences:",
    ".quad 20b, 24b, 30b, 34b, 40b, 44b, 50b, 54b",
    ".quad 45b, 51b, 52b, 53b",
    ".popsection",
    cursor = const offset_of!(Block, cursor),
    limit = const offset_of!(Block, limit),
    call_limit = const offset_of!(Block, call_limit),
    access_limit = const offset_of!(Block, access_limit),
    time_high = const offset_of!(Block, time_high),
    epoch = const offset_of!(Block, epoch),
    cache = const offset_of!(Block, cache),
    left_out = const offset_of!(Block, left_out),
    depth = const offset_of!(Block, depth),
    frames = const offset_of!(Block, frames),
    last_call = const offset_of!(Block, last_call),
    cells = const offset_of!(Block, cells),
    own = const offset_of!(Block, own),
    stamp = const offset_of!(Block, stamp),
    stamp_in_cell = const offset_of!(Block, stamp_in_cell),
    granule_shift = const GRANULE_SHIFT,
    cells_mask = const offset_of!(Block, cells_mask),
    stamp_shift = const STAMP_SHIFT,
    read = const READ >> 48,
    mask = const CACHE_ENTRIES - 1,
    repeats = const REPEATS,
    frames_max = const FRAMES,
    call = const CALL,
    return = const RETURN,
    state = sym record::STATE,
    refill = sym thread::refill,
    refill_call = sym thread::refill_call,
    refill_access = sym thread::refill_access,
);

/// Addresses in the sequences.
#[repr(C)]
struct Sequences {
    /// For each sequence, where it begins, and the instruction after the one that moves the cursor.
    restartable: [[usize; 2]; 4],
    /// The instruction after the one that counts a call.
    entry_counted: usize,
    /// Three instructions that take a call back: the first erases it, the second moves the cursor.
    take_back: [usize; 3],
}

unsafe extern "C" {
    static anyorder_sequences: Sequences;
    pub(crate) fn anyorder_access(address: usize, first: u64);
    pub(crate) fn anyorder_emit(first: u64, place: usize, third: u64, words: usize);
    pub(crate) fn anyorder_entry(caller: usize);
    pub(crate) fn anyorder_exit();
}

/// The registers of an interrupted thread that matter here.
pub(crate) struct Interrupted {
    pub(crate) rip: usize,
    pub(crate) rax: usize,
}

/// Makes a thread that a signal has interrupted ready for the events of the handler: a sequence
/// that had not moved the cursor begins again, one that cannot is completed.
pub(crate) fn leave_sequence(at: &mut Interrupted, block: &mut Block) {
    // SAFETY: the assembler code above defines it, and nothing changes it.
    let sequences = unsafe { &anyorder_sequences };
    if at.rip == sequences.take_back[0] {
        at.rip = sequences.restartable[3][0];
    } else if at.rip == sequences.take_back[1] {
        block.cursor = at.rax;
        at.rip = sequences.take_back[2];
    } else if at.rip == sequences.restartable[2][1] {
        block.depth = block.depth.wrapping_add(1);
        at.rip = sequences.entry_counted;
    }
    for [begin, done] in sequences.restartable {
        if (begin..done).contains(&at.rip) {
            at.rip = begin;
        }
    }
}

/// Keeps the bits of an address that an event has.
pub(crate) const fn address(value: usize) -> u64 {
    value as u64 & ((1 << 48) - 1)
}

/// Writes an event of two words that is no synchronisation.
#[inline(always)]
pub(crate) fn note(first: u64, at: usize, place: usize) {
    cells::touch(first, at, 0);
    // SAFETY: the sequence writes to this thread's chunk only, and looks whether there is one.
    unsafe { anyorder_emit(first | address(at), place, 0, 2) }
}

/// Writes an event of one word.
pub(crate) fn note_word(first: u64, value: usize) {
    // SAFETY: as in `note`.
    unsafe { anyorder_emit(first | address(value), 0, 0, 1) }
}

/// Writes an event of three words that is no synchronisation.
#[inline(always)]
pub(crate) fn note_sized(first: u64, at: usize, place: usize, third: u64) {
    cells::touch(first, at, third as usize);
    // SAFETY: as in `note`.
    unsafe { anyorder_emit(first | address(at), place, third, 3) }
}

/// Writes an event of two words after which no access is a repeat.
#[inline(always)]
pub(crate) fn sync(first: u64, at: usize, place: usize) {
    note(first, at, place);
    forget_repeats();
}

/// Writes an event of three words after which no access is a repeat.
#[inline(always)]
pub(crate) fn sync_sized(first: u64, at: usize, place: usize, third: u64) {
    note_sized(first, at, place, third);
    forget_repeats();
}

#[inline(always)]
fn forget_repeats() {
    let block = block();
    // SAFETY: the block is this thread's. An interrupting handler may count in between: then two
    // synchronisations count as one, which is enough.
    unsafe { (*block).epoch = (*block).epoch.wrapping_add(EPOCH_STEP) };
}
