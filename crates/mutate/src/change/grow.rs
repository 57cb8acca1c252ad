//! Mutations that make an input large, deep or hostile.

use crate::kind::Kind;
use anyorder_common::random::{Random as _, Rng};

/// Text that must not reach a terminal as it is, and text that readers may take apart wrongly.
pub(super) const HOSTILE: [&str; 14] = [
    "\u{202e}",
    "\u{2066}x\u{2069}",
    "\u{200b}",
    "\u{1b}[31m",
    "\u{1b}]0;title\u{7}",
    "\u{9b}2J",
    "\0",
    "\r",
    "\u{feff}",
    "\u{e0041}",
    "<script>alert(1)</script>",
    "]]>&amp;\"'`",
    "%s%n{0}${x}",
    "../../../etc/passwd",
];

/// Repeats a section many times, nests deeper, or inserts one very long line or much hostile text.
pub(super) fn change(rng: &mut Rng, kind: Kind, bytes: &mut Vec<u8>) {
    match rng.below(5) {
        0 => repeat(rng, bytes),
        1 => renamed(rng, bytes),
        2 => nested(rng, bytes),
        3 => {
            let word = rng.pick(kind.words());
            let line = word.repeat(1 << rng.below(14));
            insert(rng, bytes, line.as_bytes());
        }
        _ => {
            let text = rng.pick(&HOSTILE).repeat(1 << rng.below(8));
            insert(rng, bytes, text.as_bytes());
        }
    }
}

fn insert(rng: &mut Rng, bytes: &mut Vec<u8>, text: &[u8]) {
    let at = rng.index(bytes.len() + 1);
    bytes.splice(at..at, text.iter().copied());
}

/// Repeats a section of lines up to 1,000 times.
fn repeat(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let from = rng.index(lines.len());
    let to = (from + 1 + rng.index(10)).min(lines.len());
    let Some(section) = lines.get(from..to).map(<[&[u8]]>::concat) else { return };
    let times = rng.within(2, 1_000).min((super::BYTES_MAX / section.len().max(1)) as u64);
    let mut out = lines[..from].concat();
    for _ in 0..times {
        out.extend_from_slice(&section);
    }
    out.extend(lines[to..].concat());
    *bytes = out;
}

/// Repeats a section of lines, and gives the digits in each copy new values: so it declares new
/// tasks, locks and variables, and stays well-formed more often than an equal copy.
fn renamed(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let from = rng.index(lines.len());
    let to = (from + 1 + rng.index(10)).min(lines.len());
    let Some(section) = lines.get(from..to).map(<[&[u8]]>::concat) else { return };
    let mut out = lines[..to].concat();
    for copy in 1..rng.within(2, 1_000) {
        let mut at = 0;
        while at < section.len() {
            let digits = section[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                out.push(section[at]);
                at += 1;
                continue;
            }
            let text = String::from_utf8_lossy(&section[at..at + digits]);
            let number = text.parse::<u64>().unwrap_or(0).wrapping_add(copy);
            out.extend_from_slice(number.to_string().as_bytes());
            at += digits;
        }
        if out.len() > super::BYTES_MAX {
            break;
        }
    }
    out.extend(lines[to..].concat());
    *bytes = out;
}

/// Wraps a part of the input into many brackets or blocks, closed as often as opened.
fn nested(rng: &mut Rng, bytes: &mut Vec<u8>) {
    let (open, close) = rng.pick(&[
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("{\"a\":", "}"),
        ("!", ""),
        ("-", ""),
        ("if true { ", " }"),
        ("while true { ", " }"),
        ("/*", "*/"),
        ("<", ">"),
    ]);
    let depth = 1 << rng.below(14);
    let from = rng.index(bytes.len() + 1);
    let to = from + rng.index((bytes.len() - from).min(80) + 1);
    let mut out = bytes[..from].to_vec();
    out.extend_from_slice(open.repeat(depth).as_bytes());
    out.extend_from_slice(&bytes[from..to]);
    out.extend_from_slice(close.repeat(depth).as_bytes());
    out.extend_from_slice(&bytes[to..]);
    *bytes = out;
}
