//! The texts of `anyorder explain`: the meaning of each word of a report, and advice.

use crate::words::Kind;

/// All topics of [`explain`]: the kinds, then the categories of races, coverage, the filters.
pub const TOPICS: &[&str] = &[
    "race",
    "order_violation",
    "assertion",
    "deadlock",
    "final",
    "invariant",
    "response",
    "update_conflict",
    "inconsistency",
    "nondeterminism",
    "not_serializable",
    "unstable",
    "step_limit",
    "multi_threaded",
    "cross_posted",
    "co_enabled",
    "delayed",
    "uncategorised",
    "use_after_free",
    "double_free",
    "destroyed_lock",
    "closed_channel",
    "closed_file",
    "lost_signal",
    "lost_wakeup",
    "early_err",
    "same_handler",
    "calls",
    "guarded",
    "prediction",
    "form",
    "coverage",
    "harm",
    "reversal",
    "ignored",
    "group",
    "late_registration",
    "unload",
];

impl Kind {
    /// Returns the meaning of this kind of finding, and advice: a first line as a summary, a blank
    /// line, then paragraphs of at most 80 columns.
    #[must_use]
    pub const fn explain(self) -> &'static str {
        match self {
            Kind::Race => RACE,
            Kind::OrderViolation => ORDER_VIOLATION,
            Kind::Assertion => ASSERTION,
            Kind::Deadlock => DEADLOCK,
            Kind::Final => FINAL,
            Kind::Invariant => INVARIANT,
            Kind::Response => RESPONSE,
            Kind::UpdateConflict => UPDATE_CONFLICT,
            Kind::Inconsistency => INCONSISTENCY,
            Kind::Nondeterminism => NONDETERMINISM,
            Kind::NotSerializable => NOT_SERIALIZABLE,
            Kind::Unstable => UNSTABLE,
            Kind::StepLimit => STEP_LIMIT,
        }
    }
}

/// Returns the text about a topic of [`TOPICS`], with `-` or `_` between words; `None` for other
/// topics.
#[must_use]
pub fn explain(topic: &str) -> Option<&'static str> {
    let topic = topic.replace('-', "_").to_ascii_lowercase();
    if let Some(kind) = Kind::from_word(&topic) {
        return Some(kind.explain());
    }
    Some(match topic.as_str() {
        "multi_threaded" => MULTI_THREADED,
        "cross_posted" => CROSS_POSTED,
        "co_enabled" => CO_ENABLED,
        "delayed" => DELAYED,
        "uncategorised" => UNCATEGORISED,
        "use_after_free" => USE_AFTER_FREE,
        "double_free" => DOUBLE_FREE,
        "destroyed_lock" => DESTROYED_LOCK,
        "closed_channel" => CLOSED_CHANNEL,
        "closed_file" => CLOSED_FILE,
        "lost_signal" => LOST_SIGNAL,
        "lost_wakeup" => LOST_WAKEUP,
        "early_err" => EARLY_ERR,
        "same_handler" => SAME_HANDLER,
        "calls" => CALLS,
        "guarded" => GUARDED,
        "prediction" => PREDICTION,
        "form" => FORM,
        "coverage" => COVERAGE,
        "harm" => HARM,
        "reversal" => REVERSAL,
        "ignored" => IGNORED,
        "group" => GROUP,
        "late_registration" => LATE_REGISTRATION,
        "unload" => UNLOAD,
        _ => return None,
    })
}

const RACE: &str = "\
race: two accesses to one location, one of them a write, can happen in either order.

Happens-before is what holds in every run: the order inside a task, a post before
its task, the order of tasks that a mailbox guarantees, a lock handed over, a
thread started or awaited. A race is a pair of accesses that it leaves unordered.
On one handler this needs no parallelism: two tasks that nothing orders can run
the other way round, and whoever comes second sees what the first one did.

A race is not yet a bug. Ask: is the result still right if the second access comes
first? If not, make the order hold (post the second task from the first, chain the
callbacks, cancel what is out of date) or make it not matter (check the state
before using it).

Uncovered races come first; see `anyorder explain coverage`. `anyorder why A B`
shows why two events are ordered or not.
";

const ORDER_VIOLATION: &str = "\
order_violation: two actions can happen against the order that the program needs.

