//! What a run with a fault may leave.

use crate::scenario::Scenario;
use crate::shim::{Fault, Files, KINDS, Ran, kind};
use std::collections::BTreeSet;

/// How a run with a fault ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Ended {
    /// The call was never made: threads do not make the same calls every time.
    NotReached,
    /// As without the fault.
    Unharmed,
    /// With status 2 and a message.
    Refused,
    /// With a result that says that it is incomplete, or a message beside the result.
    Cut,
}

/// The numbers of errors in `shim.c`.
pub(crate) const EPIPE: &str = "32";

/// The statuses that are documented. 70 is a bug.
const STATUSES: [i32; 4] = [0, 1, 2, 3];

/// Judges a run with a fault by the run without.
pub(crate) fn judge(
    scenario: &Scenario,
    whole: &Ran,
    ran: &Ran,
    fault: &Fault,
) -> Result<Ended, String> {
    if ran.hung {
        return Err("it hangs".to_owned());
    }
    if let Some(signal) = ran.signal {
        return Err(format!("it dies of signal {signal}: {}", ran.stderr));
    }
    let status = ran.status.unwrap_or(-1);
    if !STATUSES.contains(&status) {
        return Err(format!("status {status}: {}", ran.stderr));
    }
    whole_files(scenario, whole, ran, fault)?;
    if ran.calls.fired == 0 {
        return if same(whole, ran) {
            Ok(Ended::NotReached)
        } else {
            Err("no fault, another result".to_owned())
        };
    }
    if same(whole, ran) {
        return Ok(Ended::Unharmed);
    }
    let to_stdout = ran.calls.fd == 1;
    let to_stderr = ran.calls.fd == 2;
    if scenario.prints_json() && !to_stdout && !is_whole_json(&ran.stdout) {
        return Err("half of a JSON object on standard output".to_owned());
    }
    if to_stderr && fault.kind == Some(kind("write")) {
        return Ok(Ended::Refused);
    }
    if fault.how.starts_with(EPIPE) {
        // The reader went away: the end is quiet.
        return Ok(Ended::Cut);
    }
    let said = ran.stderr != whole.stderr && !ran.stderr.is_empty();
    match status {
        2 if said => named(ran).map(|()| Ended::Refused),
        _ if said || says_incomplete(ran) => {
            if status == 0 && !says_incomplete(ran) && !ran.stderr.contains("warning") {
                return Err(format!("status 0 with another result: {}", ran.stderr));
            }
            Ok(Ended::Cut)
        }
        // A child that was lost and started again leaves its mark in the counts only.
        _ if scenario.arguments.contains(&"--program".to_owned()) && same_findings(whole, ran) => {
            Ok(Ended::Unharmed)
        }
        _ => Err(format!("status {status}, another result, and no message")),
    }
}

/// The message names the file, or says what the system said.
fn named(ran: &Ran) -> Result<(), String> {
    const SAID: [&str; 17] = [
        "input/output error",
        "no space left",
        "permission denied",
        "too many open files",
        "not permitted",
        "temporarily unavailable",
        "memory",
        "interrupted",
        "broken pipe",
        "no child process",
        "cannot",
        "failed",
        "cross-device",
        "ended",
        "crashed",
        "not",
        // A clock that jumps ends every wait.
        "timed out",
    ];
    let text = ran.stderr.to_lowercase();
    if text.contains("error") && SAID.iter().any(|said| text.contains(said)) {
        return Ok(());
    }
    Err(format!("the message does not say what failed: {}", ran.stderr))
}

fn same(whole: &Ran, ran: &Ran) -> bool {
    whole.status == ran.status
        && without_times(&whole.stdout) == without_times(&ran.stdout)
        && differing(&whole.files, &ran.files).is_empty()
}

/// Whether two results have the same findings, wherever they were written.
fn same_findings(whole: &Ran, ran: &Ran) -> bool {
    let parse = |ran: &Ran| {
        let written = ran.files.get("result.json").unwrap_or(&ran.stdout);
        serde_json::from_slice::<serde_json::Value>(written).ok()
    };
    let (Some(whole), Some(ran)) = (parse(whole), parse(ran)) else { return false };
    ["findings", "verdict", "complete", "limits"].iter().all(|part| whole[part] == ran[part])
}

