//! The grammar of one line: its three fields, its operation, its target.

use super::sites::source_position;
use crate::fault::Fault;
use anyorder_trace::{EventKind, Mode, Op};

/// The kind of operand in the parentheses of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    /// Memory that is accessed.
    Access,
    /// Memory that is allocated.
    Alloc,
    /// Memory that is freed.
    Free,
    /// A lock.
    Lock,
    /// A condition variable.
    Condition,
    /// A thread.
    Thread,
    /// Nothing; the reader ignores the text there.
    Nothing,
}

/// The operations and their events. The writer uses the first entry of an event.
const OPERATIONS: [(&str, Op, Target); 21] = {
    use EventKind as K;
    const fn plain(kind: EventKind) -> Op {
        Op::new(kind, Mode::PLAIN)
    }
    const fn atomic(kind: EventKind) -> Op {
        Op::new(kind, Mode::SEQ_CST)
    }
    [
        ("r", plain(K::Read), Target::Access),
        ("w", plain(K::Write), Target::Access),
        ("aload", atomic(K::Read), Target::Access),
        ("astore", atomic(K::Write), Target::Access),
        ("armw", atomic(K::Rmw), Target::Access),
        ("alloc", plain(K::Alloc), Target::Alloc),
        ("free", plain(K::Free), Target::Free),
        ("acq", plain(K::Acquire), Target::Lock),
        ("rel", plain(K::Release), Target::Lock),
        ("destroy", plain(K::Destroy), Target::Lock),
        ("fork", plain(K::Fork), Target::Thread),
        ("join", plain(K::Join), Target::Thread),
        ("begin", plain(K::Begin), Target::Nothing),
        ("end", plain(K::Exit), Target::Nothing),
        ("wait", plain(K::Wait), Target::Condition),
        ("wake", plain(K::Wake), Target::Condition),
        ("timeout", Op::new(K::Wake, Mode::TIMEOUT), Target::Condition),
        ("refused", plain(K::Refused), Target::Lock),
        ("req", plain(K::Request), Target::Lock),
        ("signal", plain(K::Signal), Target::Condition),
        ("broadcast", plain(K::Broadcast), Target::Condition),
    ]
};

/// Words of other recorders, and those of the operations.
const ALIASES: [(&str, &str); 4] =
    [("rd", "r"), ("wr", "w"), ("notify", "signal"), ("notifyAll", "broadcast")];

/// Returns the meaning of an operation; `None` for one that this version does not know.
pub(super) fn operation(word: &[u8]) -> Option<(Op, Target)> {
    let alias = ALIASES.iter().find(|(alias, _)| alias.as_bytes() == word);
    let word = alias.map_or(word, |(_, word)| word.as_bytes());
    OPERATIONS
        .iter()
        .find(|(known, _, _)| known.as_bytes() == word)
        .map(|(_, op, target)| (*op, *target))
}

/// Returns the word for exactly `op`.
pub(super) fn word(op: Op) -> Option<&'static str> {
    OPERATIONS.iter().find(|(_, known, _)| *known == op).map(|(word, _, _)| *word)
}

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts<'a> {
    pub(super) thread: &'a [u8],
    /// The operation with its parentheses, and its column.
    pub(super) text: &'a [u8],
    pub(super) text_column: usize,
    pub(super) word: &'a [u8],
    /// The text in the parentheses, if any.
    pub(super) target: Option<&'a [u8]>,
    pub(super) site: &'a [u8],
    pub(super) site_column: usize,
}

impl Parts<'_> {
    /// Returns the column of the target.
    pub(super) fn target_column(&self) -> usize {
        self.text_column + self.word.len() + usize::from(self.target.is_some())
    }
}

