//! Which witnesses are kept: all while there is room, and then the best of each group.

use super::tries::Fate;
use crate::confirm::Form;

/// How many events the witnesses kept may have in all: while there is room for everybody, and of
/// the best of each group.
const ROOM_FOR_ALL: usize = 1 << 25;
const ROOM_FOR_BEST: usize = 1 << 28;

/// What ranks witnesses: whether it shows no call that waits for ever, the form, the number of
/// events, and the candidate.
type Rank = (bool, Form, usize, usize);

/// Keeps account of witnesses.
#[derive(Debug)]
pub(crate) struct Keeper {
    room: [usize; 2],
    kept: usize,
    /// Of each group, the best so far.
    best: Vec<Option<Rank>>,
}

impl Keeper {
    pub(crate) fn new(groups: usize) -> Keeper {
        Keeper { room: [ROOM_FOR_ALL, ROOM_FOR_BEST], kept: 0, best: vec![None; groups] }
    }

    /// Puts the fate of a member of a group into the list; of a witness without room only the form.
    pub(crate) fn put(&mut self, fates: &mut [Fate], group: usize, member: usize, fate: Fate) {
        let Fate::Confirmed(witness) = fate else {
            fates[member] = fate;
            return;
        };
        let events_new = witness.order.len();
        let rank = (!witness.waits, witness.form, events_new, member);
        let known = self.best[group];
        let is_best = known.is_none_or(|known| rank < known);
        if is_best {
            self.best[group] = Some(rank);
        }
        if self.kept + events_new > self.room[0]
            && is_best
            && let Some((_, form, events, old)) = known
            && matches!(fates[old], Fate::Confirmed(_))
        {
            fates[old] = Fate::Shown(form);
            self.kept -= events;
        }
        let room = self.room[usize::from(is_best)];
        fates[member] = if self.kept + events_new <= room {
            self.kept += events_new;
            Fate::Confirmed(witness)
        } else {
            Fate::Shown(witness.form)
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
            Fate::Confirmed(Witness {
                form,
                order,
                prefix: 0,
                shortest: true,
                waits: false,
                apart: false,
            })
        };
        let mut keeper = Keeper { room: [10, 20], ..Keeper::new(2) };
        let mut fates = vec![Fate::Untried; 6];
        let kept = |fates: &[Fate]| -> Vec<bool> {
            fates.iter().map(|fate| matches!(fate, Fate::Confirmed(_))).collect()
        };
        keeper.put(&mut fates, 0, 0, witness(Form::Last, 6));
        keeper.put(&mut fates, 1, 1, witness(Form::Last, 4));
        assert_eq!(kept(&fates), [true, true, false, false, false, false]);
        // No better than what is there.
        keeper.put(&mut fates, 0, 2, witness(Form::CoEnabled, 1));
        assert_eq!(fates[2], Fate::Shown(Form::CoEnabled));
        // Better: it takes the place.
        keeper.put(&mut fates, 0, 3, witness(Form::Reversed, 9));
        assert_eq!((&fates[0], keeper.kept), (&Fate::Shown(Form::Last), 13));
        assert_eq!(kept(&fates), [false, true, false, true, false, false]);
        // Better, and there is no room even for that.
        keeper.put(&mut fates, 1, 4, witness(Form::Reversed, 99));
        assert_eq!(
            (&fates[1], &fates[4]),
            (&Fate::Shown(Form::Last), &Fate::Shown(Form::Reversed))
        );
        keeper.put(&mut fates, 1, 5, Fate::Impossible);
        assert_eq!((&fates[5], keeper.kept), (&Fate::Impossible, 9));
    }
}
