//! Models that grow without bound. Their search does not end, so a warning appears during the
//! search.

use anyorder_system::Progress;
use anyorder_vm::Machine;
use std::sync::Mutex;

/// The mailbox lengths at which to warn, ascending.
const LENGTHS: [u64; 4] = [100, 1_000, 10_000, 100_000];

/// A listener that watches the lengths of the mailboxes of a machine.
pub(super) struct Growth<'a> {
    inner: &'a dyn Progress,
    machine: &'a Machine,
    /// The number of lengths already reported.
    said: Mutex<usize>,
}

impl<'a> Growth<'a> {
    pub(super) fn new(inner: &'a dyn Progress, machine: &'a Machine) -> Growth<'a> {
        Growth { inner, machine, said: Mutex::new(0) }
    }

    fn look(&self) {
        let Some((mailbox, longest)) = self.machine.longest_mailbox() else { return };
        let Ok(mut said) = self.said.lock() else { return };
        let reached = LENGTHS.partition_point(|length| *length <= longest);
        if reached > *said {
            *said = reached;
            self.inner.note(&words(&mailbox, LENGTHS[reached - 1]));
        }
    }
}

fn words(mailbox: &str, length: u64) -> String {
    let length = match length {
        0..1_000 => length.to_string(),
        _ => format!("{},000", length / 1_000),
    };
    format!(
        "the mailbox of `{mailbox}` has grown to {length} messages, and may grow without end; bound it with a `when` on the events that post to it, or the search with `--max-depth`"
    )
}

impl Progress for Growth<'_> {
    fn report(&self, done: u64, total: Option<u64>) {
        self.look();
        self.inner.report(done, total);
    }

    fn phase(&self, name: &'static str) {
        self.inner.phase(name);
    }

    fn note(&self, text: &str) {
        self.inner.note(text);
    }
}
