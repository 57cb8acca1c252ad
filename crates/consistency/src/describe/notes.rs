//! Sentences about the parts of a trace that were kept and dropped.

use crate::from_trace::Kept;
use crate::mailbox::MailboxRule;

impl MailboxRule {
    /// Every rule.
    pub const ALL: [MailboxRule; 3] = [MailboxRule::Fifo, MailboxRule::Bag, MailboxRule::Delayed];

    /// Returns the name of the rule on the command line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            MailboxRule::Fifo => "fifo",
            MailboxRule::Bag => "bag",
            MailboxRule::Delayed => "delayed",
        }
    }

    /// Returns what the rule promises, as a sentence.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            MailboxRule::Fifo => "mailboxes run messages in the order of their posts",
            MailboxRule::Bag => "mailboxes run messages in any order",
            MailboxRule::Delayed => {
                "mailboxes run messages in the order of their posts, unless a delay, a post to the front or idle work says otherwise"
            }
        }
    }
}

/// Events and messages that are ignored or treated in an unexpected way: singular, plural and
/// treatment, in the order of the counts.
const PHRASES: [([&str; 2], &str); 17] = [
    (["message with a delay", "messages with a delay"], PLAIN),
    (["message posted to the front", "messages posted to the front"], PLAIN),
    (["run of an idle handler", "runs of idle handlers"], PLAIN),
    (
        ["message of a mailbox that keeps no order", "messages of mailboxes that keep no order"],
        "treated as if it kept one",
    ),
    (
        ["message without a post in the trace", "messages without a post in the trace"],
        "in no order with others of the mailbox",
    ),
    (
        ["task that was posted and never began", "tasks that were posted and never began"],
        "no constraint",
    ),
    (
        [
            "piece of a handler's own code between its tasks",
            "pieces of handlers' own code between their tasks",
        ],
        "in no order with the tasks",
    ),
    (
        ["burst of an untracked handler", "bursts of untracked handlers"],
        "in no order with others of the handler",
    ),
    (["lock operation", "lock operations"], "ignored: critical sections may overlap"),
    (["operation on a condition", "operations on conditions"], "ignored"),
    (["passage of a barrier", "passages of barriers"], "ignored"),
    (["enabling or trigger of an input", "enablings and triggers of inputs"], "ignored"),
    (["attachment of a mailbox", "attachments of mailboxes"], "ignored"),
    (
        ["address range that overlaps another", "address ranges that overlap others"],
        "taken as separate",
    ),
    (
        ["variable without coherence order", "variables without coherence order"],
        "any order of the writes may be chosen",
    ),
    (
        [
            "fork or join of a handler with very many messages",
            "forks and joins of handlers with very many messages",
        ],
        "ordered with one of the messages only",
    ),
    (["cancelled task", "cancelled tasks"], "never begin"),
];

const PLAIN: &str = "treated as any other, as mailboxes are fifo";

impl Kept {
    /// Returns a sentence for each kind of event or message in the trace that is ignored, or
    /// treated in an unexpected way.
    #[must_use]
    pub fn notes(&self, rule: MailboxRule) -> Vec<String> {
        let fifo = rule == MailboxRule::Fifo;
        let ordered = rule != MailboxRule::Bag;
        let counts: [(u64, bool); 17] = [
            (self.delayed, fifo),
            (self.front, fifo),
            (self.idle, fifo),
            (self.bag, ordered),
            (self.without_post, ordered),
            (self.never_begun, true),
            (self.pieces, true),
            (self.bursts, true),
            (self.locks, true),
            (self.conditions, true),
            (self.barriers, true),
            (self.inputs, true),
            (self.attaches, true),
            (self.overlapping, true),
            (self.open_locations, true),
            (self.thin_forks, true),
            (self.cancelled, self.cancelled > self.never_begun),
        ];
        let noted =
            counts.into_iter().zip(PHRASES).filter(|((count, applies), _)| *count > 0 && *applies);
        noted
            .map(|((count, _), ([one, many], how))| {
                format!("{count} {}: {how}", if count == 1 { one } else { many })
            })
            .collect()
    }
}