/// Parses a line. The thread ends at the first `|` and the site begins after the last one, so only
/// these two cannot contain that character.
pub(super) fn split(line: &[u8]) -> Result<Parts<'_>, Fault> {
    let Some(first) = memchr::memchr(b'|', line) else {
        return Err(Fault::new(line.len(), "expected `thread|operation|site`, found one field"));
    };
    if first == 0 {
        return Err(Fault::new(0, "expected the name of a thread before `|`"));
    }
    let text_column = first + 1;
    let Some(length) = memchr::memrchr(b'|', &line[text_column..]) else {
        return Err(Fault::new(line.len(), "expected `thread|operation|site`, found two fields"));
    };
    let text = &line[text_column..text_column + length];
    let site_column = text_column + length + 1;
    let (word, target) = match memchr::memchr(b'(', text) {
        None => (text, None),
        Some(open) => match text[open + 1..].split_last() {
            Some((b')', target)) => (&text[..open], Some(target)),
            _ => {
                return Err(Fault::new(
                    site_column - 1,
                    "expected `)` at the end of the operation",
                ));
            }
        },
    };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if word.is_empty() || !word.iter().all(is_word) {
        return Err(Fault::new(text_column, "expected an operation such as `r(x)` or `begin`"));
    }
    Ok(Parts {
        thread: &line[..first],
        text,
        text_column,
        word,
        target,
        site: &line[site_column..],
        site_column,
    })
}

/// Returns the position in a line of a call stack, which a recorder puts below an event: indented,
/// such as `    /src/race.c:38`. The last one below an event is the place in the user's program.
pub(super) fn frame(line: &[u8]) -> Option<&[u8]> {
    let frame = line.trim_ascii();
    let is_position = str::from_utf8(frame).is_ok_and(|text| source_position(text).is_some());
    (is_position && !frame.contains(&b'|')).then_some(frame)
}

/// A description of memory in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Memory<'a> {
    /// A name.
    Named(&'a [u8]),
    /// An address without size, `0x10`: a name, except for `free`.
    Address(u64),
    /// `0x10+8`.
    Range(u64, u64),
}

/// Classifies a description of memory. `column` is the start of `text`.
///
/// `0x`, hexadecimal digits and `+` begin a range, and its rest must then be valid. Everything else
/// is a name.
pub(super) fn memory(text: &[u8], column: usize) -> Result<Memory<'_>, Fault> {
    let Some(digits) = text.strip_prefix(b"0x") else {
        return Ok(Memory::Named(text));
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, rest) = digits.split_at(length);
    if length == 0 || !matches!(rest.first(), None | Some(b'+')) {
        return Ok(Memory::Named(text));
    }
    let address = str::from_utf8(digits).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    let Some(address) = address else {
        return Err(Fault::new(column, "expected an address of at most 64 bits"));
    };
    let Some(size) = rest.strip_prefix(b"+") else {
        return Ok(Memory::Address(address));
    };
    let size_column = column + 2 + length + 1;
    if size.is_empty() || !size.iter().all(u8::is_ascii_digit) {
        return Err(Fault::new(size_column, "expected a decimal size in bytes behind `+`"));
    }
    match str::from_utf8(size).ok().and_then(|text| text.parse().ok()) {
        Some(size) => Ok(Memory::Range(address, size)),
        None => Err(Fault::new(size_column, "expected a size of at most 64 bits")),
    }
}

/// Splits the site off a line from which the thread and its `|` were removed. It succeeds if the
/// site is a short number after an operation with a target: `r(x)|12` gives `r(x` and 12.
///
/// This function and those below are a fast path for common lines. [`split`] and [`memory`] handle
/// all lines that they reject, and both ways must agree.
#[inline]
pub(super) fn site_at_end(rest: &[u8]) -> Option<(&[u8], u32)> {
    let mut start = rest.len();
    while start > 0 && rest[start - 1].wrapping_sub(b'0') <= 9 {
        start -= 1;
    }
    let (body, digits) = rest.split_at(start);
    let body = body.strip_suffix(b")|")?;
    match short_decimal(digits) {
        Some((number, [])) => Some((body, number)),
        _ => None,
    }
}

/// The most common operations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Common {
    Access(EventKind),
    Lock(EventKind),
}

/// Splits a common operation off the result of [`site_at_end`]: `r(x` gives `x`.
#[inline]
pub(super) fn common_operation(body: &[u8]) -> Option<(Common, &[u8])> {
    match body {
        [b'r', b'(', target @ ..] => Some((Common::Access(EventKind::Read), target)),
        [b'w', b'(', target @ ..] => Some((Common::Access(EventKind::Write), target)),
        [b'a', b'c', b'q', b'(', target @ ..] => Some((Common::Lock(EventKind::Acquire), target)),
        [b'r', b'e', b'l', b'(', target @ ..] => Some((Common::Lock(EventKind::Release), target)),
        _ => None,
    }
}

