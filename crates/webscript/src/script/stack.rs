//! Stack for the parser, which calls itself for each level of nesting.
//!
//! **Guarantee.** No text overflows the stack. A level of nesting needs at least one token of
//! syntax, so the number of such tokens bounds the depth. Brackets cost most: between two of them
//! the parser goes through the levels of all operators. The bound is far above the real depth. Only
//! address space is taken for it; pages that are not touched cost nothing.

use super::SyntaxError;

/// Bytes of stack for a bracket or a word that begins a nested statement, and for an operator.
/// Measured: see the test `nesting_of_every_kind` with `ANYORDER_EFFORT`; without optimisation
/// frames are several times as large.
const BRACKET_BYTES: u64 = if cfg!(debug_assertions) { 40_000 } else { 6_000 };
const OPERATOR_BYTES: u64 = if cfg!(debug_assertions) { 16_000 } else { 3_000 };

/// What always fits into the stack of the caller.
const HERE_BYTES: u64 = 256 << 10;

/// More address space than this is not asked for. It is enough for a minified text of 1.7 MB
/// without optimisation, and for one of 8 MB with it.
const BYTES_MAX: u64 = if cfg!(debug_assertions) { 8 << 30 } else { 6 << 30 };

/// Returns the bytes of stack that parsing a text can need.
fn bound(text: &str) -> u64 {
    let mut bytes = 0;
    let mut word = 0;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80 {
            word += 1;
            continue;
        }
        // `do`, `new`, `else`, `yield`, `await`, `typeof`, `instanceof` and the like nest without
        // brackets. So does any other word at most once, and then it needs a bracket or operator.
        if (2..=10).contains(&word) {
            bytes += OPERATOR_BYTES / 4;
        }
        word = 0;
        bytes += match byte {
            b'(' | b'[' | b'{' | b'`' => BRACKET_BYTES,
            b'.' | b'?' | b'=' | b'!' | b'~' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|'
            | b'^' | b'<' | b'>' | b':' | b',' => OPERATOR_BYTES,
            _ => 0,
        };
    }
    bytes
}

/// Calls a function with enough stack to parse a text.
///
/// # Errors
///
/// The text might need more than there is, or the system gives no such stack.
pub(super) fn with_enough<R: Send>(
    text: &str,
    function: impl FnOnce() -> R + Send,
) -> Result<R, SyntaxError> {
    let bytes = bound(text);
    if bytes <= HERE_BYTES {
        return Ok(function());
    }
    if bytes > BYTES_MAX {
        return Err(SyntaxError::Deep(bytes));
    }
    let size = usize::try_from(bytes + (1 << 20)).map_err(|_| SyntaxError::Deep(bytes))?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(size);
        let handle = thread.spawn_scoped(scope, function).map_err(|_| SyntaxError::Deep(bytes))?;
        match handle.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
