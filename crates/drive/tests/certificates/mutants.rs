//! Certificates changed in one place.

use super::cases::Case;
use super::one_of;
use anyorder_common::random::{Random, Rng};
use serde_json::{Value, json};

/// Returns the text of a certificate with one change. It may hold all the same.
pub(crate) fn changed(case: &Case, rng: &mut Rng) -> String {
    match case.kind {
        "reordering" => changed_json(&case.text, rng),
        _ => changed_lines(&case.text, rng),
    }
}

fn changed_lines(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<Vec<String>> =
        text.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    if lines.is_empty() {
        return "@0\n".to_owned();
    }
    let at = rng.below(lines.len() as u64) as usize;
    let other = rng.below(lines.len() as u64) as usize;
    match rng.below(13) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines[at].clone()),
        2 => lines.swap(at, other),
        3 if at + 1 < lines.len() => lines.swap(at, at + 1),
        4 => {
            // A word of the same place in another line.
            let place = rng.below(lines[at].len() as u64) as usize;
            if let Some(word) = lines[other].get(place).cloned() {
                lines[at][place] = word;
            }
        }
        5 => {
            let place = rng.below(lines[at].len() as u64) as usize;
            lines[at][place] = near(&lines[at][place], rng);
        }
        6 => {
            const RULES: [&str; 12] = [
                "po",
                "post",
                "fifo",
                "lock",
                "fork",
                "loop",
                "no-pre-emption",
                "delayed-poster",
                "program",
                "reads-from",
                "coherence",
                "from-reads",
            ];
            let place = rng.below(lines[at].len() as u64) as usize;
            lines[at][place] = (*one_of(rng, &RULES)).to_owned();
        }
        7 => {
            const WORDS: [&str; 22] = [
                "00000000000000000000000001",
                "18446744073709551616",
                "0",
                "-1",
                "+1",
                "１",
                "99999999999999999999",
                "@0",
                "@99999",
                "#",
                "order",
                "lemma",
                "path",
                "rules",
                "threads",
                "mailbox",
                "initial",
                "",
                "[",
                "not",
                "end",
                "runs",
            ];
            let place = rng.below(lines[at].len() as u64) as usize;
            lines[at][place] = (*one_of(rng, &WORDS)).to_owned();
        }
        8 => lines.truncate(at),
        9 => {
            let moved = lines.remove(at);
            lines.insert(other.min(lines.len()), moved);
        }
        10 => {
            let last = lines.last().cloned().unwrap_or_default();
            lines.insert(other, last);
        }
        11 => {
            let more = lines[at].last().cloned().unwrap_or_default();
            lines[at].push(more);
        }
        _ => {
            let places = lines[at].len() as u64;
            let (a, b) = (rng.below(places) as usize, rng.below(places) as usize);
            lines[at].swap(a, b);
        }
    }
    lines.iter().map(|line| line.join(" ") + "\n").collect()
}

/// A number near that of a word, or the word changed.
fn near(word: &str, rng: &mut Rng) -> String {
    let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    let prefix = &word[..word.len() - digits.len()];
    match digits.parse::<u64>() {
        Ok(number) if rng.below(2) == 0 => format!("{prefix}{}", number + 1),
        Ok(number) => format!("{prefix}{}", number.saturating_sub(1)),
        Err(_) => format!("{word}x"),
    }
}

fn changed_json(text: &str, rng: &mut Rng) -> String {
    let mut value: Value = serde_json::from_str(text).expect("certificates are JSON");
    let steps = value["steps"].as_array().map_or(0, Vec::len) as u64;
    let (at, other) = (rng.below(steps) as usize, rng.below(steps) as usize);
    let choice = rng.below(27);
    if choice < 6
        && let Some(steps) = value["steps"].as_array_mut()
    {
        match choice {
            0 => drop(steps.remove(at)),
            1 => steps.insert(other, steps[at].clone()),
            2 | 3 => steps.swap(at, other),
            4 if at + 1 < steps.len() => steps.swap(at, at + 1),
            _ => steps.truncate(at),
        }
        // Half of them with the right number.
        if rng.below(2) == 0 {
            value["events"] = value["steps"].as_array().map_or(0, Vec::len).into();
        }
        return value.to_string();
    }
    match choice {
        6 => {
            value["form"] = (*one_of(rng, &["reversed", "last", "co_enabled", "overtakes"])).into()
        }
        7 => value["reorders"] = (*one_of(rng, &["threads", "tasks", "components"])).into(),
        8 => {
            let first = value["first"].take();
            value["first"] = value["second"].take();
            value["second"] = first;
        }
        9 => value["prefix"] = rng.below(12).into(),
        10 => value["events"] = json!(steps + 1 - rng.below(3)),
        11 => {
            const KEYS: [&str; 9] = [
                "reordering",
                "form",
                "first",
                "second",
                "reorders",
                "prefix",
                "events",
                "steps",
                "title",
            ];
            let object = value.as_object_mut().expect("an object");
            object.remove(*one_of(rng, &KEYS));
        }
        12 => value["more"] = json!(1),
        13 => value["steps"][at]["lane"] = json!("another"),
        15 => {
            const NO_VERSION: [&str; 5] = ["true", "0", "2", "\"1\"", "1.5"];
            let version = one_of(rng, &NO_VERSION);
            value["reordering"] = serde_json::from_str(version).expect("JSON");
        }
        16 => value["left_out"] = json!(rng.below(2)),
        17 => value["prefix"] = json!(-1),
        18 => value["events"] = json!(rng.below(2) == 0),
        19 => value["form"] = json!("other"),
        20 => value["reorders"] = json!("other"),
        21 => value["steps"][at]["more"] = json!("x"),
        22 => value["steps"][at]["event"] = json!(1),
        23 => value["title"] = json!(1),
        24 => {
            // A key that stands twice.
            return value.to_string().replacen('{', "{\"title\":\"\",", 1);
        }
        25 => return with_another_number(&value.to_string(), rng),
        14 => value["first"] = value["steps"][at]["event"].clone(),
        _ => {
            let label = near(value["steps"][at]["event"].as_str().unwrap_or_default(), rng);
            value["steps"][at] = json!({ "event": label });
        }
    }
    value.to_string()
}

/// The text of a reordering whose `prefix` is written in a way that is no number of a certificate,
/// or is another value.
fn with_another_number(text: &str, rng: &mut Rng) -> String {
    let deep = "[".repeat(100_000);
    let long = "9".repeat(5_000);
    let values = [
        "1e0",
        "-0",
        "0.0",
        "NaN",
        "Infinity",
        "1E400",
        "01",
        "+1",
        "null",
        "true",
        "\"1\"",
        "18446744073709551615",
        "18446744073709551616",
        "\"\\ud800\"",
        "{\"a\":1}",
        &deep,
        &long,
    ];
    let value = *one_of(rng, &values);
    let key = "\"prefix\":";
    let Some((before, rest)) = text.split_once(key) else { return text.to_owned() };
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    // In a field that nothing reads, too.
    match rng.below(3) {
        0 => text.replacen('{', &format!("{{\"title\":{value},"), 1),
        _ => format!("{before}{key}{value}{after}"),
    }
}
