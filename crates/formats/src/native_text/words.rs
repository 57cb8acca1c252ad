//! The words and letters that the reader and the writer share.

use anyorder_trace::{EventKind, Mode, OperandKind, Tables};

/// The name of the format in errors.
pub(super) const FORMAT: &str = "native text";

/// How the first line begins.
pub(super) const MAGIC: &str = "anyorder-trace";

/// The version that follows it.
pub(super) const VERSION: u64 = 1;

/// Longer names get a line of their own, and events refer to them by id.
pub(super) const INLINE_NAME_BYTES_MAX: usize = 200;

/// A longer string continues in `more` lines. Escapes make it at most ten times as long.
pub(super) const STRING_BYTES_MAX: usize = 1 << 16;

/// A longer list continues in `more` lines. Each item takes at most 21 bytes.
pub(super) const LIST_ITEMS_MAX: usize = 1 << 14;

/// The words of modes 1 and up of accesses.
const ACCESS_MODES: [&str; 5] = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"];

/// The words of modes 1 and up of acquires and releases.
const LOCK_MODES: [&str; 3] = ["shared", "try", "try_shared"];

/// The word of mode 1 of a failed attempt, and of a request.
const REFUSED_MODES: [&str; 1] = ["shared"];

/// The word of mode 1 of the end of a wait.
const WAKE_MODES: [&str; 1] = ["timeout"];

/// The words of modes without a meaning, by number.
const NUMBERED_MODES: [&str; 8] =
    ["mode0", "mode1", "mode2", "mode3", "mode4", "mode5", "mode6", "mode7"];

const fn mode_words(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::Read | EventKind::Write | EventKind::Rmw => &ACCESS_MODES,
        EventKind::Acquire | EventKind::Release => &LOCK_MODES,
        EventKind::Refused | EventKind::Request => &REFUSED_MODES,
        EventKind::Wake => &WAKE_MODES,
        _ => &[],
    }
}

/// Returns the word for a mode; `None` for mode 0, which is not written.
pub(super) fn mode_word(kind: EventKind, mode: Mode) -> Option<&'static str> {
    let number = usize::from(mode.bits());
    let word = mode_words(kind).get(number.checked_sub(1)?);
    Some(word.copied().unwrap_or(NUMBERED_MODES[number]))
}

/// Returns the mode of a word.
pub(super) fn mode(kind: EventKind, word: &[u8]) -> Option<Mode> {
    let find = |words: &[&str]| words.iter().position(|known| known.as_bytes() == word);
    let number = match find(mode_words(kind)) {
        Some(index) => index + 1,
        None => find(&NUMBERED_MODES)?,
    };
    Some(Mode::from_bits(number as u8))
}

/// Returns the letter of the ids of a table.
pub(super) const fn letter(operand: OperandKind) -> u8 {
    match operand {
        OperandKind::Location => b'x',
        OperandKind::Task => b't',
        OperandKind::Handler => b'h',
        OperandKind::Lock => b'l',
        OperandKind::Condition => b'c',
        OperandKind::Invocation => b'v',
        OperandKind::Input => b'i',
        OperandKind::Name => b'n',
        OperandKind::Nothing | OperandKind::Number => b'0',
    }
}

/// The letters of all tables with definitions, in an order in which entries refer to earlier ones.
pub(super) const LETTERS: [u8; 9] = *b"htxlciskv";

macro_rules! tables {
    ($($letter:literal $table:ident $word:literal $expected:literal,)*) => {
        /// Returns the number of entries of the table whose ids have this letter.
        #[inline]
        pub(super) fn length(tables: &Tables, letter: u8) -> usize {
            match letter {
                $($letter => tables.$table.len(),)*
                _ => tables.names.len(),
            }
        }

        /// Returns the word that begins a definition.
        pub(super) const fn keyword(letter: u8) -> &'static str {
            match letter {
                $($letter => $word,)*
                _ => "name",
            }
        }

        /// Returns the text for errors that expect an id of a table.
        pub(super) const fn expected_id(letter: u8) -> &'static str {
            match letter {
                $($letter => $expected,)*
                _ => "expected a name: a string in quotes, or an id such as `n1`",
            }
        }
    };
}

tables! {
    b'h' handlers "handler" "expected a handler, such as `h0`",
    b't' tasks "task" "expected a task, such as `t0`",
    b'x' locations "location" "expected a location, such as `x0`",
    b'l' locks "lock" "expected a lock, such as `l0`",
    b'c' conditions "condition" "expected a condition, such as `c0`",
    b'i' inputs "input" "expected an input, such as `i0`",
    b's' sites "site" "expected a site, such as `s1`",
    b'k' stacks "stack" "expected a stack, such as `k0`",
    b'v' invocations "invocation" "expected an invocation, such as `v0`",
}