A use after the release, a signal before the wait, a send on a closed channel: the
run that was recorded went well, and nothing in it makes that order hold. Locks do
not help: they keep two sections apart, and say nothing of which comes first. The
category names what goes wrong. A confirmed finding has a witness: another order of
the recorded events in which the two come the other way round. See `anyorder
explain prediction`.
";

const ASSERTION: &str = "\
assertion: an assertion fails, or an exception goes uncaught, in some order.

The same inputs may pass in the usual order. The witness is the schedule of a run
that fails; replay it, and compare it with a run that passes: the explanation
names the reversal that makes the difference.
";

const DEADLOCK: &str = "\
deadlock: some order ends with everybody waiting for something that cannot come.

The sites are what each one waits at, and what it holds. Take locks in one order
everywhere, or do not wait while holding one.
";

const FINAL: &str = "\
final: in some order everything is done, and the end is wrong.

Nothing is left to run and nobody waits, but what the model states as `final` is
false: a late answer came last, a value was lost. The table ends with the values
that the condition reads.

A condition on the end says nothing of the states before it; `invariant` does. A
program with somebody left waiting has not come to its end: that is a `deadlock`,
or nothing at all where waiting for more input is what it is meant to do.
";

const INVARIANT: &str = "\
invariant: a stated invariant does not hold after some order of the tasks.

The witness is the shortest schedule known that leads there.
";

const RESPONSE: &str = "\
response: an input event is never answered in some order.

The program becomes idle, and what the input asked for has not been done: a reply
was dropped, overtaken, or waits for a task that ran too early.
";

const UPDATE_CONFLICT: &str = "\
update_conflict: two updates of one state do not commute, and nothing orders them.

The last one wins, and which is last depends on timing. Unlike a race between a
read and a write, both orders can look right on their own; compare the end states.

Between components: two of them set one attribute to different values with nothing
in between, as when one rule locks the door and another unlocks it. Each is right
by itself; decide which of the two is to win, and let it be asked last.
";

const INCONSISTENCY: &str = "\
inconsistency: what was observed cannot happen under the rules of the model.

No order of the tasks explains all values that were read. The explanation is a
cycle: each step must come before the next, and the last before the first. Either
the program was run on something weaker than the model, or the trace is wrong.
";

const NONDETERMINISM: &str = "\
nondeterminism: two orders of the same inputs end in different observations.

The finding lists the parts of the observation that differ, with their levels. If
only bookkeeping differs it is harmless; output and persistent state are not.
";

const NOT_SERIALIZABLE: &str = "\
not_serializable: a run does what no one-at-a-time handling of the inputs does.

The work of one input event, spread over several tasks, interleaves with that of
another, and the result is that of neither order. The explanation is a cycle among
the input events.
";

const UNSTABLE: &str = "\
unstable: two runs of one schedule differ.

Something that matters is not under control: a clock, a random number, the network,
a thread that was not seen. Nothing else found in this run can be relied on until
it is mocked or recorded.

When runs are varied, each difference is looked at again: both runs are repeated, and
where one gives something else, a third run decides. What no two agree on is listed
as unstable and never as harmful. A planned run that failed in every attempt (the
program crashed, hung, or lost a reply) is listed so, too; the message says how.
";

const STEP_LIMIT: &str = "\
step_limit: a run did not end within the number of steps allowed.

It may be a loop that never ends in this order (two tasks that post each other), or
just a long run; the limit is an option.
";

const MULTI_THREADED: &str = "\
multi_threaded: the two accesses of the race are on different threads.

They can even happen at the same time. A lock, or moving one of them to the other's
handler by a post, mends it.
";

const CROSS_POSTED: &str = "\
cross_posted: both tasks run on one handler, and one was posted from another thread.

The handler runs them one after another, but which comes first depends on when the
other thread posts. Where the chains of posts of the two tasks first differ, one of
the posts comes from another thread.
";

const CO_ENABLED: &str = "\
co_enabled: both tasks go back to input events that can come in either order.

Two buttons on one screen, a click and a notification: the user or the environment
decides. Disable one input while the other is being handled, or make the handlers
work in both orders.
";

const DELAYED: &str = "\
delayed: a delayed post decides which of the two tasks comes first.

The order holds only as long as the delay is longer (or shorter) than everything
else takes. A delay is no synchronisation: post the later task from the earlier
one, or cancel it when it is out of date.
";