/// The names of files that differ, or that only one side has. Times do not count.
pub(crate) fn differing(a: &Files, b: &Files) -> Vec<String> {
    let equal = |name: &String| match (a.get(name), b.get(name)) {
        (Some(a), Some(b)) => is_same(a, b),
        _ => false,
    };
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    names.into_iter().filter(|name| !equal(name)).cloned().collect()
}

/// Whether two texts are the same but for times.
pub(crate) fn is_same(a: &[u8], b: &[u8]) -> bool {
    a == b || without_times(a) == without_times(b)
}

/// Replaces times and memory: numbers after names in `_ms` and `_kb`, and those with a unit of
/// time.
fn without_times(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        kept.push_str(&rest[..at]);
        let of_number = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
        let length = rest[at..].find(|c| !of_number(c)).unwrap_or(rest.len() - at);
        let (number, after) = rest[at..].split_at(length);
        let without_unit = [" ms", " s", " min", " h"].iter().find_map(|unit| {
            let next = after.strip_prefix(unit)?;
            (!next.starts_with(|c: char| c.is_alphanumeric())).then_some(next)
        });
        let before: Vec<char> = kept.chars().rev().take(60).collect();
        let before: String = before.into_iter().rev().collect();
        let is_after = |name: &str| {
            let end = before.rsplit_once(name).map(|(_, end)| end);
            end.is_some_and(|end| !end.contains(',') && !end.contains("<tr"))
        };
        let varies = without_unit.is_some() || is_after("_ms") || is_after("_kb");
        // A comma behind the number is not part of it.
        let whole = number.trim_end_matches([',', '.']);
        kept.push_str(if varies { "TIME" } else { whole });
        kept.push_str(&number[whole.len()..]);
        rest = without_unit.unwrap_or(after);
    }
    kept + rest
}

fn is_whole_json(bytes: &[u8]) -> bool {
    bytes.is_empty() || serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
}

/// Whether the result says that it is incomplete.
fn says_incomplete(ran: &Ran) -> bool {
    let incomplete = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.contains("\"complete\":false")
            || text.contains("incomplete")
            || text.contains("inconclusive")
    };
    incomplete(&ran.stdout) || ran.files.values().any(|bytes| incomplete(bytes))
}

/// Every file is the old one or the new one. A result that was cut is whole in its own way.
fn whole_files(scenario: &Scenario, whole: &Ran, ran: &Ran, fault: &Fault) -> Result<(), String> {
    for (name, bytes) in &ran.files {
        let (old, new) = (scenario.before.get(name), whole.files.get(name));
        let is = |one: Option<&Vec<u8>>| one.is_some_and(|one| is_same(one, bytes));
        if is(old) || is(new) {
            continue;
        }
        if old.is_none() && new.is_none() {
            // A file that cannot be removed stays.
            let cannot_remove = fault.kind == Some(kind("unlink"));
            let is_schedule = bytes.starts_with(b"{") && is_whole_json(bytes);
            if (cannot_remove && name.ends_with(".part")) || is_schedule {
                continue;
            }
            return Err(format!("`{name}` is left behind"));
        }
        if !is_whole(name, bytes) {
            return Err(format!(
                "`{name}` is neither the old nor the new file, {} bytes",
                bytes.len()
            ));
        }
    }
    let lost = scenario.before.keys().find(|name| !ran.files.contains_key(*name));
    lost.map_or(Ok(()), |name| Err(format!("`{name}` is gone")))
}

/// Whether a file that differs from both is whole by its own format: the result of a job that was
/// cut.
fn is_whole(name: &str, bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match name.rsplit_once('.') {
        // Results in all formats have this name: JSON, a finding a line, JUnit.
        Some((_, "json")) => {
            let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            is_json(&text)
                || text.lines().all(is_json)
                || text.trim_end().ends_with("</testsuites>")
        }
        Some((_, "html")) => text.trim_end().ends_with("</html>"),
        // A checkpoint ends with a sum over all of it; `interrupt.rs` resumes them.
        None => name == "saved" && bytes.starts_with(b"anyorder-search"),
        _ => false,
    }
}

/// Describes a fault for a person.
pub(crate) fn describe(fault: &Fault, ran: &Ran) -> String {
    let kind = fault.kind.map_or("any", |kind| KINDS[kind]);
    format!(
        "{kind} {} ({}): {} [fd {}, `{}`]",
        fault.at, fault.how, ran.calls.fired, ran.calls.fd, ran.calls.what
    )
}
