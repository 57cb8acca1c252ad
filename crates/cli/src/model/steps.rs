//! A path through a machine as a run for people: who ran what, what it changed, what it posted.
//!
//! All of it is read off the words that the machine has for its actions and states: what differs between the states around a step
//! is what the step did.

use super::elements;
use anyorder_finding::run::{Change, Run, RunPost, RunStep};
use anyorder_search::Path;
use anyorder_vm::program::FuncId;
use anyorder_vm::{Machine, PathWords};

/// The most values shown of the state at the start.
const START_MAX: usize = 40;

/// The most values shown of what a step read.
const READS_MAX: usize = 8;

/// What is wrong at the end of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    /// In one phrase; empty where the last step says it.
    pub(crate) text: String,
    /// The condition that does not hold: what it reads is told, too.
    pub(crate) condition: Option<FuncId>,
}

impl From<String> for End {
    fn from(text: String) -> End {
        End { text, condition: None }
    }
}

/// Tells a path: its steps, with what they changed or else read, and what is wrong at its end.
pub(crate) fn run_of(machine: &Machine, path: &Path<Machine>, end: &End) -> Run {
    let mut words = PathWords::new(machine);
    let mut before = &path.initial;
    let mut shown = words.show(before);
    let start = shown.iter().filter(|(name, _)| !is_inner(name)).take(START_MAX).cloned().collect();
    let mut steps = Vec::new();
    for step in &path.steps {
        let described = words.describe(before, &step.action);
        let lane = words.lane(before, &step.action);
        let after = words.show(&step.state);
        let alternative = step.action.alternative();
        let who = who(&described, alternative, &lane);
        let (mut changes, posts) = (changes(&shown, &after), posts(&who, &shown, &after));
        if step.failure.is_none() {
            let same = words.same_writes(before, &step.action).into_iter();
            changes.extend(same.map(|(name, value)| Change {
                name,
                old: Some(value.clone()),
                new: Some(value),
            }));
        }
        let idle = changes.is_empty() && posts.is_empty() && step.failure.is_none();
        let mut reads = if idle { words.reads(before, &step.action) } else { Vec::new() };
        reads.truncate(READS_MAX);
        steps.push(RunStep {
            changes,
            posts,
            reads,
            lane: who.lane,
            what: who.what,
            place: who.place,
            alternative: Some(alternative).filter(|number| *number > 0),
            failure: step.failure.as_ref().map(|failure| failure_words(&failure.to_string())),
            ..RunStep::default()
        });
        (before, shown) = (&step.state, after);
    }
    let mut text = end.text.clone();
    let mut reads =
        end.condition.map_or_else(Vec::new, |function| words.reads_of(path.last(), function));
    reads.truncate(READS_MAX);
    let reads: Vec<String> =
        reads.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    if !reads.is_empty() {
        text.push_str(&format!(": {}", reads.join(", ")));
    }
    Run { start, steps, repeats_from: path.repeats_from, end: text, ..Run::default() }
}

/// What failed, for people: the machine's word for the kind only where the rest needs it.
pub(crate) fn failure_title(head: &str) -> String {
    let (word, said) = head.split_once(": ").unwrap_or((head, ""));
    match (word, said) {
        ("assertion", "") => "an assertion fails".to_owned(),
        ("assertion", said) => format!("an assertion fails: {said}"),
        ("failure", said) if !said.is_empty() => format!("the model fails: {said}"),
        ("step_limit", _) => "a step does not end within the limit of instructions".to_owned(),
        ("null", said) if !said.is_empty() => said.to_owned(),
        (word, "") => word.to_owned(),
        (word, said) => format!("{word}: {said}"),
    }
}

/// A failure with its position.
fn failure_words(message: &str) -> String {
    match place_in(message) {
        Some((head, place)) => format!("{} at {place}", failure_title(head)),
        None => failure_title(message),
    }
}

type Shown = [(String, String)];

/// Who takes a step, and what it runs.
struct Who {
    lane: String,
    what: String,
    place: Option<String>,
}

