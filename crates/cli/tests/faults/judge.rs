//! What a run with a fault may leave.

use crate::scenario::Scenario;
use crate::shim::{Fault, KINDS, Ran, kind};

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
pub(crate) fn judge(scenario: &Scenario, whole: &Ran, ran: &Ran, fault: &Fault) -> Result<Ended, String> {
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
        return if same(whole, ran) { Ok(Ended::NotReached) } else { Err("no fault, another result".to_owned()) };
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
    if to_stdout && fault.how.starts_with(EPIPE) {
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
        _ => Err(format!("status {status}, another result, and no message")),
    }
}

/// The message names the file, or says what the system said.
fn named(ran: &Ran) -> Result<(), String> {
    const SAID: [&str; 16] = [
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
    ];
    let text = ran.stderr.to_lowercase();
    if text.contains("error") && SAID.iter().any(|said| text.contains(said)) {
        return Ok(());
    }
    Err(format!("the message does not say what failed: {}", ran.stderr))
}

fn same(whole: &Ran, ran: &Ran) -> bool {
    whole.status == ran.status && without_times(&whole.stdout) == without_times(&ran.stdout) && whole.files == ran.files
}

/// Replaces the times that a report for people shows.
fn without_times(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words = text.split(' ').collect::<Vec<_>>();
    let is_unit = |word: &str| ["ms", "s", "min", "h"].iter().any(|unit| word.strip_suffix('\n').unwrap_or(word).split('\n').next() == Some(unit));
    let word = |at: usize| {
        let next_is_unit = words.get(at + 1).is_some_and(|next| is_unit(next));
        if next_is_unit && words[at].parse::<f64>().is_ok() { "TIME" } else { words[at] }
    };
    (0..words.len()).map(word).collect::<Vec<_>>().join(" ")
}

fn is_whole_json(bytes: &[u8]) -> bool {
    bytes.is_empty() || serde_json::from_slice::<serde_json::Value>(bytes).is_ok()
}

/// Whether the result says that it is incomplete.
fn says_incomplete(ran: &Ran) -> bool {
    let incomplete = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.contains("\"complete\":false") || text.contains("incomplete") || text.contains("inconclusive")
    };
    incomplete(&ran.stdout) || ran.files.values().any(|bytes| incomplete(bytes))
}

/// Every file is the old one or the new one. A result that was cut is whole in its own way.
fn whole_files(scenario: &Scenario, whole: &Ran, ran: &Ran, fault: &Fault) -> Result<(), String> {
    for (name, bytes) in &ran.files {
        let (old, new) = (scenario.before.get(name), whole.files.get(name));
        if [old, new].contains(&Some(bytes)) {
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
            return Err(format!("`{name}` is neither the old nor the new file, {} bytes", bytes.len()));
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
        Some((_, "json")) => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        Some((_, "html")) => text.trim_end().ends_with("</html>"),
        // A checkpoint ends with a sum over all of it; `interrupt.rs` resumes them.
        None => name == "saved" && bytes.starts_with(b"anyorder-search"),
        _ => false,
    }
}

/// Describes a fault for a person.
pub(crate) fn describe(fault: &Fault, ran: &Ran) -> String {
    let kind = fault.kind.map_or("any", |kind| KINDS[kind]);
    format!("{kind} {} ({}): {} [fd {}, `{}`]", fault.at, fault.how, ran.calls.fired, ran.calls.fd, ran.calls.what)
}
