//! The same where tasks of one handler change places: the search and the checker against brute force, for which `check_schedule` says what
//! program order, mailboxes and locks allow.

use crate::confirmed::{Case, Tally};
use crate::generate::{Dice, Flavour, show, trace};
use crate::types::{OfTrace, Types};
use crate::{STATES_MAX, all_pairs};
use anyorder_certify::{Lanes, ReorderingChecker, check_schedule};
use anyorder_predict::{Answer, ConfirmOptions, Confirmer, Reorders, SpecifiedCommunication};
use anyorder_system::Cancel;
use anyorder_testkit::{Observes, Reorderings, Shape, random_trace};
use anyorder_trace::{EventId, EventKind, Trace};
use std::collections::{BTreeMap, BTreeSet};

const TRACES: u64 = 1_500;

/// What invocations observe, and what schedules there are.
struct Scheduled<'t>(OfTrace<'t>);

impl Observes for Scheduled<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        self.0.object(event)
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        self.0.observed(run)
    }

    fn schedules(&self, run: &[EventId]) -> Option<bool> {
        Some(check_schedule(self.0.trace, run).is_ok())
    }
}

fn check_trace(t: &Trace, what: &str, types: &Types, tally: &mut Tally) -> u64 {
    let observes = Scheduled(OfTrace { types, trace: t });
    let brute = Reorderings::new(t, &observes);
    let Some(best) = brute.best(&observes, &all_pairs(t), STATES_MAX) else { return 0 };
    let mut checker = ReorderingChecker::new(t, &observes.0, Lanes::Tasks);
    let of_types = anyorder_predict::Types::built_in().expect("they are tested");
    let mut communication = SpecifiedCommunication::new(of_types, t);
    let reorders = Reorders::Tasks;
    let options = ConfirmOptions { window: 0, reorders, ..ConfirmOptions::default() };
    let mut confirmer = Confirmer::new(t, &mut communication, options);
    for (a, b) in all_pairs(t) {
        let answer = confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
        let what = format!("{what}, {a} and {b}:\n{}", show(t));
        if let Answer::Unconfirmed(why) = answer {
            *tally.gave_up.entry(why).or_default() += 1;
            continue;
        }
        let case = Case { what, observes: &observes, brute: &brute, pair: (a, b) };
        case.check(&answer, best.get(&(a, b)), &mut checker, tally);
    }
    tally.traces += 1;
    tally.kinds.extend(t.events().map(|event| event.kind()));
    let of_one_handler = |pair: &&(usize, usize)| {
        let handler = |event: usize| t.handler_of(EventId(event as u32));
        handler(pair.0) == handler(pair.1)
    };
    best.keys().filter(of_one_handler).count() as u64
}

#[test]
fn the_search_finds_what_brute_force_finds_among_tasks() {
    let (types, mut tally) = (Types::new(), Tally::default());
    let more = std::env::var("ANYORDER_BRUTE").ok().and_then(|text| text.parse().ok());
    let mut of_one_handler = 0;
    for seed in 1..=more.unwrap_or(TRACES) {
        let shape = Shape { events_max: 8 + seed as usize % 5, ..Shape::tiny() };
        let t = random_trace(seed, &shape);
        of_one_handler += check_trace(&t, &format!("seed {seed}"), &types, &mut tally);
        let mut rng = Dice::new(seed);
        let flavour = [Flavour::Posts, Flavour::Mixed, Flavour::GuardedMixed][seed as usize % 3];
        let t = trace(&mut rng, flavour, 9);
        let what = format!("seed {seed}, {flavour:?}");
        of_one_handler += check_trace(&t, &what, &types, &mut tally);
    }
    println!("{of_one_handler} pairs of one handler, {tally:#?}");
    assert!(of_one_handler > 0 && tally.confirmed.len() == 3 && tally.impossible > 0, "{tally:?}");
    assert!(tally.kinds.contains(&EventKind::Get) && tally.kinds.contains(&EventKind::Acquire));
}
