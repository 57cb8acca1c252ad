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

impl Kept {
    /// Returns a sentence for each kind of event or message in the trace that is ignored, or
    /// treated in an unexpected way.
    #[must_use]
    pub fn notes(&self, rule: MailboxRule) -> Vec<String> {
        let fifo = rule == MailboxRule::Fifo;
        let ordered = rule != MailboxRule::Bag;
        let plain = "treated as any other, as mailboxes are fifo";
        let rows: [(u64, bool, [&str; 2], &str); 17] = [
            (self.delayed, fifo, ["message with a delay", "messages with a delay"], plain),
            (
                self.front,
                fifo,
                ["message posted to the front", "messages posted to the front"],
                plain,
            ),
            (self.idle, fifo, ["run of an idle handler", "runs of idle handlers"], plain),
            (
                self.bag,
                ordered,
                [
                    "message of a mailbox that keeps no order",
                    "messages of mailboxes that keep no order",
                ],
                "treated as if it kept one",
            ),
            (
                self.without_post,
                ordered,
                ["message without a post in the trace", "messages without a post in the trace"],
                "in no order with others of the mailbox",
            ),
            (
                self.never_begun,
                true,
                ["task that was posted and never began", "tasks that were posted and never began"],
                "no constraint",
            ),
            (
                self.pieces,
                true,
                [
                    "piece of a handler's own code between its tasks",
                    "pieces of handlers' own code between their tasks",
                ],
                "in no order with the tasks",
            ),
            (
                self.bursts,
                true,
                ["burst of an untracked handler", "bursts of untracked handlers"],
                "in no order with others of the handler",
            ),
            (
                self.locks,
                true,
                ["lock operation", "lock operations"],
                "ignored: critical sections may overlap",
            ),
            (
                self.conditions,
                true,
                ["operation on a condition", "operations on conditions"],
                "ignored",
            ),
            (self.barriers, true, ["passage of a barrier", "passages of barriers"], "ignored"),
            (
                self.inputs,
                true,
                ["enabling or trigger of an input", "enablings and triggers of inputs"],
                "ignored",
            ),
            (
                self.attaches,
                true,
                ["attachment of a mailbox", "attachments of mailboxes"],
                "ignored",
            ),
            (
                self.overlapping,
                true,
                ["address range that overlaps another", "address ranges that overlap others"],
                "taken as separate",
            ),
            (
                self.open_locations,
                true,
                ["variable without coherence order", "variables without coherence order"],
                "any order of the writes may be chosen",
            ),
            (
                self.thin_forks,
                true,
                [
                    "fork or join of a handler with very many messages",
                    "forks and joins of handlers with very many messages",
                ],
                "ordered with one of the messages only",
            ),
            (
                self.cancelled,
                self.cancelled > self.never_begun,
                ["cancelled task", "cancelled tasks"],
                "no constraint",
            ),
        ];
        let rows = rows.into_iter().filter(|(count, applies, ..)| *count > 0 && *applies);
        rows.map(|(count, _, [one, many], how)| {
            format!("{count} {}: {how}", if count == 1 { one } else { many })
        })
        .collect()
    }
}
