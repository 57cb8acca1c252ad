//! Streams of the C library. A stream has a lock of its own, which orders nothing that a program
//! may rely on; what matters is its descriptor, which is closed with it, and the memory that goes
//! in and out.

use super::descriptors::{FILE, channel, closing, opened, used};
use crate::hooks::accesses::range;
use crate::kind::{READ_RANGE, WRITE_RANGE};
use crate::{c, record};
use core::ffi::{c_char, c_int, c_void};

type Stream = *mut c_void;

/// Returns the descriptor of a stream, or -1.
fn descriptor_of(stream: Stream) -> c_int {
    if stream.is_null() {
        return -1;
    }
    // SAFETY: the program uses it as a stream.
    c::with_errno_kept(|| unsafe { real!(fileno(Stream) -> c_int)(stream) })
}

/// Notes the use of the descriptor behind a stream.
fn uses(stream: Stream, place: usize) {
    if record::is_on() {
        used(descriptor_of(stream), place);
    }
}

fn opens(stream: Stream, channel: u32, place: usize) {
    if record::is_on() {
        opened(descriptor_of(stream), channel, place);
    }
}

fn closes(stream: Stream, place: usize) {
    if record::is_on() {
        closing(descriptor_of(stream), place);
    }
}

/// Notes that a call reads a string.
fn reads_string(string: *const c_char, place: usize) {
    if record::is_on() && !string.is_null() {
        // SAFETY: the program passes it as a string.
        let length = unsafe { real!(strlen(*const c_char) -> usize)(string) };
        range(READ_RANGE, string as usize, length + 1, place);
    }
}

/// Notes that a call has written a string.
fn wrote_string(string: *mut c_char, place: usize) {
    if record::is_on() && !string.is_null() {
        // SAFETY: the call has written it.
        let length = unsafe { real!(strlen(*const c_char) -> usize)(string) };
        range(WRITE_RANGE, string as usize, length + 1, place);
    }
}

/// Functions that only use a stream, which is the argument after `$before`.
macro_rules! uses {
    ($($count:tt fn $name:ident($($before:ident: $before_ty:ty,)* ; $($after:ident: $after_ty:ty),*) -> $ret:ty;)*) => {
        interpose! {$(
            $count fn $name($($before: $before_ty,)* stream: Stream $(, $after: $after_ty)*) -> $ret, |place, real| {
                uses(stream, place);
                // SAFETY: as the program calls it.
                unsafe { real($($before,)* stream $(, $after)*) }
            }
        )*}
    };
}

uses! {
    1 fn fflush(;) -> c_int;
    1 fn fgetc(;) -> c_int;
    1 fn getc(;) -> c_int;
    1 fn _IO_getc(;) -> c_int;
    2 fn fputc(byte: c_int,;) -> c_int;
    2 fn putc(byte: c_int,;) -> c_int;
    2 fn _IO_putc(byte: c_int,;) -> c_int;
    2 fn ungetc(byte: c_int,;) -> c_int;
    3 fn fseek(; offset: i64, whence: c_int) -> c_int;
    3 fn fseeko(; offset: i64, whence: c_int) -> c_int;
    1 fn ftell(;) -> i64;
    1 fn ftello(;) -> i64;
}

