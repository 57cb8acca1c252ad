//! Counting: which of `n` handlers sent the last message?
//!
//! `main` starts every handler. A started handler sends a message to every other handler, and
//! finally one to itself. A handler that gets a message from another one records the sender; with
//! its own message it reads the record.
//!
//! Messages: `n` starts, `n` messages to each handler, and `n + 1` initial ones: `(n + 1)^2`.
//! Events: `24n^2 + 13n + 7`.

use crate::draft::Name;
use crate::setup::{Row, Setup};
use crate::simulator::{Body, Io, Program};

/// The program for a number of handlers besides `main`, which is handler 0.
pub(crate) struct Counting {
    counters: u32,
    started: u32,
    heard_last: Row,
    answer: Row,
}

#[derive(Clone, Copy)]
pub(crate) enum Message {
    Main,
    Counter,
    Start(u32),
    Hello { from: u32, to: u32 },
}

impl Program for Counting {
    type Message = Message;

    fn events(size: u64) -> u64 {
        24 * size * size + 13 * size + 7
    }

    fn new(counters: u32, setup: &mut Setup<Message>) -> Counting {
        setup.main_and(Message::Main, "counter", counters, |_| Message::Counter);
        Counting {
            counters,
            started: setup.one("started"),
            heard_last: setup.row("heard_last", counters),
            answer: setup.row("answer", counters),
        }
    }

    fn body(&self, message: Message, io: &mut Io<Message>) -> Body {
        match message {
            // 7 events, and a post a counter.
            Message::Main => {
                io.write(self.started, u64::from(self.counters));
                io.work(6);
                for counter in 0..self.counters {
                    io.post(Name::one("start", counter), counter + 1, Message::Start(counter));
                }
            }
            // 3 events.
            Message::Counter => io.work(3),
            // 8 accesses, and a post a counter, the one to itself last.
            Message::Start(counter) => {
                io.read(self.started)?;
                io.work(7);
                let others = (0..self.counters).filter(|to| *to != counter);
                for to in others.chain([counter]) {
                    let name = Name::two("hello", counter, to);
                    io.post(name, to + 1, Message::Hello { from: counter, to });
                }
            }
            // 22 accesses.
            Message::Hello { from, to } if from == to => {
                io.work(20);
                let heard = io.read(self.heard_last.at(to))?;
                io.write(self.answer.at(to), heard);
            }
            // 22 accesses.
            Message::Hello { from, to } => {
                io.work(21);
                io.write(self.heard_last.at(to), u64::from(from) + 1);
            }
        }
        Ok(())
    }
}
