//! Broadcast consensus among `n` nodes.
//!
//! Every node sends its value to all nodes, including itself. A node that collects a value keeps
//! the largest; with the last one it has decided, and notifies `main`.
//!
//! The paper gives a node two threads, one that broadcasts and one that collects; here the initial
//! message of the node broadcasts. Messages: `n` values a node, `n` decisions, `n + 1` initial
//! ones: `(n + 1)^2`. Events: `31n^2 + 42n + 13`.

use super::variables::{Row, Variables, main_and};
use crate::draft::Name;
use crate::simulator::{Body, Io, Program};

/// The program for a number of nodes; handler 0 is `main`, node `i` is handler `i + 1`.
pub(crate) struct Consensus {
    nodes: u32,
    variables: Variables,
    decided: u32,
    value: Row,
    largest: Row,
    collected: Row,
    decision: Row,
}

impl Consensus {
    pub(crate) fn new(nodes: u32) -> Consensus {
        let mut variables = Variables::default();
        Consensus {
            nodes,
            decided: variables.one("decided"),
            value: variables.row("value", nodes),
            largest: variables.row("largest", nodes),
            collected: variables.row("collected", nodes),
            decision: variables.row("decision", nodes),
            variables,
        }
    }

    /// Returns the number of events.
    pub(crate) fn events(size: u64) -> u64 {
        31 * size * size + 42 * size + 13
    }
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

    fn handlers(&self) -> Vec<Name> {
        main_and("node", self.nodes)
    }

    fn variables(&self) -> Vec<Name> {
        self.variables.names()
    }

    fn initial(&self, handler: u32) -> Message {
        if handler == 0 { Message::Main } else { Message::Broadcast(handler - 1) }
    }

    fn name(&self, message: &Message) -> Name {
        match *message {
            Message::Main | Message::Broadcast(_) => Name::AUTO,
            Message::Collect { from, to } => Name::two("collect", from, to),
            Message::Decided(node) => Name::one("node_decided", node),
        }
    }

    fn body(&self, message: &Message, io: &mut Io<Message>) -> Body {
        match *message {
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
                    io.post(to + 1, Message::Collect { from: node, to });
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
                    io.post(0, Message::Decided(to));
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
