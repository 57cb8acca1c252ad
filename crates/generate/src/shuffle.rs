//! `shuffle`: chains of nested posts that meet in one mailbox.
//!
//! `main` posts `n` messages to four relays in turn; each posts a message to the `sink`, which
//! accesses one of some shared variables. FIFO orders the messages of each relay, and so the
//! messages of the sink from the same relay. Only the accesses order the others.
//!
//! `5n` events, `2n + 1` messages, 6 handlers (from size 4 on).

use crate::draft::{Draft, Name};
use crate::error::GenerateError;
use crate::generate::checked_size;
use crate::recorder::Recorder;
use crate::request::{Request, RunMailbox};
use anyorder_common::random::{Random, Rng};
use std::collections::VecDeque;

const RELAYS: usize = 4;

/// The number of variables that the sink accesses: one per this many chains, but at least a few.
const CHAINS_PER_VARIABLE: u32 = 4;
const VARIABLES_MIN: u32 = 8;

/// Makes the draft of a request.
pub(crate) fn draft_of(request: &Request) -> Result<Draft, GenerateError> {
    let size = checked_size(request, 1, |size| 5 * size)?;
    let mut rng = Rng::for_purpose(request.seed, *b"shuf");
    let mut recorder = Recorder::default();
    let variables = (size / CHAINS_PER_VARIABLE).max(VARIABLES_MIN);
    for variable in 0..variables {
        recorder.variable(Name::one("shared", variable));
    }
    let main = recorder.draft.handler(Name::plain("main"));
    let relays: Vec<u32> =
        (0..RELAYS as u32).map(|relay| recorder.draft.handler(Name::one("relay", relay))).collect();
    let sink = recorder.draft.handler(Name::plain("sink"));
    let mut run = Run {
        mailbox: request.mailbox,
        initial: recorder.draft.initial(main),
        left_to_post: 0..size,
        relays: relays.into_iter().map(|handler| Stage { handler, ..Stage::default() }).collect(),
        sink: Stage { handler: sink, ..Stage::default() },
        variables,
        recorder,
    };
    while run.step(&mut rng) {}
    Ok(run.recorder.draft)
}

/// A handler whose messages have two events; the first is the get.
#[derive(Default)]
struct Stage {
    handler: u32,
    mailbox: VecDeque<(u32, u32)>,
    /// The message, and the number of its chain, between its two events.
    running: Option<(u32, u32)>,
}

impl Stage {
    fn can_step(&self) -> bool {
        self.running.is_some() || !self.mailbox.is_empty()
    }

    /// Begins the next message, or returns the one whose second event is next.
    fn step(
        &mut self,
        mailbox: RunMailbox,
        rng: &mut Rng,
        draft: &mut Draft,
    ) -> Option<(u32, u32)> {
        if self.running.is_some() {
            return self.running.take();
        }
        self.running = mailbox.take(&mut self.mailbox, rng);
        if let Some((message, _)) = self.running {
            draft.get(message);
        }
        None
    }
}

struct Run {
    mailbox: RunMailbox,
    initial: u32,
    left_to_post: std::ops::Range<u32>,
    relays: Vec<Stage>,
    sink: Stage,
    variables: u32,
    recorder: Recorder,
}

impl Run {
    /// Executes one event of a random handler; returns `false` when none is enabled.
    fn step(&mut self, rng: &mut Rng) -> bool {
        let can = |place: usize| match place {
            0 => !self.left_to_post.is_empty(),
            1 => self.sink.can_step(),
            relay => self.relays[relay - 2].can_step(),
        };
        let able: Vec<usize> = (0..RELAYS + 2).filter(|place| can(*place)).collect();
        match able.get(rng.index(able.len())) {
            None => return false,
            Some(0) => self.main(),
            Some(1) => self.sink(rng),
            Some(relay) => self.relay(relay - 2, rng),
        }
        true
    }

    fn main(&mut self) {
        if let Some(chain) = self.left_to_post.next() {
            let relay = &mut self.relays[chain as usize % RELAYS];
            let message = self.recorder.draft.message(Name::one("pass", chain), relay.handler);
            self.recorder.draft.post(self.initial, message);
            relay.mailbox.push_back((message, chain));
        }
    }

    fn relay(&mut self, relay: usize, rng: &mut Rng) {
        let draft = &mut self.recorder.draft;
        if let Some((message, chain)) = self.relays[relay].step(self.mailbox, rng, draft) {
            let posted = draft.message(Name::one("arrive", chain), self.sink.handler);
            draft.post(message, posted);
            self.sink.mailbox.push_back((posted, chain));
        }
    }

    fn sink(&mut self, rng: &mut Rng) {
        if let Some((message, _)) = self.sink.step(self.mailbox, rng, &mut self.recorder.draft) {
            let variable = rng.index(self.variables as usize) as u32;
            self.recorder.access(message, variable, rng);
        }
    }
}
