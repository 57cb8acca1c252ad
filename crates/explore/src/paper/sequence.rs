//! The current execution, and the test for a full cycle.

/// No position.
const NOWHERE: u32 = u32::MAX;

/// The current transition sequence: the paper's S. Numbers of states and events are dense.
#[derive(Default)]
pub(crate) struct Sequence {
    /// The states in order, the start first.
    states: Vec<u32>,
    /// The first position of each state; `NOWHERE` if it is not in the sequence.
    first: Vec<u32>,
    /// For each event, the number of states before its last execution, plus one; 0 for never.
    executed: Vec<u32>,
    /// For each event, the last position of a state that enables it, plus one; 0 for none.
    enabled: Vec<u32>,
}

impl Sequence {
    /// Returns whether the sequence is in use.
    pub(crate) fn is_running(&self) -> bool {
        !self.states.is_empty()
    }

    /// Adds a state with the events enabled in it.
    pub(crate) fn push(&mut self, state: u32, enabled: &[u32]) {
        let at = self.states.len() as u32;
        grow(&mut self.first, state, NOWHERE);
        let first = &mut self.first[state as usize];
        *first = (*first).min(at);
        for event in enabled {
            grow(&mut self.enabled, *event, 0);
            self.enabled[*event as usize] = at + 1;
        }
        self.states.push(state);
    }

    /// Records that the last state executes an event.
    pub(crate) fn execute(&mut self, event: u32) {
        grow(&mut self.executed, event, 0);
        self.executed[event as usize] = self.states.len() as u32;
    }

    /// Returns the time of the last execution of an event: 0 for never, else increasing.
    pub(crate) fn executed_at(&self, event: u32) -> u32 {
        self.executed.get(event as usize).copied().unwrap_or(0)
    }

    /// Returns whether a state is in the sequence.
    pub(crate) fn contains(&self, state: u32) -> bool {
        self.first.get(state as usize).is_some_and(|first| *first != NOWHERE)
    }

    /// Returns whether a step to a state, by the event recorded last, closes a cycle that has
    /// executed every event enabled in it. [Algorithm 4] Linear in the number of events: an event
    /// is enabled in the cycle exactly if the last state that enables it is not before the state's
    /// first position.
    pub(crate) fn closes_full_cycle(&self, state: u32) -> bool {
        if !self.contains(state) {
            return false;
        }
        let from = self.first[state as usize] + 1;
        let mut enabled = self.enabled.iter().enumerate();
        enabled.all(|(event, last)| *last < from || self.executed_at(event as u32) >= from)
    }

    /// Empties the sequence and returns its states in order, with repetitions.
    pub(crate) fn end(&mut self) -> Vec<u32> {
        let states = std::mem::take(&mut self.states);
        for state in &states {
            self.first[*state as usize] = NOWHERE;
        }
        self.executed.fill(0);
        self.enabled.fill(0);
        states
    }
}

fn grow(list: &mut Vec<u32>, index: u32, with: u32) {
    if list.len() <= index as usize {
        list.resize(index as usize + 1, with);
    }
}

#[cfg(test)]
mod tests {
    use super::Sequence;

    #[test]
    fn a_cycle_is_full_once_each_event_enabled_in_it_was_executed() {
        let mut sequence = Sequence::default();
        sequence.push(3, &[0, 1]);
        sequence.execute(0);
        sequence.push(5, &[1, 2]);
        sequence.execute(1);
        assert!(!sequence.closes_full_cycle(3) && !sequence.closes_full_cycle(4));
        sequence.push(3, &[0, 1]);
        sequence.execute(0);
        assert!(!sequence.closes_full_cycle(5));
        sequence.push(5, &[1, 2]);
        sequence.execute(2);
        assert!(sequence.closes_full_cycle(5));
        assert_eq!(sequence.end(), [3, 5, 3, 5]);
        assert!(!sequence.is_running() && !sequence.contains(3) && sequence.executed_at(2) == 0);
    }
}
