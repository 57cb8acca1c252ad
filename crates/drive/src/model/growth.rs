//! Models that grow without end: a search of them never ends by itself, so it is said while it goes
//! on.

use anyorder_system::Progress;
use anyorder_vm::Machine;
use std::sync::Mutex;

/// The lengths of a mailbox at which something is said, in order.
const LENGTHS: [u64; 4] = [100, 1_000, 10_000, 100_000];

/// A listener that looks at how long the mailboxes of a machine have become.
pub(super) struct Growth<'a> {
    inner: &'a dyn Progress,
    machine: &'a Machine,
    /// How many of the lengths were said.
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
