//! Windows and long traces against brute force and the search without windows.

use crate::common;
use anyorder_testkit::effort::seeds;

use anyorder_common::random::{Random, Rng};
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, Form, GaveUp, NoCommunication, Scale, Witness,
};
use anyorder_system::Cancel;
use anyorder_testkit::reorder::{Observes, ReorderForm, Reorderings};
use anyorder_trace::{EventId, Trace};
use common::generate::{Shape, trace};
use common::show;
use std::collections::{BTreeMap, BTreeSet};

struct Nothing;

impl Observes for Nothing {
    fn object(&self, _: EventId) -> Option<u32> {
        None
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        vec![BTreeMap::new(); run.len()]
    }
}

fn random(seed: u64, events: usize) -> Trace {
    let mut rng = Rng::new(seed);
    let shape = Shape {
        events: events + rng.index(8),
        threads: 2 + rng.index(3),
        locks: 1 + rng.index(3),
        variables: 1 + rng.index(4),
        locking: 20 + rng.index(50),
        other: rng.index(40),
        atomic: rng.below(20) as u32,
        shared: [0, 30][rng.index(2)],
        ranges: rng.percent(30),
        guarded: false,
    };
    trace(&mut rng, shape)
}

fn form(form: Form) -> ReorderForm {
    match form {
        Form::Reversed => ReorderForm::Reversed,
        Form::Last => ReorderForm::Last,
        Form::CoEnabled => ReorderForm::CoEnabled,
        Form::Overtakes => ReorderForm::Overtakes,
        Form::Deadlock => unreachable!("no pair of actions"),
    }
}

/// The whole run: the events before the window, and the witness.
fn whole(witness: &Witness) -> Vec<usize> {
    (0..witness.prefix as usize).chain(witness.order.iter().map(|e| e.index())).collect()
}

const SMALL: Scale = Scale {
    first_window: 1,
    grain: 1,
    stronger_max: u32::MAX,
    prefix_max: u32::MAX,
    trimmed_max: u64::MAX,
    shortened_max: u64::MAX,
};

#[test]
fn windows_change_no_answer_and_invent_none() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for seed in seeds(1500) {
        let trace = random(seed, 7);
        let pairs: BTreeSet<(usize, usize)> =
            (0..trace.len()).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
        let brute = Reorderings::new(&trace, &Nothing);
        let best = brute.best(&Nothing, &pairs, 20_000).expect("a small trace");
        for (name, window, scale) in [
            ("growing", 0, SMALL),
            ("kept", 0, Scale { prefix_max: 0, ..SMALL }),
            ("bounded", 2, Scale { prefix_max: 0, ..SMALL }),
            ("many", 0, Scale { trimmed_max: 40, shortened_max: 20, ..SMALL }),
        ] {
            let mut nothing = NoCommunication;
            let options = ConfirmOptions { window, ..ConfirmOptions::default() };
            let mut confirmer = Confirmer::with_scale(&trace, &mut nothing, options, scale);
            for (a, b) in pairs.iter().copied() {
                let answer =
                    confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
                let best = best.get(&(a, b));
                let context = || {
                    format!("seed {seed} {name} {a} {b}\n{}\n{answer:?}\n{best:?}", show(&trace))
                };
                let key = match (&answer, best) {
                    (Answer::Impossible, None) => "impossible".to_owned(),
                    (Answer::Unconfirmed(GaveUp::Barrier), None) => "barrier".to_owned(),
                    (Answer::Confirmed(w), Some(best)) => {
                        let is = form(w.form);
                        assert!(is == best.form || (window > 0 && is > best.form), "{}", context());
                        assert!(brute.is_witness(&Nothing, &whole(w), is, (a, b)), "{}", context());
                        assert!(
                            !w.shortest || whole(w).len() == best.run.len() || is != best.form,
                            "{}",
                            context()
                        );
                        let prefix = ["", " behind a prefix"][usize::from(w.prefix > 0)];
                        let weaker = ["", " weaker"][usize::from(is != best.form)];
                        format!("{}{weaker}{prefix}", w.form.word())
                    }
                    (Answer::Unconfirmed(_), _) if window > 0 => "unconfirmed".to_owned(),
                    _ => panic!("{}", context()),
                };
                *counts.entry(format!("{name}: {key}")).or_default() += 1;
            }
        }
    }
    println!("{counts:#?}");
    for (name, has_prefixes) in
        [("growing", false), ("kept", true), ("bounded", true), ("many", true)]
    {
        let behind = format!("{name}: last behind a prefix");
        assert_eq!(counts.contains_key(&behind), has_prefixes, "{behind}");
        for key in ["reversed", "last", "co_enabled", "impossible"] {
            assert!(counts.contains_key(&format!("{name}: {key}")), "{name}: {key}: never");
        }
    }
}
