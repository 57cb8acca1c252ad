//! Models with known numbers of states, for benches and tests.

#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    reason = "each bench and test uses some of them"
)]

pub mod two_phase;

pub mod abd;
pub mod paxos;
pub mod registers;

use abd::{Abd, SingleCopy};
use paxos::Paxos;
use registers::Registers;

pub fn paxos(clients: u8) -> Registers<Paxos> {
    Registers { protocol: Paxos { servers: 3 }, servers: 3, clients }
}

pub fn abd(servers: u8, clients: u8) -> Registers<Abd> {
    Registers { protocol: Abd { servers }, servers, clients }
}

pub fn single_copy(servers: u8, clients: u8) -> Registers<SingleCopy> {
    Registers { protocol: SingleCopy, servers, clients }
}
