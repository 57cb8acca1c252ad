//! `flat`: four handlers whose initial messages post to one another, and no posted message posts.
//!
//! `n` messages in all, 20 events each: an initial message has 20 accesses, every other one a post,
//! a get and 18 accesses. Accesses go mostly to variables of one message alone.
//!
//! `20n` events, `n` messages (including the four initial ones), 4 handlers.

use crate::draft::{Draft, Name};
use crate::error::GenerateError;
use crate::generate::checked_size;
use crate::recorder::Recorder;
use crate::request::{Request, RunMailbox};
use anyorder_common::random::{Random, Rng};
use std::collections::VecDeque;

const HANDLERS: u32 = 4;

/// The number of accesses of an initial message, and of a posted one.
const ACCESSES: [u32; 2] = [20, 18];

/// One access in this many goes to a shared variable.
const SHARED_ONE_IN: u64 = 20;

/// Makes the draft of a request.
pub(crate) fn draft_of(request: &Request) -> Result<Draft, GenerateError> {
    let size = checked_size(request, u64::from(HANDLERS) + 1, |size| 20 * size)?;
    let mut run = Run::new(size, request);
    while run.step() {}
    Ok(run.recorder.draft)
}

/// The state of a running handler.
struct Running {
    message: u32,
    own_variable: u32,
    accesses_left: u32,
    /// The handlers to which it still posts, last one first.
    posts_left: Vec<u32>,
}

impl Running {
    fn new(message: u32, accesses_left: u32, recorder: &mut Recorder) -> Running {
        let own_variable = recorder.variable(Name::AUTO);
        Running { message, own_variable, accesses_left, posts_left: Vec::new() }
    }
}

struct Run {
    mailbox: RunMailbox,
    rng: Rng,
    recorder: Recorder,
    shared: Vec<u32>,
    /// By handler.
    running: Vec<Option<Running>>,
    mailboxes: Vec<VecDeque<u32>>,
}

impl Run {
    fn new(size: u32, request: &Request) -> Run {
        let mut rng = Rng::for_purpose(request.seed, *b"flat");
        let mut recorder = Recorder::default();
        let shared =
            (0..size).map(|number| recorder.variable(Name::one("shared", number))).collect();
        let mut running = Vec::new();
        for number in 0..HANDLERS {
            let handler = recorder.draft.handler(Name::one("handler", number));
            let message = recorder.draft.initial(handler);
            running.push(Running::new(message, ACCESSES[0], &mut recorder));
        }
        for number in 0..size - HANDLERS {
            let to = rng.index(HANDLERS as usize) as u32;
            running[(number % HANDLERS) as usize].posts_left.push(to);
        }
        Run {
            mailbox: request.mailbox,
            rng,
            recorder,
            shared,
            running: running.into_iter().map(Some).collect(),
            mailboxes: vec![VecDeque::new(); HANDLERS as usize],
        }
    }

    /// Executes one event of a random handler; returns `false` when none is enabled.
    fn step(&mut self) -> bool {
        let able: Vec<usize> = (0..self.running.len())
            .filter(|handler| {
                self.running[*handler].is_some() || !self.mailboxes[*handler].is_empty()
            })
            .collect();
        let Some(handler) = able.get(self.rng.index(able.len())).copied() else { return false };
        match self.running[handler].take() {
            Some(mut running) => {
                self.event(&mut running);
                if running.accesses_left > 0 || !running.posts_left.is_empty() {
                    self.running[handler] = Some(running);
                }
            }
            None => self.begin(handler),
        }
        true
    }

    fn begin(&mut self, handler: usize) {
        if let Some(message) = self.mailbox.take(&mut self.mailboxes[handler], &mut self.rng) {
            self.recorder.draft.get(message);
            self.running[handler] = Some(Running::new(message, ACCESSES[1], &mut self.recorder));
        }
    }

    /// Executes one of the remaining accesses and posts, at random.
    fn event(&mut self, running: &mut Running) {
        let left = running.accesses_left as usize + running.posts_left.len();
        if self.rng.index(left) >= running.accesses_left as usize {
            if let Some(to) = running.posts_left.pop() {
                let message = self.recorder.draft.message(Name::AUTO, to);
                self.recorder.draft.post(running.message, message);
                self.mailboxes[to as usize].push_back(message);
            }
            return;
        }
        running.accesses_left -= 1;
        let variable = if self.rng.below(SHARED_ONE_IN) == 0 {
            self.shared[self.rng.index(self.shared.len())]
        } else {
            running.own_variable
        };
        self.recorder.access(running.message, variable, &mut self.rng);
    }
}
