//! Chang-Roberts leader election on a ring of `n` nodes.
//!
//! `main` starts every node. A started node sends its identity to the next one. A node that
//! receives a larger identity than its own passes it on, drops a smaller one, and has won when it
//! receives its own; the winner notifies `main`. Identities ascend along the ring, which is the
//! best case: all but the largest are dropped by the next node.
//!
//! Messages: `n` starts, `2n - 1` identities, the winner's, and `n + 1` initial ones: `4n + 1`.
//! Events: `96n - 31`. The numbers printed for sizes 4 and 8 are these; the printed ones for size 2
//! (207 events, 11 messages) fit no ring of two nodes with one election, whose identities make
//! three messages in any arrangement. Size 2 is 161 events and 9 messages here.

use crate::draft::Name;
use crate::setup::{Row, Setup};
use crate::simulator::{Body, Io, Program};

/// The program for a number of nodes; handler 0 is `main`, node `i` is handler `i + 1`.
pub(crate) struct ChangRoberts {
    nodes: u32,
    leader: u32,
    identity: Row,
    largest_seen: Row,
}

impl ChangRoberts {
    /// Sends an identity to the node after `node`.
    fn send(&self, identity: u64, node: u32, io: &mut Io<Message>) {
        let node = (node + 1) % self.nodes;
        let name = Name::two("identity", identity as u32 - 1, node);
        io.post(name, node + 1, Message::Identity { identity, node });
    }
}

#[derive(Clone, Copy)]
pub(crate) enum Message {
    Main,
    Node(u32),
    Start(u32),
    /// An identity on its way to a node.
    Identity {
        identity: u64,
        node: u32,
    },
    Elected(u64),
}

impl Program for ChangRoberts {
    type Message = Message;

    fn events(size: u64) -> u64 {
        96 * size - 31
    }

    fn new(nodes: u32, setup: &mut Setup<Message>) -> ChangRoberts {
        setup.main_and(Message::Main, "node", nodes, Message::Node);
        ChangRoberts {
            nodes,
            leader: setup.one("leader"),
            identity: setup.row("identity", nodes),
            largest_seen: setup.row("largest_seen", nodes),
        }
    }

    fn body(&self, message: Message, io: &mut Io<Message>) -> Body {
        match message {
            // 2 events, and a post a node.
            Message::Main => {
                io.write(self.leader, 0);
                io.read(self.leader)?;
                for node in 0..self.nodes {
                    io.post(Name::one("start", node), node + 1, Message::Start(node));
                }
            }
            // 6 events. Identities are positive: 0 is the initial value of variables.
            Message::Node(node) => {
                io.write(self.identity.at(node), u64::from(node) + 1);
                io.work(5);
            }
            // 12 accesses and a post.
            Message::Start(node) => {
                let identity = io.read(self.identity.at(node))?;
                io.work(10);
                io.write(self.largest_seen.at(node), identity);
                self.send(identity, node, io);
            }
            // 36 accesses, and a post unless it is dropped.
            Message::Identity { identity, node } => {
                let own = io.read(self.identity.at(node))?;
                let largest = io.read(self.largest_seen.at(node))?;
                io.work(33);
                io.write(self.largest_seen.at(node), largest.max(identity));
                if identity == own {
                    io.post(Name::plain("elected"), 0, Message::Elected(identity));
                } else if identity > own {
                    self.send(identity, node, io);
                }
            }
            // 3 accesses.
            Message::Elected(identity) => {
                io.read(self.leader)?;
                io.write(self.leader, identity);
                io.read(self.leader)?;
            }
        }
        Ok(())
    }
}