const UNCATEGORISED: &str = "\
uncategorised: the order is open for none of the usual reasons.

Neither two threads, nor two inputs, nor a post from another thread, nor a delay:
for example a post to the front of a mailbox, or a mailbox without an order.
";

const USE_AFTER_FREE: &str = "\
use_after_free: memory can be used by one thread after another has freed it.

The recorded run used it first. Let the thread that frees join the users before,
hand the memory over to one owner, or count references. A lock around both is not
enough: the free may get it first.
";

const DOUBLE_FREE: &str = "\
double_free: one piece of memory is freed twice, in either order.

Let one owner free it. Where two may have to, decide under a lock and leave a mark
that it is gone.
";

const DESTROYED_LOCK: &str = "\
destroyed_lock: a lock can be taken or given back after it was destroyed.

Whoever destroys it has to know that nobody uses it any more: join the threads that
do. Often the memory around the lock is freed as well; that is the same mistake.
";

const CLOSED_CHANNEL: &str = "\
closed_channel: a channel can be used after it was closed.

A send on a closed channel fails, and in Go it panics. Let the side that sends close
it, behind its last send; where several send, wait for all of them before.
";

const CLOSED_FILE: &str = "\
closed_file: a file can be used after it was closed.

Its number may belong to another file by then. Let the last user close it, or wait
for the others before.
";

const LOST_SIGNAL: &str = "\
lost_signal: the signal of a condition can come before the wait for it, and be lost.

A condition does not remember signals: who comes to wait behind the last one waits
for ever. Check what is waited for under the lock, in a loop around the wait, and
change it under the same lock before the signal. Then the order does not matter.
";

const LOST_WAKEUP: &str = "\
lost_wakeup: a call may wait for ever, because another one can take what it waits for.

Both could come next; if the other one does, nothing that can still come serves the
one that waits: no send and no close for a receive, no release for an acquire. Give
one for each who waits, or tell those who wait that no more will come.
";

const EARLY_ERR: &str = "\
early_err: a context can be asked for its error before or after it is cancelled.

Before, the answer is that there is none. Wait until the context is done before
asking, or be right with both answers.
";

const SAME_HANDLER: &str = "\
same_handler: the two accesses are in two tasks of one handler, in either order.

They never happen at the same time, and a lock does not order them. Post the second
task from the first, or make both work whatever comes first.
";

const CALLS: &str = "\
calls: two calls of one object can happen in either order, with another result.

By the specification of its type the two do not commute: what they return, or what
is left behind, depends on which comes first. If one has to come first, let the other
wait for it. If the order does not matter here, `--spec` can say that they commute.
";

const GUARDED: &str = "\
guarded: two accesses under one lock can come in either order.

The lock makes each of the two sections whole, and that is often all that is meant:
a counter does not care who adds first. So these are notes, and do not count. They
matter where one section sets up what the other one takes for granted.
";

const PREDICTION: &str = "\
prediction: from one recorded run to what could have happened in another.

An analysis looks for pairs of actions that do not commute and that it finds no
reason to order: candidates. Each is then tried. A candidate is confirmed by a
witness, an order of recorded events that keeps what each thread does, what each
event sees, and locks, and in which the two come the other way round; a second
program checks each witness. It is dropped if it is proved that there is none. It is
unconfirmed if a limit ended the search; such findings are notes and do not count,
unless `--strict`.

On small traces all pairs are tried, not only the candidates. Pairs confirmed
although the analysis had ordered them are `missed_by_order` in the statistics.
";

const FORM: &str = "\
form: in which sense a witness has two actions the other way round.

`reversed`: every event of the witness sees what it saw in the recorded run. The
strongest. `last`: so do all but the first action, which is now the last event and
may see something else. `co_enabled`: both actions could be the next event; each of
them may see something else. Data races of detectors are of this form, at the least.
`overtakes`: the handler of both could take the task of the second action while that
of the first waits in its mailbox; what the two tasks do then may differ.
The form of a finding is the strongest that one of its pairs has.
";

const COVERAGE: &str = "\
coverage: a race is covered if ordering other races would order it too.

Many races are only echoes: a flag is set and read without order, and everything
behind the flag looks unordered as well. A covered race has some third event (at
access level) or task (at task level) between its two sides, in the transitive
closure of happens-before and all conflicts taken in the order of the trace.