/// Takes apart the words of a step: `task(1) on ui`, `click`, `t[1] at a.any:3:5`, each perhaps with `, alternative 2`.
fn who(words: &str, alternative: u32, lane: &str) -> Who {
    let words = words.strip_suffix(&format!(", alternative {alternative}")).unwrap_or(words);
    // A task that runs on a thread of its own is taken from the pool.
    let message = words.strip_suffix(&format!(" on {lane}")).or(words.strip_suffix(" on any"));
    let (what, place) = match (message, words.rsplit_once(" at ")) {
        (Some(what), _) => (what, None),
        (None, Some((what, place))) => (what, Some(place.to_owned())),
        (None, None) => (words, None),
    };
    let lane = if lane.is_empty() { what } else { lane };
    Who { lane: lane.to_owned(), what: what.to_owned(), place }
}

const OBJECT: &str = "obj#";
const MAILBOX: &str = "mailbox ";
const THREAD: &str = "thread ";

/// Whether a part of a state is one that is told in another way, or that says nothing to people.
fn is_inner(name: &str) -> bool {
    name.starts_with(MAILBOX) || name.starts_with(THREAD) || name.starts_with("happened(")
}

fn value<'a>(shown: &'a Shown, name: &str) -> Option<&'a str> {
    shown.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// What a step changed: values, locks, what is enabled, and who waits. Objects that nobody refers to any more are passed over.
fn changes(old: &Shown, new: &Shown) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, before) in old.iter().filter(|(name, _)| !is_inner(name)) {
        let after = value(new, name);
        if after.is_none() && name.starts_with(OBJECT) {
            continue;
        }
        if after != Some(before) {
            let new = after.map(str::to_owned).or_else(|| default(name));
            match new.as_deref().and_then(|new| elements::changed(name, before, new)) {
                Some(elements) => changes.extend(elements),
                None => changes.push(Change { name: name.clone(), old: Some(before.clone()), new }),
            }
        }
    }
    for (name, after) in new.iter().filter(|(name, _)| !is_inner(name)) {
        if value(old, name).is_none() {
            changes.push(Change {
                name: name.clone(),
                old: default(name),
                new: Some(after.clone()),
            });
        }
    }
    for (name, after) in new.iter().filter(|(name, _)| name.starts_with(THREAD)) {
        let waits = |words: &str| words.starts_with("waits for ");
        if waits(after) && !value(old, name).is_some_and(waits) {
            let what = after.split([',', ' ']).take(3).collect::<Vec<_>>().join(" ");
            changes.push(Change {
                name: format!("{} {what}", &name[THREAD.len()..]),
                ..Change::default()
            });
        }
    }
    changes
}

/// What a part of a state is where the state does not name it.
fn default(name: &str) -> Option<String> {
    if name.starts_with("lock ") { Some("free".to_owned()) } else { None }
}

/// The messages that are there after a step and were not before it, and the threads that began.
fn posts(who: &Who, old: &Shown, new: &Shown) -> Vec<RunPost> {
    let mut posts = Vec::new();
    for (name, after) in new.iter().filter(|(name, _)| name.starts_with(MAILBOX)) {
        let lane = &name[MAILBOX.len()..];
        let mut known: Vec<&str> = value(old, name).map_or(Vec::new(), messages);
        // The message that the step took is not there any more: one like it is new.
        if lane == who.lane
            && let Some(taken) = known.iter().position(|message| untimed(message) == who.what)
        {
            known.remove(taken);
        }
        for message in messages(after) {
            match known.iter().position(|one| untimed(one) == untimed(message)) {
                Some(at) => drop(known.remove(at)),
                None => posts.push(RunPost { to: lane.to_owned(), what: message.to_owned() }),
            }
        }
    }
    for (name, _) in new.iter().filter(|(name, _)| name.starts_with(THREAD) && name.contains('#')) {
        let lane = &name[THREAD.len()..];
        if value(old, name).is_none() && lane != who.lane {
            posts.push(RunPost { to: lane.to_owned(), what: "start".to_owned() });
        }
    }
    posts
}

