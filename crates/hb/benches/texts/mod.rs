//! Inputs that are texts: messages for the check of consistency, and models.

use std::fmt::Write as _;

/// A family of texts, and the command that reads it.
pub(crate) struct Text {
    /// The thing that grows.
    pub(crate) name: &'static str,
    /// Makes the text with `n` of it.
    pub(crate) make: fn(u32) -> String,
    /// The words of the command.
    pub(crate) command: &'static [&'static str],
    /// A size that takes a small part of a second.
    pub(crate) start: u32,
}

/// All families of texts.
pub(crate) const TEXTS: [Text; 6] = [
    Text { name: "messages in a chain", make: chain, command: &["consistency"], start: 2_000 },
    Text { name: "messages side by side", make: flat, command: &["consistency"], start: 2_000 },
    Text { name: "writes of one location", make: writes, command: &["consistency"], start: 2_000 },
    Text { name: "reads of one location", make: reads, command: &["consistency"], start: 2_000 },
    Text {
        name: "writes without a coherence order",
        make: unordered_writes,
        command: &["consistency", "--infer-co"],
        start: 2_000,
    },
    Text { name: "constants of a model", make: constants, command: &["check"], start: 5_000 },
];

/// Each message posts the next one, and reads what the one before it wrote.
fn chain(n: u32) -> String {
    let mut text = String::from("edtrace 1\np0 user - post m0\n");
    for i in 0..n {
        let _ = writeln!(text, "g{i} ui m{i} get\nw{i} ui m{i} w x{i}");
        if i > 0 {
            let _ = writeln!(text, "r{i} ui m{i} r x{} w{}", i - 1, i - 1);
        }
        if i + 1 < n {
            let _ = writeln!(text, "p{} ui m{i} post m{}", i + 1, i + 1);
        }
    }
    text
}

/// One message posts all others, of which each has a variable of its own.
fn flat(n: u32) -> String {
    let mut text = String::from("edtrace 1\n");
    for i in 0..n {
        let _ = writeln!(text, "p{i} user - post m{i}");
    }
    for i in 0..n {
        let _ = writeln!(text, "g{i} ui m{i} get\nw{i} ui m{i} w x{i}");
    }
    text
}

/// Messages of two handlers that write one variable.
fn write_lines(n: u32) -> String {
    let mut text = String::from("edtrace 1\n");
    for i in 0..n {
        let _ = writeln!(text, "p{i} user{} - post m{i}", i % 2);
    }
    for i in 0..n {
        let _ = writeln!(text, "g{i} ui{} m{i} get\nw{i} ui{} m{i} w x", i % 2, i % 2);
    }
    text
}

fn writes(n: u32) -> String {
    let mut text = write_lines(n);
    text.push_str("co x");
    for i in 0..n {
        let _ = write!(text, " w{i}");
    }
    text.push('\n');
    text
}

/// Each message reads what another one wrote; the order of the writes is open.
fn unordered_writes(n: u32) -> String {
    let mut text = write_lines(n);
    for i in 1..n {
        let _ = writeln!(text, "r{i} ui{} m{i} r x w{i}", i % 2);
    }
    text
}

/// One message writes a variable that all others read.
fn reads(n: u32) -> String {
    let mut text = String::from("edtrace 1\nw user - w x\n");
    for i in 0..n {
        let _ = writeln!(text, "p{i} user - post m{i}");
    }
    for i in 0..n {
        let _ = writeln!(text, "g{i} ui{} m{i} get\nr{i} ui{} m{i} r x w", i % 2, i % 2);
    }
    text
}

/// Each constant is the one before it and one.
fn constants(n: u32) -> String {
    let mut text = String::from("model constants\n\nconst C0 = 0;\n");
    for i in 1..n {
        let _ = writeln!(text, "const C{i} = C{} + 1;", i - 1);
    }
    let _ = writeln!(text, "var v = 0;\nevent e {{ v = C{}; }}", n - 1);
    text
}
