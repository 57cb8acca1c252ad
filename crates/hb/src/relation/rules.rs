//! The rule sets and the names of their rules.

use std::fmt;

/// The rules that order the events of a trace; `docs/happens-before.md` defines them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleSet {
    /// Tasks, mailboxes, threads and locks, and Android's guarantees for component callbacks.
    Android,
    /// Tasks, mailboxes, threads and locks.
    Mailbox,
    /// Threads and locks; each handler is one thread and keeps its observed order.
    Threads,
}

impl RuleSet {
    /// All rule sets.
    pub const ALL: [RuleSet; 3] = [RuleSet::Android, RuleSet::Mailbox, RuleSet::Threads];

    /// Returns the word of the rule set.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            RuleSet::Android => "android",
            RuleSet::Mailbox => "mailbox",
            RuleSet::Threads => "threads",
        }
    }

    /// Returns whether tasks of one handler can come in another order.
    #[must_use]
    pub const fn reorders_tasks(self) -> bool {
        !matches!(self, RuleSet::Threads)
    }
}

/// A rule by which one event happens before another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rule {
    /// Program order.
    Po,
    /// A handler takes tasks from its mailbox only after its loop point.
    Loop,
    /// Posts to a mailbox come after its creation.
    Attach,
    /// A task begins after its post.
    Post,
    /// A task is cancelled after its post.
    Cancel,
    /// A handler begins after its fork.
    Fork,
    /// A join comes after all events of the joined handler.
    Join,
    /// A lock is acquired after another handler released it.
    Lock,
    /// A wake comes after the signal that caused it.
    Wake,
    /// A barrier orders the events that pass it.
    Barrier,
    /// An acquiring atomic sees a releasing one.
    Atomic,
    /// A call of an object waited for another one, or observes it. The caller of the check says so:
    /// see [`check_with_calls`](crate::check_with_calls).
    Call,
    /// An input event is triggered after it was enabled.
    Enable,
    /// A task ends before another begins, because some event of it comes before an event that
    /// begins the other.
    NoPreemption,
    /// Tasks run in the order of their posts.
    Fifo,
    /// Tasks that ran in order were posted in order.
    FifoBackwards,
    /// A task cannot begin once a task that cancels it has begun.
    Cancelled,
    /// The same for what an input triggers, and a task that disables the input.
    Disabled,
    /// The same for a task, and the piece of thread code in which its handler exits.
    Exited,
    /// An order between Android component callbacks; the word names the rule.
    Component(&'static str),
}

impl Rule {
    /// Returns the word of the rule.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Rule::Po => "po",
            Rule::Loop => "loop",
            Rule::Attach => "attach",
            Rule::Post => "post",
            Rule::Cancel => "cancel",
            Rule::Fork => "fork",
            Rule::Join => "join",
            Rule::Lock => "lock",
            Rule::Wake => "wake",
            Rule::Barrier => "barrier",
            Rule::Atomic => "atomic",
            Rule::Call => "call",
            Rule::Enable => "enable",
            Rule::NoPreemption => "no pre-emption",
            Rule::Fifo => "fifo",
            Rule::FifoBackwards => "fifo, read backwards",
            Rule::Cancelled => "cancelled",
            Rule::Disabled => "disabled",
            Rule::Exited => "exited",
            Rule::Component(word) => word,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
