//! Traces changed in one place. Certificates about the trace as it was are then about another one.

use super::one_of;
use anyorder_common::random::{Random, Rng};

/// Words that can stand for one another in the text of a trace.
const ALIKE: [&[&str]; 9] = [
    &["none", "fifo", "bag", "delayed"],
    &[
        "acquire",
        "acquire.shared",
        "acquire.try",
        "acquire.try_shared",
        "refused.try",
        "refused.try_shared",
    ],
    &["release", "release.shared"],
    &["signal", "broadcast"],
    &["wake", "wake.timeout", "wait"],
    &["enable", "disable", "trigger"],
    &[
        "read",
        "read.acquire",
        "read.relaxed",
        "write",
        "write.release",
        "rmw.acq_rel",
        "rmw.relaxed",
        "free",
        "alloc",
    ],
    &["plain", "ui", "focus", "idle"],
    &["begin", "attach h0", "fork h1", "join h0", "loop h0", "barrier c0", "exit"],
];

/// Returns a trace with one change. It may not be well-formed.
pub(crate) fn changed(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let is_event = |line: &String| {
        line.strip_prefix('t').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let of = |wanted: &dyn Fn(&String) -> bool| -> Vec<usize> {
        (0..lines.len()).filter(|at| wanted(&lines[*at])).collect()
    };
    let events = of(&is_event);
    let tasks = of(&|line: &String| line.starts_with("task ") && line.contains(" posted "));
    if events.is_empty() {
        return text.to_owned();
    }
    let at = *one_of(rng, &events);
    match rng.below(10) {
        0 | 1 => {
            let later = events.iter().copied().find(|other| *other > at).unwrap_or(at);
            lines.swap(at, later);
        }
        2 => drop(lines.remove(at)),
        3 if !tasks.is_empty() => {
            let at = *one_of(rng, &tasks);
            let line = lines[at].split(" delay=").next().unwrap_or_default().to_owned();
            let line = line.trim_end_matches(" front");
            lines[at] = match rng.below(4) {
                0 => line.to_owned(),
                1 => format!("{line} front"),
                _ => format!("{line} delay={}", 1 + rng.below(100)),
            };
        }
        4 => {
            let (from, to) = (rng.below(3), rng.below(3));
            for kind in ["x", "l", "c", "h", "i"] {
                let (from, to) = (format!(" {kind}{from}"), format!(" {kind}{to}"));
                if let Some(line) = lines[at].strip_suffix(&from) {
                    lines[at] = line.to_owned() + &to;
                    break;
                }
            }
        }
        5 => {
            let other = *one_of(rng, &events);
            lines[at] +=
                &format!(" refers={}", events.iter().position(|e| *e == other).unwrap_or(0));
        }
        6 => lines.insert(1, "meta labels=position order=partial".to_owned()),
        _ => replace_word(&mut lines, rng),
    }
    lines.join("\n") + "\n"
}

/// Replaces a word by one that is alike.
fn replace_word(lines: &mut [String], rng: &mut Rng) {
    let words = one_of(rng, &ALIKE);
    let has = |line: &String| {
        let found = line.split(' ').any(|word| words.contains(&word));
        found && !line.starts_with("name") && !line.starts_with("location")
    };
    let fits: Vec<usize> = (0..lines.len()).filter(|at| has(&lines[*at])).collect();
    if fits.is_empty() {
        return;
    }
    let at = *one_of(rng, &fits);
    let new = *one_of(rng, words);
    let changed = lines[at].split(' ').map(|word| if words.contains(&word) { new } else { word });
    lines[at] = changed.collect::<Vec<&str>>().join(" ");
}
