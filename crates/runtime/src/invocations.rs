//! Invocations of objects, as a program announces them by `anyorder.h`.

use crate::emit::{address, anyorder_emit, note_word, sync, sync_sized};
use crate::kind::{ARGUMENT, INVOKE, INVOKE_RETURN, METHOD, OBJECT, TEXT, arg};
use crate::{c, record};
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The most bytes of a name that are recorded.
const NAME_MAX: usize = 255;
/// The most arguments of an invocation.
const ARGUMENTS_MAX: usize = 8;

/// A method at one place of the program: `struct anyorder_method` of `anyorder.h`.
#[repr(C)]
struct Method {
    /// The process image that has numbered it, above 32 bits of the number.
    number: AtomicU64,
    type_name: *const c_char,
    name: *const c_char,
}

/// Which process image this is: a forked one has a recording of its own, without the definitions.
static IMAGE: AtomicU32 = AtomicU32::new(1);
/// The methods that have a number.
static METHODS: AtomicU32 = AtomicU32::new(0);

/// Lets the methods be defined anew, in the child of a fork.
pub(crate) fn begin_in_child() {
    IMAGE.fetch_add(1, Ordering::Relaxed);
}

/// Returns the number of a method. The first call writes its names.
fn number_of(method: &Method) -> u64 {
    const LOW: u64 = u32::MAX as u64;
    let image = u64::from(IMAGE.load(Ordering::Relaxed)) << 32;
    let known = method.number.load(Ordering::Relaxed);
    if known & !LOW == image || !record::is_on() {
        return known & LOW;
    }
    let number = u64::from(METHODS.fetch_add(1, Ordering::Relaxed)) + 1;
    let claimed = image | number;
    let claim =
        method.number.compare_exchange(known, claimed, Ordering::Relaxed, Ordering::Relaxed);
    match claim {
        // Its texts follow directly: no handler writes between them.
        Ok(_) => c::without_signals(|| define(method, number)),
        // Another thread defines it.
        Err(other) => return other & LOW,
    }
    number
}

/// Writes the names of a method: their lengths, and then the bytes, six in an event.
#[cold]
fn define(method: &Method, number: u64) {
    let (of_type, of_name) = (length(method.type_name), length(method.name));
    let lengths = of_type as u64 | (of_name as u64) << 32;
    // SAFETY: the sequence writes to this thread's chunk only, and looks whether there is one.
    unsafe { anyorder_emit(METHOD | number, 0, lengths, 3) };
    for (text, length) in [(method.type_name, of_type), (method.name, of_name)] {
        let mut at = 0;
        while at < length {
            let count = (length - at).min(6);
            let mut bytes = [0_u8; 8];
            for (offset, byte) in bytes.iter_mut().take(count).enumerate() {
                // SAFETY: the text has this many bytes before its zero byte.
                *byte = unsafe { text.add(at + offset).read() } as u8;
            }
            note_word(TEXT | arg(count as u64), usize::from_le_bytes(bytes));
            at += count;
        }
    }
}

/// Returns the length of a text, up to [`NAME_MAX`].
fn length(text: *const c_char) -> usize {
    let mut length = 0;
    // SAFETY: the program gives null, or a text that ends with a zero byte.
    while !text.is_null() && length < NAME_MAX && unsafe { text.add(length).read() } != 0 {
        length += 1;
    }
    length
}

export! {
    1 fn anyorder_object(object: usize), |place| {
        sync(OBJECT, object, place);
    }

    // The arguments come first: an invocation of a signal handler in between has its own.
    4 fn anyorder_invoke(method: *const Method, object: usize, count: usize, words: *const u64), |place| {
        // SAFETY: the program gives the address of a method that stays.
        let number = number_of(unsafe { &*method });
        let count = count.min(ARGUMENTS_MAX);
        for at in 0..count {
            // SAFETY: the program gives so many words, and the sequence writes to this thread's
            // chunk only.
            unsafe { anyorder_emit(ARGUMENT | address(at), 0, words.add(at).read(), 3) };
        }
        sync_sized(INVOKE | arg(count as u64), object, place, number);
    }

    3 fn anyorder_return(object: usize, is_some: c_int, result: u64), |place| {
        sync_sized(INVOKE_RETURN | arg(u64::from(is_some != 0)), object, place, result);
    }
}
