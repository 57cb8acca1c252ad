//! Message loop: two chains of messages go round a ring of `n` handlers.
//!
//! A handler that gets a message counts it in a global counter, and sends a message to the next
//! handler. Each chain passes every handler `2n` times, `4n^2` messages in all; then it comes to
//! the first handler once more as a stop, which sends an acknowledgement to the second.
//!
//! Messages: those, 4 for the two endings, and `n + 1` initial ones: `4n^2 + n + 5`. Events:
//! `56n^2 + 7n + 30`.

use crate::draft::Name;
use crate::setup::{Row, Setup};
use crate::simulator::{Body, Io, Program};

/// The program for a number of handlers in the ring; handler 0 is `main`, which starts the chains.
pub(crate) struct MessageLoop {
    handlers: u32,
    counter: u32,
    seen: Row,
    stopped: Row,
}

impl MessageLoop {
    /// Sends the message of a chain that makes `hop` hops before it.
    fn hop(&self, chain: u32, hop: u32, io: &mut Io<Message>) {
        let last = 2 * self.handlers * self.handlers;
        if hop < last {
            let name = Name::two("hop", chain, hop);
            io.post(name, hop % self.handlers + 1, Message::Hop { chain, hop });
        } else {
            io.post(Name::one("stop", chain), 1, Message::Stop { chain });
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Message {
    Main,
    Member(u32),
    Hop { chain: u32, hop: u32 },
    Stop { chain: u32 },
    Acknowledge { chain: u32 },
}

impl Program for MessageLoop {
    type Message = Message;

    fn events(size: u64) -> u64 {
        56 * size * size + 7 * size + 30
    }

    fn new(handlers: u32, setup: &mut Setup<Message>) -> MessageLoop {
        setup.main_and(Message::Main, "ring", handlers, Message::Member);
        MessageLoop {
            handlers,
            counter: setup.one("counter"),
            seen: setup.row("seen", handlers),
            stopped: setup.row("stopped", 2),
        }
    }

    fn body(&self, message: Message, io: &mut Io<Message>) -> Body {
        match message {
            // 8 events and 2 posts.
            Message::Main => {
                io.write(self.counter, 0);
                io.work(7);
                self.hop(0, 0, io);
                self.hop(1, 0, io);
            }
            // 7 events.
            Message::Member(member) => {
                io.write(self.seen.at(member), 0);
                io.work(6);
            }
            // 12 accesses and a post.
            Message::Hop { chain, hop } => {
                let count = io.read(self.counter)?;
                io.write(self.counter, count + 1);
                let seen = self.seen.at(hop % self.handlers);
                let times = io.read(seen)?;
                io.write(seen, times + 1);
                io.work(8);
                self.hop(chain, hop + 1, io);
            }
            // 4 accesses and a post.
            Message::Stop { chain } => {
                io.read(self.counter)?;
                io.work(2);
                io.write(self.stopped.at(chain), 1);
                let name = Name::one("acknowledge", chain);
                io.post(name, 1 % self.handlers + 1, Message::Acknowledge { chain });
            }
            // 3 accesses.
            Message::Acknowledge { chain } => {
                io.read(self.stopped.at(chain))?;
                io.work(2);
            }
        }
        Ok(())
    }
}