An uncovered race can be made adjacent: its two accesses can be put next to each
other without reversing any other pair first. So uncovered races are listed first,
and covered ones do not fail a check by themselves, unless `--strict`. Once the
uncovered ones are mended, check again: what was covered may be gone, or be next.

`--coverage task` is the default; `access` is finer and finds fewer races covered
only because their tasks touch in other ways; `single` asks for one other race
that is before it, and is there for comparison.
";

const HARM: &str = "\
harm: whether the two orders of a finding lead to a difference that matters.

`harmful`: a difference in what the program shows, stores or fails with was seen.
`harmless`: both orders end alike, or differ only in a way that is known to be
right; the class says which. `undecided`: the orders were not both run.
";

const IGNORED: &str = "\
ignored: something of the input was not understood, and is taken to do nothing.

An operation that is not in the table of the format, or a call for which there is no
specification, orders nothing here and accesses nothing. In the program it may wait,
or write. So a finding is neither confirmed nor refuted if one of them stands in the
trace before the last event of what shows it: the finding says so, and stays a
warning at most. What ends before the first of them holds whatever they do.

Write the operation in the words of the format (docs/formats/std.md), or give a
specification of the object (`--spec`, `--object`), and the finding is decided.
";

const GROUP: &str = "\
group: findings of one mistake, which one repair mends.

Who frees, destroys or closes what another thread still uses makes a finding for
each field and each lock in it. They miss one order: that the other thread is done
before the first of these ends. The first finding stands for the group; the others
have its id as their group. All of them count.
";

const REVERSAL: &str = "\
reversal: a run was varied by letting one task come before another, and compared.

The two tasks conflict: they use one location, not both only reading, or the first
stops the second from running. The pair is the one that was reversed; the two runs
to compare are the run before, its parent, and the run with the second task first.
Planned tasks that could not run in the new order were skipped; tasks that nobody
planned are new; what is left to do is done in the program's own order.

A reversal is `harmful` if the two runs differ in what they show, store or fail with,
and both gave the same again when they were repeated. It is `harmless` if they end
alike, or differ in bookkeeping or pending timers only. Runs that a limit on their
length cut end anywhere, and are not called either.

The depth is the number of reversals between the recorded run and this one. Most
bugs need one; `--bound 2` looks at pairs of them. `anyorder explain harm` says what
counts as a difference, `anyorder explain unstable` what it means that a run could
not be repeated.
";

const LATE_REGISTRATION: &str = "\
late_registration: the write registers a handler that the read looks for.

If the event comes before its handler is registered, it is lost, or waits. Often the
program is meant to work both ways. The filter is a guess from the shape of the
accesses: it marks, and changes no verdict unless you ask it to.
";

const UNLOAD: &str = "\
unload: one of the two accesses belongs to taking something down.

A page being left, an activity being destroyed: the other task may come too late,
and its work no longer matter; or it may use what is gone. The filter is a guess from
the shape of the accesses: it marks, and changes no verdict unless you ask it to.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{PredictedCategory, RaceCategory};

    #[test]
    fn every_word_has_a_text_of_its_own() {
        for kind in Kind::ALL {
            assert!(TOPICS.contains(&kind.word()), "{kind}");
        }
        for category in RaceCategory::ALL {
            assert!(TOPICS.contains(&category.word()), "{category}");
        }
        for category in PredictedCategory::ALL {
            assert!(TOPICS.contains(&category.word()), "{category}");
        }
        for topic in TOPICS {
            let text = explain(topic).unwrap_or_else(|| panic!("{topic}"));
            let (first, rest) = text.split_once("\n\n").unwrap_or_else(|| panic!("{topic}"));
            assert!(first.starts_with(&format!("{topic}: ")), "{topic}");
            assert!(!first.contains('\n') && !rest.is_empty(), "{topic}");
            assert!(text.ends_with(".\n") && !text.ends_with("\n\n"), "{topic}");
            for line in text.lines() {
                let width = line.chars().count();
                assert!(width <= 90 && !line.ends_with(' '), "{topic}: {line}");
            }
        }
    }

    #[test]
    fn spelling_is_forgiving_but_not_arbitrary() {
        assert_eq!(explain("Co-Enabled"), explain("co_enabled"));
        assert_eq!(explain("nonsense"), None);
    }
}
