//! Plain accesses.

use crate::block::block;
use crate::cells::GRANULE_SHIFT;
use crate::emit::{anyorder_access, note, note_sized};
use crate::kind::{READ, READ_RANGE, VOLATILE, VPTR_WRITE, WRITE, WRITE_RANGE, arg};
use core::arch::naked_asm;

/// Functions that are called with an address right before an access to it.
macro_rules! accesses {
    ($($name:ident: $kind:expr;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_address: usize) {
            naked_asm!("mov rsi, {}", "jmp {}", const $kind, sym anyorder_access)
        }
    )*};
}

accesses! {
    __tsan_read1: READ | arg(1);
    __tsan_read2: READ | arg(2);
    __tsan_read4: READ | arg(4);
    __tsan_read8: READ | arg(8);
    __tsan_read16: READ | arg(16);
    __tsan_write1: WRITE | arg(1);
    __tsan_write2: WRITE | arg(2);
    __tsan_write4: WRITE | arg(4);
    __tsan_write8: WRITE | arg(8);
    __tsan_write16: WRITE | arg(16);
    __tsan_volatile_read1: READ | arg(1 | VOLATILE);
    __tsan_volatile_read2: READ | arg(2 | VOLATILE);
    __tsan_volatile_read4: READ | arg(4 | VOLATILE);
    __tsan_volatile_read8: READ | arg(8 | VOLATILE);
    __tsan_volatile_read16: READ | arg(16 | VOLATILE);
    __tsan_volatile_write1: WRITE | arg(1 | VOLATILE);
    __tsan_volatile_write2: WRITE | arg(2 | VOLATILE);
    __tsan_volatile_write4: WRITE | arg(4 | VOLATILE);
    __tsan_volatile_write8: WRITE | arg(8 | VOLATILE);
    __tsan_volatile_write16: WRITE | arg(16 | VOLATILE);
    __tsan_vptr_read: READ | arg(8);
}

/// Destructors write again what is there, which changes nothing: that is a read.
#[cfg_attr(anyorder_image, unsafe(no_mangle))]
#[unsafe(naked)]
unsafe extern "C" fn __tsan_vptr_update(_address: usize, _new: usize) {
    naked_asm!(
        "cmp qword ptr [rdi], rsi",
        "mov rsi, {write}",
        "mov rax, {read}",
        "cmove rsi, rax",
        "jmp {access}",
        write = const VPTR_WRITE | arg(8),
        read = const READ | arg(8),
        access = sym anyorder_access,
    )
}

/// As `accesses`, where an access may lie in two granules: then it is written as a rare one.
macro_rules! unaligned_accesses {
    ($($name:ident: $size:literal, $kind:expr;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name(_address: usize) {
            naked_asm!(
                "mov rsi, {kind}",
                "lea rax, [rdi + {size} - 1]",
                "xor rax, rdi",
                "shr rax, {granule_shift}",
                "jne 2f",
                "jmp {access}",
                "2:",
                "mov rdx, qword ptr [rsp]",
                "jmp {across}",
                kind = const $kind,
                size = const $size,
                granule_shift = const GRANULE_SHIFT,
                access = sym anyorder_access,
                across = sym across_granules,
            )
        }
    )*};
}

unaligned_accesses! {
    __tsan_unaligned_read2: 2, READ | arg(2);
    __tsan_unaligned_read4: 4, READ | arg(4);
    __tsan_unaligned_read8: 8, READ | arg(8);
    __tsan_unaligned_read16: 16, READ | arg(16);
    __tsan_unaligned_write2: 2, WRITE | arg(2);
    __tsan_unaligned_write4: 4, WRITE | arg(4);
    __tsan_unaligned_write8: 8, WRITE | arg(8);
    __tsan_unaligned_write16: 16, WRITE | arg(16);
    __tsan_unaligned_volatile_read2: 2, READ | arg(2 | VOLATILE);
    __tsan_unaligned_volatile_read4: 4, READ | arg(4 | VOLATILE);
    __tsan_unaligned_volatile_read8: 8, READ | arg(8 | VOLATILE);
    __tsan_unaligned_volatile_read16: 16, READ | arg(16 | VOLATILE);
    __tsan_unaligned_volatile_write2: 2, WRITE | arg(2 | VOLATILE);
    __tsan_unaligned_volatile_write4: 4, WRITE | arg(4 | VOLATILE);
    __tsan_unaligned_volatile_write8: 8, WRITE | arg(8 | VOLATILE);
    __tsan_unaligned_volatile_write16: 16, WRITE | arg(16 | VOLATILE);
}