interpose! {
    2 fn fopen(path: *const c_char, mode: *const c_char) -> Stream, |place, real| {
        reads_string(path, place);
        // SAFETY: as the program calls it.
        let stream = unsafe { real(path, mode) };
        opens(stream, FILE, place);
        stream
    }

    2 fn fopen64(path: *const c_char, mode: *const c_char) -> Stream, |place, real| {
        reads_string(path, place);
        // SAFETY: as the program calls it.
        let stream = unsafe { real(path, mode) };
        opens(stream, FILE, place);
        stream
    }

    3 fn freopen(path: *const c_char, mode: *const c_char, stream: Stream) -> Stream, |place, real| {
        closes(stream, place);
        // SAFETY: as the program calls it.
        let stream = unsafe { real(path, mode, stream) };
        opens(stream, FILE, place);
        stream
    }

    2 fn popen(command: *const c_char, mode: *const c_char) -> Stream, |place, real| {
        // SAFETY: as the program calls it.
        let stream = unsafe { real(command, mode) };
        opens(stream, channel(), place);
        stream
    }

    0 fn tmpfile() -> Stream, |place, real| {
        // SAFETY: it has no argument.
        let stream = unsafe { real() };
        opens(stream, FILE, place);
        stream
    }

    // The descriptor is the stream's from now on.
    2 fn fdopen(descriptor: c_int, mode: *const c_char) -> Stream, |place, real| {
        used(descriptor, place);
        // SAFETY: as the program calls it.
        unsafe { real(descriptor, mode) }
    }

    1 fn fclose(stream: Stream) -> c_int, |place, real| {
        closes(stream, place);
        // SAFETY: as the program calls it.
        unsafe { real(stream) }
    }

    1 fn pclose(stream: Stream) -> c_int, |place, real| {
        closes(stream, place);
        // SAFETY: as the program calls it.
        unsafe { real(stream) }
    }

    4 fn fread(buffer: *mut c_void, size: usize, count: usize, stream: Stream) -> usize, |place, real| {
        uses(stream, place);
        // SAFETY: as the program calls it.
        let read = unsafe { real(buffer, size, count, stream) };
        range(WRITE_RANGE, buffer as usize, read.wrapping_mul(size), place);
        read
    }

    4 fn fwrite(buffer: *const c_void, size: usize, count: usize, stream: Stream) -> usize, |place, real| {
        uses(stream, place);
        range(READ_RANGE, buffer as usize, count.wrapping_mul(size), place);
        // SAFETY: as the program calls it.
        unsafe { real(buffer, size, count, stream) }
    }

    3 fn fgets(buffer: *mut c_char, size: c_int, stream: Stream) -> *mut c_char, |place, real| {
        uses(stream, place);
        // SAFETY: as the program calls it.
        let line = unsafe { real(buffer, size, stream) };
        wrote_string(line, place);
        line
    }

    2 fn fputs(string: *const c_char, stream: Stream) -> c_int, |place, real| {
        uses(stream, place);
        reads_string(string, place);
        // SAFETY: as the program calls it.
        unsafe { real(string, stream) }
    }

    1 fn puts(string: *const c_char) -> c_int, |place, real| {
        reads_string(string, place);
        // SAFETY: as the program calls it.
        unsafe { real(string) }
    }

    3 fn getline(line: *mut *mut c_char, size: *mut usize, stream: Stream) -> isize, |place, real| {
        uses(stream, place);
        // SAFETY: as the program calls it.
        let length = unsafe { real(line, size, stream) };
        got_line(line, length, place);
        length
    }

    4 fn getdelim(line: *mut *mut c_char, size: *mut usize, end: c_int, stream: Stream) -> isize, |place, real| {
        uses(stream, place);
        // SAFETY: as the program calls it.
        let length = unsafe { real(line, size, end, stream) };
        got_line(line, length, place);
        length
    }

    // A list of arguments that the caller has made is passed as a pointer.
    3 fn vfprintf(stream: Stream, format: *const c_char, arguments: *mut c_void) -> c_int, |place, real| {
        uses(stream, place);
        // SAFETY: as the program calls it.
        unsafe { real(stream, format, arguments) }
    }
}

fn got_line(line: *mut *mut c_char, length: isize, place: usize) {
    if length >= 0 && record::is_on() {
        // SAFETY: the call has written the line, and a zero byte behind it.
        range(WRITE_RANGE, unsafe { *line } as usize, length as usize + 1, place);
    }
}

/// Notes the use of a stream, and returns the function to go on with.
macro_rules! printers {
    ($($name:ident = $find:ident;)*) => {$(
        extern "C" fn $find(stream: Stream, place: usize) -> usize {
            uses(stream, place);
            real!($name() -> c_int) as *const () as usize
        }

        /// The arguments stay where they are: how many there are, only the format tells.
        #[cfg_attr(anyorder_image, unsafe(no_mangle))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                // 6 registers of arguments, the number of those for floating point, those, and the
                // return address: the stack stays aligned.
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "push rax",
                "sub rsp, 128",
                "movups [rsp], xmm0",
                "movups [rsp + 16], xmm1",
                "movups [rsp + 32], xmm2",
                "movups [rsp + 48], xmm3",
                "movups [rsp + 64], xmm4",
                "movups [rsp + 80], xmm5",
                "movups [rsp + 96], xmm6",
                "movups [rsp + 112], xmm7",
                "mov rsi, [rsp + 184]",
                "call {}",
                "mov r11, rax",
                "movups xmm0, [rsp]",
                "movups xmm1, [rsp + 16]",
                "movups xmm2, [rsp + 32]",
                "movups xmm3, [rsp + 48]",
                "movups xmm4, [rsp + 64]",
                "movups xmm5, [rsp + 80]",
                "movups xmm6, [rsp + 96]",
                "movups xmm7, [rsp + 112]",
                "add rsp, 128",
                "pop rax",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "jmp r11",
                sym $find,
            )
        }
    )*};
}

printers! {
    fprintf = find_fprintf;
    __fprintf_chk = find_fprintf_chk;
    fscanf = find_fscanf;
    __isoc99_fscanf = find_isoc99_fscanf;
}
