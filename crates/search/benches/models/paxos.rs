//! Single-decree Paxos after Lamport, "Paxos Made Simple" (2001), a leader a request.

use super::registers::{Ballot, Bytes, Message, Proposal, Protocol, SERVERS_MAX};

#[derive(Clone, Copy, Debug)]
pub struct Paxos {
    pub servers: u8,
}

type Accepted = Option<(Ballot, Proposal)>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Server {
    ballot: Ballot,
    proposal: Option<Proposal>,
    /// The nodes that prepared, and the proposal that each had accepted.
    prepares: [Option<Accepted>; SERVERS_MAX],
    /// The nodes that accepted, as bits.
    accepts: u8,
    accepted: Accepted,
    decided: bool,
}

impl Paxos {
    fn majority(self) -> usize {
        usize::from(self.servers) / 2 + 1
    }

    fn tell_others(self, id: u8, message: Message, send: &mut dyn FnMut(u8, Message)) {
        for other in (0..self.servers).filter(|other| *other != id) {
            send(other, message);
        }
    }
}

impl Protocol for Paxos {
    type Server = Server;

    fn start(&self, _id: u8) -> Server {
        Server {
            ballot: (0, 0),
            proposal: None,
            prepares: [None; SERVERS_MAX],
            accepts: 0,
            accepted: None,
            decided: false,
        }
    }

    fn hear(
        &self,
        id: u8,
        server: &mut Server,
        from: u8,
        message: Message,
        send: &mut dyn FnMut(u8, Message),
    ) -> bool {
        if server.decided {
            if let (Message::Get { request }, Some((_, (_, _, value)))) = (message, server.accepted)
            {
                send(from, Message::GetOk { request, value });
            }
            return false;
        }
        match message {
            Message::Put { request, value } if server.proposal.is_none() => {
                server.proposal = Some((request, from, value));
                server.prepares = [None; SERVERS_MAX];
                server.accepts = 0;
                server.ballot = (server.ballot.0 + 1, id);
                server.prepares[usize::from(id)] = Some(server.accepted);
                self.tell_others(id, Message::Prepare { ballot: server.ballot }, send);
            }
            Message::Prepare { ballot } if server.ballot < ballot => {
                server.ballot = ballot;
                send(from, Message::Prepared { ballot, accepted: server.accepted });
            }
            Message::Prepared { ballot, accepted } if ballot == server.ballot => {
                server.prepares[usize::from(from)] = Some(accepted);
                if server.prepares.iter().flatten().count() == self.majority() {
                    let last = server.prepares.iter().flatten().max().copied().flatten();
                    let proposal = last.map(|(_, proposal)| proposal).or(server.proposal);
                    let Some(proposal) = proposal else { return true };
                    server.proposal = Some(proposal);
                    server.accepted = Some((ballot, proposal));
                    server.accepts |= 1 << id;
                    self.tell_others(id, Message::Accept { ballot, proposal }, send);
                }
            }
            Message::Accept { ballot, proposal } if server.ballot <= ballot => {
                server.ballot = ballot;
                server.accepted = Some((ballot, proposal));
                send(from, Message::Accepted { ballot });
            }
            Message::Accepted { ballot } if ballot == server.ballot => {
                server.accepts |= 1 << from;
                if let (true, Some(proposal)) =
                    (server.accepts.count_ones() as usize == self.majority(), server.proposal)
                {
                    server.decided = true;
                    self.tell_others(id, Message::Decided { ballot, proposal }, send);
                    send(proposal.1, Message::PutOk { request: proposal.0 });
                }
            }
            Message::Decided { ballot, proposal } => {
                server.ballot = ballot;
                server.accepted = Some((ballot, proposal));
                server.decided = true;
            }
            _ => return false,
        }
        true
    }

    fn put(&self, server: &Server, out: &mut Bytes) {
        out.extend_from_slice(&[
            server.ballot.0,
            server.ballot.1,
            server.accepts,
            server.decided.into(),
        ]);
        put_proposal(server.proposal, out);
        put_accepted(server.accepted, out);
        for prepared in &server.prepares[..usize::from(self.servers)] {
            out.push(prepared.is_some().into());
            if let Some(accepted) = prepared {
                put_accepted(*accepted, out);
            }
        }
    }

    fn take(&self, bytes: &mut &[u8]) -> Option<Server> {
        let [round, leader, accepts, decided] = take(bytes)?;
        let proposal = take_proposal(bytes)?;
        let accepted = take_accepted(bytes)?;
        let mut prepares = [None; SERVERS_MAX];
        for prepared in &mut prepares[..usize::from(self.servers)] {
            let [some] = take(bytes)?;
            *prepared = if some == 1 { Some(take_accepted(bytes)?) } else { None };
        }
        let (ballot, decided) = ((round, leader), decided == 1);
        Some(Server { ballot, proposal, prepares, accepts, accepted, decided })
    }
}

pub fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*taken)
}

fn put_proposal(proposal: Option<Proposal>, out: &mut Bytes) {
    out.push(proposal.is_some().into());
    if let Some((request, client, value)) = proposal {
        out.extend_from_slice(&[request, client, value]);
    }
}

fn put_accepted(accepted: Accepted, out: &mut Bytes) {
    out.push(accepted.is_some().into());
    if let Some((ballot, (request, client, value))) = accepted {
        out.extend_from_slice(&[ballot.0, ballot.1, request, client, value]);
    }
}

fn take_proposal(bytes: &mut &[u8]) -> Option<Option<Proposal>> {
    let [some] = take(bytes)?;
    if some == 0 {
        return Some(None);
    }
    let [request, client, value] = take(bytes)?;
    Some(Some((request, client, value)))
}

fn take_accepted(bytes: &mut &[u8]) -> Option<Accepted> {
    let [some] = take(bytes)?;
    if some == 0 {
        return Some(None);
    }
    let [round, leader, request, client, value] = take(bytes)?;
    Some(Some(((round, leader), (request, client, value))))
}
