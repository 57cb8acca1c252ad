//! Clients that write once and read once against servers, over a network that reorders and loses
//! nothing: Paxos, the register of Attiya, Bar-Noy and Dolev, and a single copy. The history of the
//! clients is part of the state, and has to be linearizable.

use anyorder_system::{Hash128, Properties, StateHash, StateSystem, Successor};
use std::fmt::Debug;
use std::hash::Hasher;

pub const SERVERS_MAX: usize = 3;
pub const CLIENTS_MAX: usize = 3;
pub const NETWORK_MAX: usize = 32;

/// A ballot, or a sequence number: a round and the node that began it.
pub type Ballot = (u8, u8);
/// A request, its client, and the value.
pub type Proposal = (u8, u8, u8);

/// The messages; their numbers are in the order of this list.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Message {
    Put { request: u8, value: u8 },
    Get { request: u8 },
    PutOk { request: u8 },
    GetOk { request: u8, value: u8 },
    Prepare { ballot: Ballot },
    Prepared { ballot: Ballot, accepted: Option<(Ballot, Proposal)> },
    Accept { ballot: Ballot, proposal: Proposal },
    Accepted { ballot: Ballot },
    Decided { ballot: Ballot, proposal: Proposal },
    Query { request: u8 },
    AckQuery { request: u8, sequence: Ballot, value: u8 },
    Record { request: u8, sequence: Ballot, value: u8 },
    AckRecord { request: u8 },
}

/// A message on its way, as a number: four bits for sender, receiver, kind and each field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Envelope(u64);

fn number(fields: &[u8]) -> u64 {
    debug_assert!(fields.iter().all(|field| *field < 16), "four bits each");
    fields.iter().fold(0, |number, field| number << 4 | u64::from(*field))
}

impl Envelope {
    pub fn new(from: u8, to: u8, message: Message) -> Envelope {
        let bytes: [u8; 8] = match message {
            Message::Put { request, value } => [0, request, value, 0, 0, 0, 0, 0],
            Message::Get { request } => [1, request, 0, 0, 0, 0, 0, 0],
            Message::PutOk { request } => [2, request, 0, 0, 0, 0, 0, 0],
            Message::GetOk { request, value } => [3, request, value, 0, 0, 0, 0, 0],
            Message::Prepare { ballot } => [4, ballot.0, ballot.1, 0, 0, 0, 0, 0],
            Message::Prepared { ballot, accepted: None } => [5, ballot.0, ballot.1, 0, 0, 0, 0, 0],
            Message::Prepared { ballot, accepted: Some((was, what)) } => {
                // Three fields more than the others.
                return Envelope(number(&[
                    from, to, 5, ballot.0, ballot.1, 1, was.0, was.1, what.0, what.1, what.2,
                ]));
            }
            Message::Accept { ballot, proposal } => {
                [6, ballot.0, ballot.1, proposal.0, proposal.1, proposal.2, 0, 0]
            }
            Message::Accepted { ballot } => [7, ballot.0, ballot.1, 0, 0, 0, 0, 0],
            Message::Decided { ballot, proposal } => {
                [8, ballot.0, ballot.1, proposal.0, proposal.1, proposal.2, 0, 0]
            }
            Message::Query { request } => [9, request, 0, 0, 0, 0, 0, 0],
            Message::AckQuery { request, sequence, value } => {
                [10, request, sequence.0, sequence.1, value, 0, 0, 0]
            }
            Message::Record { request, sequence, value } => {
                [11, request, sequence.0, sequence.1, value, 0, 0, 0]
            }
            Message::AckRecord { request } => [12, request, 0, 0, 0, 0, 0, 0],
        };
        Envelope(number(&[from, to]) << 36 | number(&bytes) << 4)
    }

    pub fn from(self) -> u8 {
        self.byte(0)
    }

    pub fn to(self) -> u8 {
        self.byte(1)
    }

    fn byte(self, place: u32) -> u8 {
        (self.0 >> (4 * (10 - place))) as u8 & 15
    }

    pub fn message(self) -> Message {
        let at = |place: u32| self.byte(place + 2);
        let (ballot, proposal) = ((at(1), at(2)), (at(3), at(4), at(5)));
        match at(0) {
            0 => Message::Put { request: at(1), value: at(2) },
            1 => Message::Get { request: at(1) },
            2 => Message::PutOk { request: at(1) },
            3 => Message::GetOk { request: at(1), value: at(2) },
            4 => Message::Prepare { ballot },
            5 => {
                let accepted = ((at(4), at(5)), (at(6), at(7), at(8)));
                Message::Prepared { ballot, accepted: (at(3) == 1).then_some(accepted) }
            }
            6 => Message::Accept { ballot, proposal },
            7 => Message::Accepted { ballot },
            8 => Message::Decided { ballot, proposal },
            9 => Message::Query { request: at(1) },
            10 => Message::AckQuery { request: at(1), sequence: (at(2), at(3)), value: at(4) },
            11 => Message::Record { request: at(1), sequence: (at(2), at(3)), value: at(4) },
            _ => Message::AckRecord { request: at(1) },
        }
    }
}

