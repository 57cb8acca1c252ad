//! The outcome of a run, in levels.

use super::run::{Pending, Run, What};
use super::times::by_the_hour;
use crate::page::{Seen, by_value};
use anyorder_system::{Level, Observation, PartPath};
use serde_json::Value;
use std::collections::BTreeMap;

/// The part, below `page`, with the number of steps that the user could not take: it is there if
/// there are any. The element of a step was not there, or not visible.
pub const STEPS_LEFT: &str = "steps that could not be taken";

/// The longest text that is kept of a part, in bytes.
const TEXT_MAX: usize = 100_000;

/// The kind of the dialog that asks whether to leave a page.
const LEAVING: &str = "beforeunload:";

/// What happened besides the page itself.
pub(super) struct Traffic<'a> {
    pub(super) requests: &'a [String],
    pub(super) console: &'a [String],
    pub(super) dialogs: &'a [String],
    pub(super) refused: &'a [String],
    pub(super) steps_left: usize,
    /// The time at which the page began, in milliseconds since 1970.
    pub(super) epoch_ms: u64,
}

/// Returns the outcome of a run. What a user sees comes first: pixels, text and fields. A page that
/// was left shows nothing: what it sent and stored is its outcome.
///
/// Lists without an order of meaning (errors, requests) are compared as multisets: each line has
/// the number of times that it came.
pub(super) fn observation(seen: &Seen, run: &Run, traffic: &Traffic<'_>) -> Observation {
    let mut out = Observation::new();
    let is_shown = run.left.is_none();
    let timeless = |text: &str| by_the_hour(text, traffic.epoch_ms);
    if let Some(picture) = seen.picture.as_ref().filter(|_| is_shown) {
        out.set(PartPath::new(["page", "pixels"]), Level::Output, picture);
    }
    let page = &seen.page;
    for (name, level) in [
        ("text", Level::Output),
        ("title", Level::Output),
        ("url", Level::Output),
        ("focus", Level::Bookkeeping),
        ("html", Level::Bookkeeping),
        ("cookies", Level::Persistent),
    ] {
        if is_shown || level == Level::Persistent {
            let text = page[name].as_str().unwrap_or_default();
            match level {
                Level::Persistent => set(&mut out, ["page", name], level, &timeless(text)),
                _ => set(&mut out, ["page", name], level, text),
            }
        }
    }
    if is_shown {
        set(&mut out, ["page", "scroll"], Level::Bookkeeping, &page["scroll"].to_string());
        set_fields(&mut out, page);
    }
    for name in ["local", "session"] {
        for pair in page[name].as_array().into_iter().flatten() {
            let text = |at: usize| pair[at].as_str().unwrap_or_default();
            let stored = timeless(&by_value(text(1).to_owned()));
            set(&mut out, [name, text(0)], Level::Persistent, &stored);
        }
    }
    count(&mut out, "errors", Level::Failure, run.errors.iter());
    count(&mut out, "console", Level::Failure, traffic.console.iter());
    let asked: Vec<String> = traffic.requests.iter().map(|one| timeless(one)).collect();
    let (reads, requests): (Vec<_>, Vec<_>) = asked.iter().partition(|one| only_reads(one));
    // What a page that was left did not ask for any more is of no interest.
    let reads = reads.into_iter().filter(|_| is_shown);
    count(&mut out, "reads", Level::Bookkeeping, reads);
    count(&mut out, "requests", Level::Request, requests.into_iter());
    let shown =
        |(to, text): &(String, String)| timeless(&format!("{to} {}", by_value(text.clone())));
    let sent: Vec<String> = run.sent.iter().map(shown).collect();
    count(&mut out, "sent", Level::Request, sent.iter());
    count(&mut out, "refused", Level::Request, traffic.refused.iter());
    // Whether a page asks before it is left depends on when the user leaves it.
    let dialogs: Vec<&str> = traffic
        .dialogs
        .iter()
        .map(String::as_str)
        .filter(|one| !one.starts_with(LEAVING))
        .collect();
    if !dialogs.is_empty() {
        set(&mut out, ["page", "dialogs"], Level::Output, &dialogs.join("\n"));
    }
    if let Some(url) = &run.left {
        set(&mut out, ["page", "left for"], Level::Output, url);
    }
    if traffic.steps_left > 0 && run.left.is_none() {
        let left = traffic.steps_left.to_string();
        set(&mut out, ["page", STEPS_LEFT], Level::Output, &left);
    }
    let is_timer = |one: &&Pending| is_shown && matches!(one.what, What::Queued(_));
    let waiting = run.pending.iter().filter(is_timer);
    for one in waiting {
        let name = one.name.to_string();
        set(&mut out, ["timers", &name], Level::PendingTimers, "waits");
    }
    out
}

fn set_fields(out: &mut Observation, page: &Value) {
    for field in page["fields"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        set(out, ["fields", name], Level::Output, value);
    }
}

/// Returns whether a request has a method that changes nothing on the server ("safe" in RFC 9110,
/// 9.2.1). Pages delay and drop such requests: a search for `a` is not sent when `b` comes soon. If
/// the response matters, the page itself differs.
fn only_reads(request: &str) -> bool {
    matches!(request.split(' ').next(), Some("GET" | "HEAD" | "OPTIONS"))
}

fn set(out: &mut Observation, path: [&str; 2], level: Level, text: &str) {
    let path = PartPath::new(path);
    out.set(path.clone(), level, text.as_bytes());
    if text.len() <= TEXT_MAX {
        out.keep_text(&path, text);
    }
}

fn count<'a>(
    out: &mut Observation,
    name: &str,
    level: Level,
    lines: impl Iterator<Item = &'a String>,
) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for line in lines {
        *counts.entry(line).or_default() += 1;
    }
    for (line, count) in counts {
        set(out, [name, line], level, &count.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_time_does_not_depend_on_the_clock() {
        let epoch_ms = 1_767_225_600_000;
        let traffic = Traffic {
            requests: &[],
            console: &[],
            dialogs: &[],
            refused: &[],
            steps_left: 0,
            epoch_ms,
        };
        let stored = |value: String| {
            let page = serde_json::json!({"local": [["expires", value]]});
            observation(&Seen { page, picture: None }, &Run::default(), &traffic)
        };
        let day_ms = 24 * 3_600_000;
        let at = |clock_ms: u64| stored((epoch_ms + day_ms + clock_ms).to_string());
        assert_eq!(at(0).difference(&at(500)), []);
        assert_eq!(at(0).difference(&at(day_ms)).len(), 1, "another constant");
        assert_eq!(stored("7".into()).difference(&stored("8".into())).len(), 1);
    }

    #[test]
    fn requests_that_only_read_are_bookkeeping() {
        let requests =
            ["GET http://localhost/a", "HEAD http://localhost/", "POST http://localhost/b x"];
        let requests = requests.map(str::to_owned);
        let none = Traffic {
            requests: &[],
            console: &[],
            dialogs: &[],
            refused: &[],
            steps_left: 0,
            epoch_ms: 0,
        };
        let (seen, run) = (Seen::default(), Run::default());
        let before = observation(&seen, &run, &none);
        let after = observation(&seen, &run, &Traffic { requests: &requests, ..none });
        let differences = before.difference(&after);
        let levels: Vec<(&str, Level)> =
            differences.iter().map(|one| (one.path.names()[1].as_str(), one.level)).collect();
        let expected = [
            ("GET http://localhost/a", Level::Bookkeeping),
            ("HEAD http://localhost/", Level::Bookkeeping),
            ("POST http://localhost/b x", Level::Request),
        ];
        assert_eq!(levels, expected);
    }
}