/// Reads a complete target of the form `0x10+8` with a size that an access can have.
#[inline]
pub(super) fn common_range(target: &[u8]) -> Option<(u64, u32)> {
    let digits = target.strip_prefix(b"0x")?;
    let mut address = 0u64;
    let mut at = 0;
    loop {
        let byte = *digits.get(at)?;
        let digit = HEX[byte as usize];
        if digit > 15 {
            if byte != b'+' || at == 0 || at > 16 {
                return None;
            }
            break;
        }
        address = address << 4 | u64::from(digit);
        at += 1;
    }
    match short_decimal(&digits[at + 1..]) {
        Some((size, [])) if size > 0 => Some((address, size)),
        _ => None,
    }
}

/// Reads up to nine decimal digits without leading zeros, and returns the rest of the text.
#[inline]
pub(super) fn short_decimal(text: &[u8]) -> Option<(u32, &[u8])> {
    let mut number = 0u32;
    let mut at = 0;
    while let Some(digit) = text.get(at).map(|byte| byte.wrapping_sub(b'0')) {
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u32::from(digit));
        at += 1;
    }
    if at == 0 || at > 9 || (text[0] == b'0' && at > 1) {
        return None;
    }
    Some((number, &text[at..]))
}

/// The value of each byte as a hexadecimal digit; 255 for other bytes.
const HEX: [u8; 256] = {
    let mut table = [255; 256];
    let mut digit = 0;
    while digit < 16 {
        table[b"0123456789abcdef"[digit] as usize] = digit as u8;
        table[b"0123456789ABCDEF"[digit] as usize] = digit as u8;
        digit += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_way_agrees_with_the_long_one() {
        let mut ranges = 0;
        let mut named = 0;
        for op in ["r(", "w(", "acq(", "rel(", "x(", "r", "rel", "r(("] {
            for address in
                ["0x", "0x1F", "0xffffffffffffffff", "0x1ffffffffffffffff", "y", "y)|", ""]
            {
                for size in ["+", "+0", "+8", "+08", "+4294967296", ""] {
                    for tail in [")|", ")|7", ")|07", ")|12345678901", ")|7|8", ")|x", "|7", ")|7)"]
                    {
                        let rest = format!("{op}{address}{size}{tail}");
                        let line = format!("T|{rest}");
                        let Some((body, site)) = site_at_end(rest.as_bytes()) else { continue };
                        let Some((common, target)) = common_operation(body) else { continue };
                        let parts = split(line.as_bytes()).unwrap();
                        let (known, _) = operation(parts.word).unwrap();
                        let (Common::Access(kind) | Common::Lock(kind)) = common;
                        assert_eq!(known, Op::new(kind, Mode::PLAIN), "{line}");
                        assert_eq!(parts.target, Some(target), "{line}");
                        assert_eq!(parts.site, site.to_string().as_bytes(), "{line}");
                        if let Some((address, size)) = common_range(target) {
                            let range = Memory::Range(address, u64::from(size));
                            assert_eq!(memory(target, 0), Ok(range), "{line}");
                            ranges += 1;
                        } else {
                            named += 1;
                        }
                    }
                }
            }
        }
        assert_eq!(ranges, 4 * 2);
        assert!(named > 100);
    }

    #[test]
    fn bars_may_stand_in_targets() {
        let parts = split(b"T|r(a|b(c)d)|5").unwrap();
        assert_eq!(parts.thread, b"T");
        assert_eq!(parts.target, Some(&b"a|b(c)d"[..]));
        assert_eq!(parts.target_column(), 4);
        assert_eq!((parts.site, parts.site_column), (&b"5"[..], 13));
    }

    #[test]
    fn every_operation_is_written_as_it_is_read() {
        for (text, op, target) in OPERATIONS {
            assert_eq!(operation(text.as_bytes()), Some((op, target)));
            assert_eq!(word(op), Some(text));
        }
    }
}
