//! A bounded store of witnesses. It keeps all witnesses while there is room, then the best of each
//! group.

use super::tries::PairResult;
use crate::confirm::{Form, Together};

/// The most events in all stored witnesses. The limit holds for all witnesses together, and for the
/// best ones of the groups.
const ROOM_FOR_ALL: usize = 1 << 25;
const ROOM_FOR_BEST: usize = 1 << 26;

/// The rank of a witness: whether it lacks a call that waits for ever, whether its two actions can
/// be enabled at the same time, its form, its number of
/// events, and its candidate.
type Rank = (bool, Together, Form, usize, usize);

/// The store of witnesses.
#[derive(Debug)]
pub(crate) struct WitnessStore {
    room: [usize; 2],
    kept: usize,
    /// The best witness so far of each group.
    best: Vec<Option<Rank>>,
}

impl WitnessStore {
    pub(crate) fn new(groups: usize) -> WitnessStore {
        WitnessStore { room: [ROOM_FOR_ALL, ROOM_FOR_BEST], kept: 0, best: vec![None; groups] }
    }

    /// Stores the result of a member of a group. A witness without room leaves only its form.
    pub(crate) fn put(
        &mut self,
        pair_results: &mut [PairResult],
        group: usize,
        member: usize,
        pair_result: PairResult,
    ) {
        let PairResult::Confirmed(witness) = pair_result else {
            pair_results[member] = pair_result;
            return;
        };
        let events_new = witness.order.len();
        let rank = (!witness.waits, witness.together, witness.form, events_new, member);
        let known = self.best[group];
        let is_best = known.is_none_or(|known| rank < known);
        if is_best {
            self.best[group] = Some(rank);
        }
        if self.kept + events_new > self.room[0]
            && is_best
            && let Some((_, _, form, events, old)) = known
            && matches!(pair_results[old], PairResult::Confirmed(_))
        {
            let together = match &pair_results[old] {
                PairResult::Confirmed(witness) => witness.together,
                _ => Together::Undecided,
            };
            pair_results[old] = PairResult::Shown(form, together);
            self.kept -= events;
        }
        let room = self.room[usize::from(is_best)];
        pair_results[member] = if self.kept + events_new <= room {
            self.kept += events_new;
            PairResult::Confirmed(witness)
        } else {
            PairResult::Shown(witness.form, witness.together)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confirm::Witness;
    use anyorder_trace::EventId;

    #[test]
    fn without_room_the_best_of_each_group_stays() {
        let witness = |form, events: usize| {
            let order = vec![EventId(0); events];
            PairResult::Confirmed(Witness {
                form,
                order,
                prefix: 0,
                shortest: true,
                waits: false,
                together: Together::Yes,
            })
        };
        let mut keeper = WitnessStore { room: [10, 20], ..WitnessStore::new(2) };
        let mut pair_results = vec![PairResult::Untried; 6];
        let kept = |pair_results: &[PairResult]| -> Vec<bool> {
            pair_results
                .iter()
                .map(|pair_result| matches!(pair_result, PairResult::Confirmed(_)))
                .collect()
        };
        keeper.put(&mut pair_results, 0, 0, witness(Form::Last, 6));
        keeper.put(&mut pair_results, 1, 1, witness(Form::Last, 4));
        assert_eq!(kept(&pair_results), [true, true, false, false, false, false]);
        // This one is not better than the stored one.
        keeper.put(&mut pair_results, 0, 2, witness(Form::CoEnabled, 1));
        assert_eq!(pair_results[2], PairResult::Shown(Form::CoEnabled, Together::Yes));
        // This one is better and replaces it.
        keeper.put(&mut pair_results, 0, 3, witness(Form::Reversed, 9));
        assert_eq!(
            (&pair_results[0], keeper.kept),
            (&PairResult::Shown(Form::Last, Together::Yes), 13)
        );
        assert_eq!(kept(&pair_results), [false, true, false, true, false, false]);
        // This one is better, but there is no room for it.
        keeper.put(&mut pair_results, 1, 4, witness(Form::Reversed, 99));
        assert_eq!(
            (&pair_results[1], &pair_results[4]),
            (
                &PairResult::Shown(Form::Last, Together::Yes),
                &PairResult::Shown(Form::Reversed, Together::Yes)
            )
        );
        keeper.put(&mut pair_results, 1, 5, PairResult::Impossible);
        assert_eq!((&pair_results[5], keeper.kept), (&PairResult::Impossible, 9));
    }
}