/// Returns a message without its delay, which shrinks as time goes on.
fn untimed(message: &str) -> &str {
    message.rsplit_once(") after ").map_or(message, |(head, _)| &message[..=head.len()])
}

/// Takes the messages of a mailbox, or the elements of a list, apart: commas in brackets and strings do not count.
pub(super) fn messages(text: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for at in outside(text, ',') {
        parts.push(text[start..at].trim());
        start = at + 1;
    }
    if start < text.len() {
        parts.push(text[start..].trim());
    }
    parts
}

/// Returns where a sign stands outside of brackets and strings.
pub(super) fn outside(text: &str, sign: char) -> impl Iterator<Item = usize> {
    let (mut depth, mut quoted, mut escaped) = (0_i32, false, false);
    text.char_indices().filter_map(move |(at, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if c == sign && depth == 0 => return Some(at),
            _ => {}
        }
        None
    })
}

/// Takes the position off the end of a message: `... at file:line:column`.
pub(crate) fn place_in(message: &str) -> Option<(&str, &str)> {
    let (head, place) = message.rsplit_once(" at ")?;
    let mut parts = place.rsplitn(3, ':');
    let numbers = [parts.next()?, parts.next()?];
    let is_number = |text: &&str| text.parse::<u32>().is_ok();
    (numbers.iter().all(is_number) && parts.next().is_some()).then_some((head, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_apart() {
        assert_eq!(
            messages("a(), b(1, [2, 3]), c(\"x, \\\", (y\") after 5"),
            ["a()", "b(1, [2, 3])", "c(\"x, \\\", (y\") after 5"]
        );
        assert_eq!(messages(""), Vec::<&str>::new());
        assert_eq!(untimed("c(1) after 5"), "c(1)");
        assert_eq!(untimed("c(\" after 5\")"), "c(\" after 5\")");
    }

    #[test]
    fn posts_are_what_is_new() {
        let shown = |text: &str| vec![("mailbox ui".to_owned(), text.to_owned())];
        let who = |what: &str| Who { lane: "ui".to_owned(), what: what.to_owned(), place: None };
        let new = |old: &str, after: &str, what: &str| -> Vec<String> {
            posts(&who(what), &shown(old), &shown(after))
                .into_iter()
                .map(|post| post.what)
                .collect()
        };
        assert_eq!(new("a(), b()", "b(), a()", "a()"), ["a()"], "the same again");
        assert_eq!(new("a(), b()", "b()", "a()"), Vec::<String>::new());
        assert_eq!(new("a() after 7, b() after 9", "b() after 2", "a()"), Vec::<String>::new());
        assert_eq!(new("b()", "b(), b()", "click"), ["b()"]);
    }

    #[test]
    fn words_of_steps_are_taken_apart() {
        let told = |words: &str, alternative, lane: &str| {
            let who = who(words, alternative, lane);
            (who.lane, who.what, who.place)
        };
        let text = str::to_owned;
        assert_eq!(
            told("load(\"a on b\") on ui", 0, "ui"),
            (text("ui"), text("load(\"a on b\")"), None)
        );
        assert_eq!(told("click, alternative 2", 2, "ui"), (text("ui"), text("click"), None));
        let place = Some(text("a.any:3:5"));
        assert_eq!(
            told("t[1] at a.any:3:5, alternative 1", 1, "t[1]"),
            (text("t[1]"), text("t[1]"), place)
        );
        assert_eq!(
            told("say(\"on any\") on any", 0, "say#1"),
            (text("say#1"), text("say(\"on any\")"), None)
        );
        assert_eq!(told("click", 0, ""), (text("click"), text("click"), None));
    }

    #[test]
    fn places_are_read_off_messages() {
        assert_eq!(
            place_in("assertion: x at y at a b.any:3:14"),
            Some(("assertion: x at y", "a b.any:3:14"))
        );
        assert_eq!(place_in("assertion: look at this"), None);
        assert_eq!(place_in("x at 3:4"), None);
    }
}
