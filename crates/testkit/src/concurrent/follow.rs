//! What a thread does, given what it saw.

use super::naive::own_value;
use super::{Call, Do, Stmt};

/// The results that a thread got, in order.
pub(super) type History = Vec<u64>;

/// What a thread is about to do, given what it saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Next {
    Op(Do),
    /// The operation and its last result.
    GiveWay(Do, u64),
    /// Gives way, and never waits.
    Yield,
    Fail(u32),
    Begin(Call),
    Return(Call),
    End,
}

/// A thread as far as it has come.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    pub(super) next: Next,
    /// The objects whose calls it is in.
    pub(super) within: Vec<usize>,
    /// What it saw but for the insides of calls.
    pub(super) seen: History,
}

/// Follows a thread through what it saw.
pub(super) fn follow(stmts: &[Stmt], history: &[u64]) -> Followed {
    let mut walk = Walk { history: history.iter(), last: 0, within: Vec::new(), seen: Vec::new() };
    let next = walk.along(stmts).unwrap_or(Next::End);
    Followed { next, within: walk.within, seen: walk.seen }
}

struct Walk<'h> {
    history: std::slice::Iter<'h, u64>,
    /// The last result.
    last: u64,
    within: Vec<usize>,
    seen: History,
}

impl Walk<'_> {
    fn result(&mut self) -> Option<u64> {
        let result = *self.history.next()?;
        if self.within.is_empty() {
            self.seen.push(result);
        }
        Some(result)
    }

    fn along(&mut self, stmts: &[Stmt]) -> Option<Next> {
        for stmt in stmts {
            match stmt {
                Stmt::Do(op) => match self.result() {
                    Some(result) => self.last = result,
                    None => return Some(Next::Op(resolve(*op, self.last))),
                },
                Stmt::Fail(number) => match self.result() {
                    Some(_) => {}
                    None => return Some(Next::Fail(*number)),
                },
                Stmt::If(value, then, otherwise) => {
                    let branch = if self.last == *value { then } else { otherwise };
                    if let Some(next) = self.along(branch) {
                        return Some(next);
                    }
                }
                Stmt::SpinUntil(op, until) => loop {
                    let Some(result) = self.result() else { return Some(Next::Op(*op)) };
                    self.last = result;
                    if result == *until {
                        break;
                    }
                    if self.result().is_none() {
                        return Some(Next::GiveWay(*op, result));
                    }
                },
                Stmt::SpinUpTo(spin) => {
                    let turns = spin.turns + if spin.is_more { self.last } else { 0 };
                    let mut in_vain = 0;
                    while in_vain < turns {
                        let mut is_over = false;
                        for op in &spin.body {
                            let Some(result) = self.result() else {
                                return Some(Next::Op(resolve(*op, self.last)));
                            };
                            self.last = result;
                            is_over |= result == spin.until;
                        }
                        if is_over {
                            break;
                        }
                        if self.result().is_none() {
                            return Some(Next::Yield);
                        }
                        in_vain += 1;
                    }
                    self.last = if spin.counts { in_vain } else { self.last };
                }
                Stmt::Call(call) => {
                    if self.history.next().is_none() {
                        return Some(Next::Begin((**call).clone()));
                    }
                    self.within.push(call.object);
                    if let Some(next) = self.along(&call.body) {
                        return Some(next);
                    }
                    if self.history.next().is_none() {
                        return Some(Next::Return((**call).clone()));
                    }
                    self.within.pop();
                    self.last = if call.returns { self.last } else { 0 };
                    if self.within.is_empty() {
                        self.seen.push(self.last);
                    }
                }
            }
        }
        None
    }
}

/// Puts the last result into an operation that depends on it.
fn resolve(op: Do, last: u64) -> Do {
    match op {
        Do::StoreNext(thing) => Do::Store(thing, last.wrapping_add(1)),
        Do::AlterOwn(thing, own) => Do::Alter(thing, own_value(own, last)),
        Do::AlterNext(thing) => Do::Alter(thing, last.wrapping_add(1)),
        Do::Pass(thing, _) => Do::Pass(thing, last >> 1),
        op => op,
    }
}
