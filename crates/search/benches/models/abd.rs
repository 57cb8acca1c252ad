//! The register of Attiya, Bar-Noy and Dolev, "Sharing Memory Robustly in Message-Passing Systems"
//! (1995), and one copy only.

use super::paxos::take;
use super::registers::{Ballot, Bytes, Message, Protocol, SERVERS_MAX};

#[derive(Clone, Copy, Debug)]
pub struct Abd {
    pub servers: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Phase {
    Idle,
    Asking {
        request: u8,
        client: u8,
        write: Option<u8>,
        answers: [Option<(Ballot, u8)>; SERVERS_MAX],
    },
    Recording {
        request: u8,
        client: u8,
        read: Option<u8>,
        acks: u8,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Server {
    sequence: Ballot,
    value: u8,
    phase: Phase,
}

impl Abd {
    fn majority(self) -> usize {
        usize::from(self.servers) / 2 + 1
    }

    fn tell_others(self, id: u8, message: Message, send: &mut dyn FnMut(u8, Message)) {
        for other in (0..self.servers).filter(|other| *other != id) {
            send(other, message);
        }
    }

    fn ask(
        self,
        id: u8,
        server: &mut Server,
        (client, request, write): (u8, u8, Option<u8>),
        send: &mut dyn FnMut(u8, Message),
    ) {
        self.tell_others(id, Message::Query { request }, send);
        let mut answers = [None; SERVERS_MAX];
        answers[usize::from(id)] = Some((server.sequence, server.value));
        server.phase = Phase::Asking { request, client, write, answers };
    }
}

impl Protocol for Abd {
    type Server = Server;

    fn start(&self, id: u8) -> Server {
        Server { sequence: (0, id), value: 0, phase: Phase::Idle }
    }

    fn hear(
        &self,
        id: u8,
        server: &mut Server,
        from: u8,
        message: Message,
        send: &mut dyn FnMut(u8, Message),
    ) -> bool {
        match (message, server.phase) {
            (Message::Put { request, value }, Phase::Idle) => {
                self.ask(id, server, (from, request, Some(value)), send);
            }
            (Message::Get { request }, Phase::Idle) => {
                self.ask(id, server, (from, request, None), send);
            }
            (Message::Query { request }, _) => {
                let (sequence, value) = (server.sequence, server.value);
                send(from, Message::AckQuery { request, sequence, value });
                return false;
            }
            (
                Message::AckQuery { request: answered, sequence, value },
                Phase::Asking { request, client, write, mut answers },
            ) if request == answered => {
                answers[usize::from(from)] = Some((sequence, value));
                server.phase = Phase::Asking { request, client, write, answers };
                if answers.iter().flatten().count() == self.majority() {
                    let latest = answers.iter().flatten().max_by_key(|(sequence, _)| sequence);
                    let Some((latest, value)) = latest.copied() else { return true };
                    let sequence = if write.is_some() { (latest.0 + 1, id) } else { latest };
                    let read = if write.is_some() { None } else { Some(value) };
                    let value = write.unwrap_or(value);
                    self.tell_others(id, Message::Record { request, sequence, value }, send);
                    if sequence > server.sequence {
                        server.sequence = sequence;
                        server.value = value;
                    }
                    server.phase = Phase::Recording { request, client, read, acks: 1 << id };
                }
            }
            (Message::Record { request, sequence, value }, _) => {
                send(from, Message::AckRecord { request });
                if sequence > server.sequence {
                    server.sequence = sequence;
                    server.value = value;
                    return true;
                }
                return false;
            }
            (
                Message::AckRecord { request: answered },
                Phase::Recording { request, client, read, acks },
            ) if request == answered && acks & (1 << from) == 0 => {
                let acks = acks | 1 << from;
                server.phase = Phase::Recording { request, client, read, acks };
                if acks.count_ones() as usize == self.majority() {
                    let reply = match read {
                        Some(value) => Message::GetOk { request, value },
                        None => Message::PutOk { request },
                    };
                    send(client, reply);
                    server.phase = Phase::Idle;
                }
            }
            _ => return false,
        }
        true
    }

    fn put(&self, server: &Server, out: &mut Bytes) {
        out.extend_from_slice(&[server.sequence.0, server.sequence.1, server.value]);
        match server.phase {
            Phase::Idle => out.push(0),
            Phase::Asking { request, client, write, answers } => {
                out.extend_from_slice(&[
                    1,
                    request,
                    client,
                    write.is_some().into(),
                    write.unwrap_or(0),
                ]);
                for answer in &answers[..usize::from(self.servers)] {
                    let (sequence, value) = answer.unwrap_or_default();
                    out.extend_from_slice(&[
                        answer.is_some().into(),
                        sequence.0,
                        sequence.1,
                        value,
                    ]);
                }
            }
            Phase::Recording { request, client, read, acks } => {
                out.extend_from_slice(&[
                    2,
                    request,
                    client,
                    read.is_some().into(),
                    read.unwrap_or(0),
                    acks,
                ]);
            }
        }
    }

    fn take(&self, bytes: &mut &[u8]) -> Option<Server> {
        let [round, owner, value, phase] = take(bytes)?;
        let phase = match phase {
            0 => Phase::Idle,
            1 => {
                let [request, client, some, write] = take(bytes)?;
                let mut answers = [None; SERVERS_MAX];
                for answer in &mut answers[..usize::from(self.servers)] {
                    let [some, round, owner, value] = take(bytes)?;
                    *answer = (some == 1).then_some(((round, owner), value));
                }
                Phase::Asking { request, client, write: (some == 1).then_some(write), answers }
            }
            _ => {
                let [request, client, some, read, acks] = take(bytes)?;
                Phase::Recording { request, client, read: (some == 1).then_some(read), acks }
            }
        };
        Some(Server { sequence: (round, owner), value, phase })
    }
}

/// A register with one copy, or several independent ones.
#[derive(Clone, Copy, Debug)]
pub struct SingleCopy;

impl Protocol for SingleCopy {
    type Server = u8;

    fn start(&self, _id: u8) -> u8 {
        0
    }

    fn hear(
        &self,
        _id: u8,
        server: &mut u8,
        from: u8,
        message: Message,
        send: &mut dyn FnMut(u8, Message),
    ) -> bool {
        match message {
            Message::Put { request, value } => {
                *server = value;
                send(from, Message::PutOk { request });
            }
            Message::Get { request } => send(from, Message::GetOk { request, value: *server }),
            _ => return false,
        }
        true
    }

    fn put(&self, server: &u8, out: &mut Bytes) {
        out.push(*server);
    }

    fn take(&self, bytes: &mut &[u8]) -> Option<u8> {
        take(bytes).map(|[value]| value)
    }
}