extern "C" fn across_granules(address: usize, first: u64, place: usize) {
    // SAFETY: the block is this thread's.
    if unsafe { (*block()).ignored } == 0 {
        note(first, address, place);
    }
}

/// Functions that stand for a read and a write at one place.
macro_rules! double_accesses {
    ($($name:ident: $size:literal;)*) => {
        export! {$(
            1 fn $name(address: usize), |place| {
                note(READ | arg($size), address, place);
                note(WRITE | arg($size), address, place);
            }
        )*}
    };
}

double_accesses! {
    __tsan_read_write1: 1;
    __tsan_read_write2: 2;
    __tsan_read_write4: 4;
    __tsan_read_write8: 8;
    __tsan_read_write16: 16;
    __tsan_unaligned_read_write2: 2;
    __tsan_unaligned_read_write4: 4;
    __tsan_unaligned_read_write8: 8;
    __tsan_unaligned_read_write16: 16;
}

/// Functions that are given their place.
macro_rules! placed_accesses {
    ($($name:ident: $kind:expr;)*) => {$(
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        extern "C" fn $name(address: usize, place: usize) {
            note($kind, address, place);
        }
    )*};
}

placed_accesses! {
    __tsan_read1_pc: READ | arg(1);
    __tsan_read2_pc: READ | arg(2);
    __tsan_read4_pc: READ | arg(4);
    __tsan_read8_pc: READ | arg(8);
    __tsan_read16_pc: READ | arg(16);
    __tsan_write1_pc: WRITE | arg(1);
    __tsan_write2_pc: WRITE | arg(2);
    __tsan_write4_pc: WRITE | arg(4);
    __tsan_write8_pc: WRITE | arg(8);
    __tsan_write16_pc: WRITE | arg(16);
}

/// Writes the access to a range of bytes, unless accesses are ignored or it is empty.
#[inline(always)]
pub(crate) fn range(kind: u64, address: usize, size: usize, place: usize) {
    // SAFETY: the block is this thread's.
    if size > 0 && unsafe { (*block()).ignored } == 0 {
        note_sized(kind, address, place, size as u64);
    }
}

export! {
    2 fn __tsan_read_range(address: usize, size: usize), |place| {
        range(READ_RANGE, address, size, place);
    }

    2 fn __tsan_write_range(address: usize, size: usize), |place| {
        range(WRITE_RANGE, address, size, place);
    }
}

#[cfg_attr(anyorder_image, unsafe(no_mangle))]
extern "C" fn __tsan_read_range_pc(address: usize, size: usize, place: usize) {
    range(READ_RANGE, address, size, place);
}

#[cfg_attr(anyorder_image, unsafe(no_mangle))]
extern "C" fn __tsan_write_range_pc(address: usize, size: usize, place: usize) {
    range(WRITE_RANGE, address, size, place);
}

/// Accesses that a program asks for at addresses of any alignment.
macro_rules! unaligned {
    ($($load:ident $store:ident: $int:ty;)*) => {
        export! {$(
            1 fn $load(address: *const $int) -> $int, |place| {
                range(READ_RANGE, address as usize, size_of::<$int>(), place);
                // SAFETY: the program reads it.
                unsafe { address.read_unaligned() }
            }

            2 fn $store(address: *mut $int, value: $int), |place| {
                range(WRITE_RANGE, address as usize, size_of::<$int>(), place);
                // SAFETY: the program writes it.
                unsafe { address.write_unaligned(value) }
            }
        )*}
    };
}

unaligned! {
    __sanitizer_unaligned_load16 __sanitizer_unaligned_store16: u16;
    __sanitizer_unaligned_load32 __sanitizer_unaligned_store32: u32;
    __sanitizer_unaligned_load64 __sanitizer_unaligned_store64: u64;
}