/// Messages on their way, sorted; a message sent twice is in it twice. Stored in place, so that a
/// state needs no allocation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Network {
    len: u8,
    envelopes: [Envelope; NETWORK_MAX],
}

impl Network {
    pub fn envelopes(&self) -> &[Envelope] {
        &self.envelopes[..usize::from(self.len)]
    }

    pub fn send(&mut self, envelope: Envelope) {
        let len = usize::from(self.len);
        let place = self.envelopes().partition_point(|other| *other < envelope);
        self.envelopes.copy_within(place..len, place + 1);
        self.envelopes[place] = envelope;
        self.len += 1;
    }

    pub fn take(&mut self, place: usize) {
        let len = usize::from(self.len);
        self.envelopes.copy_within(place + 1..len, place);
        self.envelopes[len - 1] = Envelope::default();
        self.len -= 1;
    }
}

/// Bytes without an allocation.
#[derive(Debug)]
pub struct Bytes {
    len: usize,
    bytes: [u8; 192],
}

impl Bytes {
    pub fn new() -> Bytes {
        Bytes { len: 0, bytes: [0; 192] }
    }

    pub fn push(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }

    pub fn extend_from_slice(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The protocol of a server.
pub trait Protocol: Sync {
    /// The memory of a server, as comparable bytes.
    type Server: Copy + Eq + Debug + Send + Sync;

    fn start(&self, id: u8) -> Self::Server;

    /// Takes a message. Returns false if the server ignores it.
    fn hear(
        &self,
        id: u8,
        server: &mut Self::Server,
        from: u8,
        message: Message,
        send: &mut dyn FnMut(u8, Message),
    ) -> bool;

    fn put(&self, server: &Self::Server, out: &mut Bytes);

    fn take(&self, bytes: &mut &[u8]) -> Option<Self::Server>;
}

/// The progress of a client: it writes, then reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Client {
    /// Operations that returned.
    pub returned: u8,
    /// The result of the read.
    pub read: u8,
    /// The number of completed operations of each client when the read began.
    pub before: [u8; CLIENTS_MAX],
}

/// The state of all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State<V> {
    pub servers: [V; SERVERS_MAX],
    pub clients: [Client; CLIENTS_MAX],
    pub network: Network,
}

/// Servers with a protocol, and clients.
#[derive(Clone, Copy, Debug)]
pub struct Registers<P> {
    pub protocol: P,
    pub servers: u8,
    pub clients: u8,
}

impl<P: Protocol> Registers<P> {
    /// Returns the positions of the messages that may arrive: of equal ones the first.
    pub fn deliveries(&self, state: &State<P::Server>) -> impl Iterator<Item = usize> + use<P> {
        let envelopes = state.network.envelopes();
        let mut first: u32 = 0;
        for (place, envelope) in envelopes.iter().enumerate() {
            first |= u32::from(place == 0 || envelopes[place - 1] != *envelope) << place;
        }
        (0..envelopes.len()).filter(move |place| first >> place & 1 == 1)
    }

    /// Returns the state after a message arrived; `None` if every receiver ignores it.
    pub fn deliver(&self, state: &State<P::Server>, place: usize) -> Option<State<P::Server>> {
        let envelope = state.network.envelopes()[place];
        let (from, to, message) = (envelope.from(), envelope.to(), envelope.message());
        let mut sent = [Envelope::default(); 8];
        let mut count = 0;
        let mut next = None;
        let heard = if to < self.servers {
            let mut server = state.servers[usize::from(to)];
            let heard =
                self.protocol.hear(to, &mut server, from, message, &mut |other, message| {
                    sent[count] = Envelope::new(to, other, message);
                    count += 1;
                });
            next = Some(server);
            heard || count > 0
        } else {
            let client = &state.clients[usize::from(to - self.servers)];
            matches!(message, Message::PutOk { request } if client.returned == 0 && request == to)
                || matches!(message, Message::GetOk { request, .. } if client.returned == 1 && request == 2 * to)
        };
        if !heard {
            return None;
        }
        let mut after = *state;
        after.network.take(place);
        match next {
            Some(server) => after.servers[usize::from(to)] = server,
            None => {
                self.client_hears(&mut after, to, message);
            }
        }
        for envelope in &sent[..count] {
            after.network.send(*envelope);
        }
        Some(after)
    }

    fn client_hears(&self, state: &mut State<P::Server>, to: u8, message: Message) -> bool {
        let index = usize::from(to - self.servers);
        let returned = state.clients[index].returned;
        // The first request of a client has its own number, the second twice that.
        match message {
            Message::PutOk { request } if returned == 0 && request == to => {
                let mut before = [0; CLIENTS_MAX];
                for (other, client) in state.clients.iter().enumerate() {
                    before[other] = if other == index { 0 } else { client.returned };
                }
                state.clients[index] = Client { returned: 1, read: 0, before };
                let get = Message::Get { request: 2 * to };
                state.network.send(Envelope::new(to, (to + 1) % self.servers, get));
                true
            }
            Message::GetOk { request, value } if returned == 1 && request == 2 * to => {
                state.clients[index].returned = 2;
                state.clients[index].read = value;
                true
            }
            _ => false,
        }
    }

