//! Two-phase commit after Gray and Lamport, "Consensus on Transaction Commit" (2006): one
//! coordinator, up to 16 participants, messages that are never lost and never used up.

use anyorder_system::{Hash128, Properties, StateHash, StateSystem, Successor};
use std::hash::Hasher;

/// The state of a participant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Participant {
    Working,
    Prepared,
    Committed,
    Aborted,
}

/// The state of all: sets of participants are bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State {
    /// Two bits a participant.
    participants: u32,
    /// The participants that the coordinator knows to be prepared.
    known_prepared: u16,
    /// The senders of `prepared`.
    sent_prepared: u16,
    /// 0 undecided, 1 committed, 2 aborted.
    decision: u8,
}

impl State {
    fn participant(&self, index: u32) -> Participant {
        match self.participants >> (2 * index) & 3 {
            0 => Participant::Working,
            1 => Participant::Prepared,
            2 => Participant::Committed,
            _ => Participant::Aborted,
        }
    }

    fn set(mut self, index: u32, participant: Participant) -> State {
        self.participants &= !(3 << (2 * index));
        self.participants |= (participant as u32) << (2 * index);
        self
    }

    /// Returns the state after an action.
    #[inline]
    pub fn after(self, action: Action) -> State {
        match action {
            Action::Commit => State { decision: 1, ..self },
            Action::Abort => State { decision: 2, ..self },
            Action::CoordinatorHears(index) => {
                State { known_prepared: self.known_prepared | 1 << index, ..self }
            }
            Action::Prepare(index) => {
                let sent_prepared = self.sent_prepared | 1 << index;
                State { sent_prepared, ..self.set(index, Participant::Prepared) }
            }
            Action::ChooseAbort(index) | Action::HearAbort(index) => {
                self.set(index, Participant::Aborted)
            }
            Action::HearCommit(index) => self.set(index, Participant::Committed),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Commit,
    Abort,
    CoordinatorHears(u32),
    Prepare(u32),
    ChooseAbort(u32),
    HearCommit(u32),
    HearAbort(u32),
}

/// The protocol with so many participants.
#[derive(Clone, Copy, Debug)]
pub struct TwoPhase {
    pub participants: u32,
}

impl TwoPhase {
    /// Names the possible actions in a state.
    #[inline]
    pub fn actions(&self, state: &State, mut may: impl FnMut(Action)) {
        let all = (1u32 << self.participants) - 1;
        if state.decision == 0 {
            if u32::from(state.known_prepared) == all {
                may(Action::Commit);
            }
            may(Action::Abort);
        }
        for index in 0..self.participants {
            if state.decision == 0 && state.sent_prepared & (1 << index) != 0 {
                may(Action::CoordinatorHears(index));
            }
            if state.participant(index) == Participant::Working {
                may(Action::Prepare(index));
                may(Action::ChooseAbort(index));
            }
            match state.decision {
                1 => may(Action::HearCommit(index)),
                2 => may(Action::HearAbort(index)),
                _ => {}
            }
        }
    }
}

impl StateSystem for TwoPhase {
    type State = State;
    type Action = Action;

    fn initial(&self) -> Vec<State> {
        vec![State { participants: 0, known_prepared: 0, sent_prepared: 0, decision: 0 }]
    }

    fn successors(&self, state: &State, out: &mut Vec<Successor<State, Action>>) {
        self.actions(state, |action| {
            out.push(Successor { action, state: state.after(action), failure: None });
        });
    }

    fn fingerprint(&self, state: &State) -> Hash128 {
        let mut hash = StateHash::new();
        hash.write_u64(u64::from(state.participants) << 32 | u64::from(state.known_prepared));
        hash.write_u32(u32::from(state.sent_prepared) << 8 | u32::from(state.decision));
        hash.finish128()
    }

    fn encode(&self, state: &State, out: &mut Vec<u8>) {
        out.extend_from_slice(&state.participants.to_le_bytes());
        out.extend_from_slice(&state.known_prepared.to_le_bytes());
        out.extend_from_slice(&state.sent_prepared.to_le_bytes());
        out.push(state.decision);
    }

    fn decode(&self, bytes: &[u8]) -> Option<State> {
        let bytes: &[u8; 9] = bytes.try_into().ok()?;
        Some(State {
            participants: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
            known_prepared: u16::from_le_bytes([bytes[4], bytes[5]]),
            sent_prepared: u16::from_le_bytes([bytes[6], bytes[7]]),
            decision: bytes[8],
        })
    }

    fn properties(&self) -> Properties<'_, State> {
        Properties::new().invariant("consistent", |state: &State| {
            let low = 0x5555_5555;
            let (high_bits, low_bits) = (state.participants >> 1 & low, state.participants & low);
            let (aborted, committed) = (high_bits & low_bits, high_bits & !low_bits);
            aborted == 0 || committed == 0
        })
    }

    fn representative(&self, state: &State) -> Option<State> {
        let key = |index: u32| {
            let (known, sent) =
                (state.known_prepared >> index & 1, state.sent_prepared >> index & 1);
            (state.participants >> (2 * index) & 3, known, sent)
        };
        let mut keys: Vec<(u32, u16, u16)> = (0..self.participants).map(key).collect();
        keys.sort_unstable();
        let mut sorted = State { participants: 0, known_prepared: 0, sent_prepared: 0, ..*state };
        for (index, (participant, known, sent)) in keys.into_iter().enumerate() {
            sorted.participants |= participant << (2 * index);
            sorted.known_prepared |= known << index;
            sorted.sent_prepared |= sent << index;
        }
        Some(sorted)
    }

    fn show(&self, state: &State) -> Vec<(String, String)> {
        let one =
            |index| (format!("participant {index}"), format!("{:?}", state.participant(index)));
        let decision = ["undecided", "committed", "aborted"][usize::from(state.decision)];
        let own = ("coordinator".to_owned(), decision.to_owned());
        std::iter::once(own).chain((0..self.participants).map(one)).collect()
    }
}
