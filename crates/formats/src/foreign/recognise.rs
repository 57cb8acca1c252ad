//! How lines of other tools look.

use crate::detect::HEAD_BYTES;

/// Returns whether at least half of some lines, and two of them, look like those of a tool.
pub(super) fn most<'l>(
    lines: impl Iterator<Item = &'l str>,
    is_one: impl Fn(&str) -> bool,
) -> bool {
    let (mut all, mut found) = (0, 0);
    for line in lines {
        all += 1;
        found += usize::from(is_one(line));
    }
    2 * found >= all && found >= 2.min(all) && all > 0
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `bash-12 [001] d..1 104.25: sched_switch: prev=bash`.
pub(super) fn is_ftrace(line: &str) -> bool {
    let Some((task, rest)) = line.split_once('[') else { return false };
    let Some((cpu, rest)) = rest.split_once(']') else { return false };
    let pid = task.trim().rsplit_once('-').map(|(_, pid)| pid);
    let time = rest.split_whitespace().find_map(|word| word.strip_suffix(':'));
    let is_time = time
        .and_then(|time| time.split_once('.'))
        .is_some_and(|(a, b)| is_number(a) && is_number(b));
    pid.is_some_and(is_number) && is_number(cpu) && is_time
}

/// `[pid 12] 10:01:02 read(3, "", 9) = 0`, also unfinished and resumed calls.
pub(super) fn is_strace(line: &str) -> bool {
    let line = match line.strip_prefix("[pid").and_then(|rest| rest.split_once(']')) {
        Some((_, rest)) => rest.trim_start(),
        None => line,
    };
    let is_time =
        |word: &str| word.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte));
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit() || ":. ".contains(c));
    let before = &line[..line.len() - rest.len()];
    if !before.split_whitespace().all(is_time) {
        return false;
    }
    if rest.starts_with("<... ") || rest.starts_with("+++ exited") || rest.starts_with("--- SIG") {
        return true;
    }
    let Some((call, rest)) = rest.split_once('(') else { return false };
    let is_call = is_word(call) && !call.starts_with(|c: char| c.is_ascii_digit() || c == '_');
    let is_whole = rest.contains(") = ") || rest.contains(")  = ") || rest.contains(")   ");
    is_call && (is_whole || rest.ends_with("<unfinished ...>"))
}

/// `host {"host":1, "other":2}`: a clock has an entry for its own host.
pub(super) fn is_shiviz(line: &str) -> bool {
    let Some((host, clock)) = line.split_once(" {\"") else { return false };
    let Some(clock) = clock.strip_suffix('}') else { return false };
    let is_entry =
        |entry: &str| entry.rsplit_once("\":").is_some_and(|(_, count)| is_number(count.trim()));
    let own = format!("{host}\":");
    let has_own = clock.starts_with(&own) || clock.contains(&format!("\"{own}"));
    !host.is_empty() && !host.contains(' ') && has_own && clock.split(',').all(is_entry)
}

/// `M,7,8,12,-,L,t,main.go:10;C,9,0,13,...`.
pub(super) fn is_advocate(line: &str) -> bool {
    let is_element = |element: &str| {
        let fields: Vec<&str> = element.split(',').collect();
        let [kind, rest @ ..] = fields.as_slice() else { return false };
        let numbers = rest.iter().take_while(|field| is_number(field)).count();
        matches!(*kind, "M" | "C" | "S" | "W" | "G" | "A" | "D" | "O" | "N" | "X" | "E")
            && fields.len() >= 4
            && numbers >= 2
    };
    let mut elements = line.split(';').map(str::trim).filter(|element| !element.is_empty());
    elements.clone().next().is_some() && elements.all(is_element)
}

/// `Acq 1 l_0 0`.
pub(super) fn is_focs(line: &str) -> bool {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let known = ["Acq", "Rel", "Read", "Write", "Fork", "Join", "Begin", "End"];
    let [operation, thread, ..] = fields.as_slice() else { return false };
    fields.len() <= 4 && known.contains(operation) && is_number(thread)
}

/// Packets one after the other: the byte 10, a length, as many bytes.
pub(super) fn is_perfetto(head: &[u8]) -> bool {
    let is_text = !head.contains(&0);
    let mut rest = head;
    let mut packets = 0;
    while let Some((10, after)) = rest.split_first() {
        let mut length = 0_usize;
        let mut at = 0;
        loop {
            let Some(byte) = after.get(at).filter(|_| at < 5) else {
                return packets > 1 && !is_text;
            };
            length |= usize::from(byte & 127) << (7 * at);
            at += 1;
            if byte & 128 == 0 {
                break;
            }
        }
        packets += 1;
        match after.get(at + length..) {
            Some(next) => rest = next,
            // The last packet may go on behind the head.
            None => return !is_text && (packets > 2 || head.len() >= HEAD_BYTES),
        }
    }
    packets > 0 && rest.is_empty() && !is_text
}