    fn fields(&self, state: &State<P::Server>) -> Bytes {
        let mut bytes = Bytes::new();
        for server in &state.servers[..usize::from(self.servers)] {
            self.protocol.put(server, &mut bytes);
        }
        for client in &state.clients[..usize::from(self.clients)] {
            bytes.extend_from_slice(&[client.returned, client.read]);
            bytes.extend_from_slice(&client.before);
        }
        bytes
    }

    fn linearizable(&self, state: &State<P::Server>) -> bool {
        let clients = &state.clients[..usize::from(self.clients)];
        if clients.iter().all(|client| client.returned < 2) {
            return true;
        }
        order(clients, [0; CLIENTS_MAX], 0)
    }
}

/// Tries all orders of operations: `done` operations of each client are in it, `value` is in the
/// register.
fn order(clients: &[Client], done: [u8; CLIENTS_MAX], value: u8) -> bool {
    if clients.iter().zip(done).all(|(client, done)| done >= client.returned) {
        return true;
    }
    for (index, client) in clients.iter().enumerate() {
        let mut next = done;
        next[index] += 1;
        let value = match done[index] {
            0 => 1 + index as u8,
            1 if client.before.iter().zip(done).any(|(before, done)| *before > done) => continue,
            1 if client.returned == 2 && client.read != value => continue,
            1 if client.returned >= 1 => value,
            _ => continue,
        };
        if order(clients, next, value) {
            return true;
        }
    }
    false
}

impl<P: Protocol> StateSystem for Registers<P> {
    type State = State<P::Server>;
    type Action = Envelope;

    fn initial(&self) -> Vec<Self::State> {
        let mut network = Network::default();
        for client in 0..self.clients {
            let id = self.servers + client;
            let put = Message::Put { request: id, value: 1 + client };
            network.send(Envelope::new(id, id % self.servers, put));
        }
        let servers = [0, 1, 2].map(|id| self.protocol.start(id));
        vec![State { servers, clients: Default::default(), network }]
    }

    fn successors(&self, state: &Self::State, out: &mut Vec<Successor<Self::State, Envelope>>) {
        for place in self.deliveries(state) {
            if let Some(after) = self.deliver(state, place) {
                let action = state.network.envelopes()[place];
                out.push(Successor { action, state: after, failure: None });
            }
        }
    }

    fn fingerprint(&self, state: &Self::State) -> Hash128 {
        let mut hash = StateHash::new();
        hash.write(self.fields(state).as_slice());
        for envelope in state.network.envelopes() {
            hash.write_u64(envelope.0);
        }
        hash.finish128()
    }

    fn encode(&self, state: &Self::State, out: &mut Vec<u8>) {
        out.extend_from_slice(self.fields(state).as_slice());
        for envelope in state.network.envelopes() {
            out.extend_from_slice(&envelope.0.to_be_bytes()[2..]);
        }
    }

    fn decode(&self, mut bytes: &[u8]) -> Option<Self::State> {
        let mut servers = [0, 1, 2].map(|id| self.protocol.start(id));
        for server in &mut servers[..usize::from(self.servers)] {
            *server = self.protocol.take(&mut bytes)?;
        }
        let mut clients = [Client::default(); CLIENTS_MAX];
        for client in &mut clients[..usize::from(self.clients)] {
            let (fields, rest) = bytes.split_first_chunk::<5>()?;
            let before = [fields[2], fields[3], fields[4]];
            *client = Client { returned: fields[0], read: fields[1], before };
            bytes = rest;
        }
        let (envelopes, rest) = bytes.as_chunks::<6>();
        let mut network = Network::default();
        for bytes in envelopes.iter().take(NETWORK_MAX) {
            let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
            network.send(Envelope(number));
        }
        rest.is_empty().then_some(State { servers, clients, network })
    }

    fn properties(&self) -> Properties<'_, Self::State> {
        Properties::new().invariant("linearizable", |state| self.linearizable(state))
    }

    fn describe(&self, _state: &Self::State, action: &Envelope) -> String {
        format!("{} to {}: {:?}", action.from(), action.to(), action.message())
    }

    fn show(&self, state: &Self::State) -> Vec<(String, String)> {
        let servers = state.servers.iter().take(usize::from(self.servers)).enumerate();
        let servers = servers.map(|(id, server)| (format!("server {id}"), format!("{server:?}")));
        let clients = state.clients.iter().take(usize::from(self.clients)).enumerate();
        let clients = clients.map(|(id, client)| (format!("client {id}"), format!("{client:?}")));
        servers.chain(clients).collect()
    }
}
