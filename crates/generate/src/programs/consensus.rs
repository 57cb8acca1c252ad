//! Broadcast consensus among `n` nodes.
//!
//! Every node sends its value to all nodes, including itself. A node that collects a value keeps
//! the largest; with the last one it has decided, and notifies `main`.
//!
//! The paper gives a node two threads, one that broadcasts and one that collects; here the initial
//! message of the node broadcasts. Messages: `n` values a node, `n` decisions, `n + 1` initial
//! ones: `(n + 1)^2`. Events: `31n^2 + 42n + 13`.

use crate::draft::Name;
use crate::setup::{Row, Setup};
use crate::simulator::{Body, Io, Program};

/// The program for a number of nodes; handler 0 is `main`, node `i` is handler `i + 1`.
pub(crate) struct Consensus {
    nodes: u32,
    decided: u32,
    value: Row,
    largest: Row,
    collected: Row,
    decision: Row,
}

#[derive(Clone, Copy)]
pub(crate) enum Message {
    Main,
    Broadcast(u32),
    /// A value on its way to a node.
    Collect {
        from: u32,
        to: u32,
    },
    Decided(u32),
}

impl Program for Consensus {
    type Message = Message;

    fn events(size: u64) -> u64 {
        31 * size * size + 42 * size + 13
    }

    fn new(nodes: u32, setup: &mut Setup<Message>) -> Consensus {
        setup.main_and(Message::Main, "node", nodes, Message::Broadcast);
        Consensus {
            nodes,
            decided: setup.one("decided"),
            value: setup.row("value", nodes),
            largest: setup.row("largest", nodes),
            collected: setup.row("collected", nodes),
            decision: setup.row("decision", nodes),
        }
    }

    fn body(&self, message: Message, io: &mut Io<Message>) -> Body {
        match message {
            // 13 events.
            Message::Main => {
                io.write(self.decided, 0);
                io.work(12);
            }
            // 10 events, and a post a node.
            Message::Broadcast(node) => {
                io.write(self.value.at(node), u64::from(node) * 7 % 5 + 1);
                io.work(9);
                for to in 0..self.nodes {
                    let name = Name::two("collect", node, to);
                    io.post(name, to + 1, Message::Collect { from: node, to });
                }
            }
            // 29 accesses, and a post with the last one.
            Message::Collect { from, to } => {
                let value = io.read(self.value.at(from))?;
                let largest = io.read(self.largest.at(to))?;
                io.work(23);
                io.write(self.largest.at(to), largest.max(value));
                let collected = io.read(self.collected.at(to))? + 1;
                io.write(self.collected.at(to), collected);
                if collected == u64::from(self.nodes) {
                    io.write(self.decision.at(to), largest.max(value));
                    io.post(Name::one("node_decided", to), 0, Message::Decided(to));
                } else {
                    io.read(self.decision.at(to))?;
                }
            }
            // 30 accesses.
            Message::Decided(node) => {
                io.read(self.decision.at(node))?;
                io.work(27);
                let decided = io.read(self.decided)?;
                io.write(self.decided, decided + 1);
            }
        }
        Ok(())
    }
}
