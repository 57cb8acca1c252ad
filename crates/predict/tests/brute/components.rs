//! The same under the rules of Android components: the search, the checker and brute force each
//! implement the rules independently.

use crate::brute::confirmed::{Case, Tally};
use crate::brute::generate::{RandomSource, show};
use crate::brute::types::{TraceCalls, Types};
use crate::brute::{STATES_MAX, all_pairs};
use anyorder_certify::{ClaimedWitness, Lanes, ReorderingChecker, WitnessForm, check_schedule};
use anyorder_predict::{Answer, ConfirmOptions, Confirmer, Form, NoCommunication, Reorders};
use anyorder_system::Cancel;
use anyorder_testkit::{
    Observes, ReorderForm, Reorderings, RuleName, RuleSet, Rules, Shape, random_trace, script,
};
use anyorder_trace::{EventId, EventKind, InputFamily, Trace};
use std::collections::{BTreeMap, BTreeSet};

const TRACES: u64 = 75;

/// Seeds that show a rule each, as the generator is now: they are tried first, then all others.
const SHOWING: [u64; 21] =
    [1, 2, 5, 6, 8, 10, 16, 32, 33, 53, 60, 68, 107, 118, 208, 258, 300, 402, 417, 427, 621];

/// Rules other than those of components are checked on a copy in which components enable nothing.
struct OfComponents<'t> {
    of: TraceCalls<'t>,
    twin: Trace,
}

impl<'t> OfComponents<'t> {
    fn new(types: &'t Types, trace: &'t Trace) -> OfComponents<'t> {
        let mut columns = trace.columns().clone();
        for event in trace.events().filter(|event| event.kind() == EventKind::Enable) {
            let family = trace.tables().inputs[event.operand as usize].family;
            if !matches!(family, InputFamily::Plain | InputFamily::Ui | InputFamily::Focus) {
                columns.ops[event.id.index()] = EventKind::Disable.into();
            }
        }
        let twin = Trace::new(trace.tables().clone(), columns);
        OfComponents { of: TraceCalls::new(types, trace), twin }
    }
}

impl Observes for OfComponents<'_> {
    fn object(&self, event: EventId) -> Option<u32> {
        self.of.object(event)
    }

    fn observed(&self, run: &[EventId]) -> Vec<BTreeMap<u8, BTreeSet<EventId>>> {
        self.of.observed(run)
    }

    fn can_return(&self, run: &[EventId], as_recorded: bool) -> bool {
        self.of.can_return(run, as_recorded)
    }

    fn is_bound(&self, event: EventId) -> bool {
        self.of.is_bound(event)
    }

    fn schedules(&self, run: &[EventId]) -> Option<bool> {
        Some(check_schedule(&self.twin, run).is_ok())
    }
}

/// A few tasks of a main thread in which components are called back, with requests around them, of
/// one family.
fn called_back(rng: &mut RandomSource, family: usize) -> Trace {
    let kind = ["fifo", "bag", "fifo"][rng.below(3)];
    let mut text = format!("handler ui {kind}\nhandler p none\nhandler q none\n");
    let tasks = 2 + rng.below(2);
    // Services from their creation on; broadcasts that stay.
    let is_long = rng.below(2) == 0;
    for task in 0..tasks {
        text += &format!("task t{task} ui\n");
    }
    if rng.below(3) == 0 {
        text += "ui loop\n";
    }
    let (mut posted, mut taken) = (Vec::new(), BTreeSet::new());
    let mut last: Option<usize> = None;
    let mut events = 0;
    let mut step = if is_long { 0 } else { rng.below(6) };
    if is_long && family == 3 {
        text += "p enable broadcast name=go state=SEND_STICKY_BROADCAST argument=0\n";
    }
    let mut steps = STEPS.to_vec();
    if is_long && family == 2 {
        let binds = rng.below(2) == 0;
        let third = ["UNBIND-SERVICE", "SERVICE_CONNECT"][rng.below(2)];
        steps = match binds {
            true => vec!["CREATE-SERVICE", "BIND-SERVICE", third, "STOP-SERVICE"],
            false => vec!["CREATE-SERVICE", "SERVICE-ARGS", "STOP-SERVICE"],
        };
        text += match binds {
            true => "p enable service state=REQUEST_BIND_SERVICE component=S instance=1\n",
            false => "p enable service state=REQUEST_START_SERVICE component=S argument=0\n",
        };
    }
    let mut is_ended = false;
    while taken.len() < tasks && events < 13 {
        let code = ["p", "q"][rng.below(2)].to_owned();
        let inside = last.filter(|_| !is_ended && rng.below(3) == 0);
        let code = inside.map_or(code, |task| format!("t{task}"));
        match rng.below(6) {
            0 | 1 if posted.len() < tasks => {
                text += &format!("{code} post t{}\n", posted.len());
                posted.push(posted.len());
            }
            2 | 3 => {
                let likely = match family {
                    2 if steps.len() == 4 => {
                        Some("disable service state=REQUEST_UNBIND_SERVICE instance=1")
                    }
                    2 if steps.len() == 3 => {
                        Some("enable service state=REQUEST_STOP_SERVICE component=S")
                    }
                    3 if is_long => {
                        Some("enable broadcast name=go state=REGISTER_RECEIVER instance=1")
                    }
                    3 if inside.is_some() => Some("enable lifecycle state=BINDAPP-DONE"),
                    _ => None,
                };
                let likely = likely.filter(|_| rng.below(2) == 0).map(str::to_owned);
                let wanted = likely.unwrap_or_else(|| request(rng, family, step));
                text += &format!("{code} {wanted}\n");
            }
            4 if last.is_some() && !is_ended && rng.below(2) == 0 => {
                text += &format!("t{} end\n", last.unwrap_or_default());
                is_ended = true;
            }
            4 if rng.below(3) == 0 => {
                text += &format!(
                    "{code} {} {}\n",
                    ["read", "write"][rng.below(2)],
                    ["x", "y"][rng.below(2)]
                );
            }
            _ => {
                let Some(task) = posted.iter().copied().find(|task| !taken.contains(task)) else {
                    continue;
                };
                if let Some(last) = last.filter(|_| !is_ended) {
                    text += &format!("t{last} end\n");
                }
                text += &format!("t{task} get\n");
                for _ in 0..1 + usize::from(is_long && rng.below(3) == 0) {
                    text += &format!("t{task} {}\n", callback(rng, (family, &steps), step));
                    step += 1;
                    events += 1;
                }
                if rng.below(2) == 0 {
                    text += &format!("t{task} {} x\n", ["read", "write"][rng.below(2)]);
                    events += 1;
                }
                is_ended = rng.below(2) == 0;
                if is_ended {
                    text += &format!("t{task} end\n");
                }
                taken.insert(task);
                last = Some(task);
                events += 1;
            }
        }
        events += 1;
    }
    script(&text).trace
}

const STATES: [&str; 6] =
    ["LAUNCH-ACT", "RESUME-ACT", "PAUSE-ACT", "STOP-ACT", "DESTROY-ACT", "RESULT-ACT"];
const STEPS: [&str; 6] = [
    "CREATE-SERVICE",
    "BIND-SERVICE",
    "SERVICE_CONNECT",
    "UNBIND-SERVICE",
    "SERVICE-ARGS",
    "STOP-SERVICE",
];
const TICK: &str = "android.intent.action.TIME_TICK";

fn request(rng: &mut RandomSource, family: usize, step: usize) -> String {
    match family {
        0 => match rng.below(6) {
            0 => "enable lifecycle state=INSTANCE instance=1 argument=11".to_owned(),
            1 => "enable lifecycle state=RESUME-ACT instance=0".to_owned(),
            2 => format!("enable lifecycle state={} instance=11", STATES[rng.below(2)]),
            _ => format!("enable lifecycle state={} instance=1", STATES[(step + rng.below(2)) % 6]),
        },
        1 => format!(
            "{} idle instance=1 argument=1",
            if rng.below(8) == 0 { "disable" } else { "enable" }
        ),
        2 => match rng.below(8) {
            0..=2 => format!(
                "enable service state=REQUEST_START_SERVICE component=S argument={}",
                rng.below(2)
            ),
            3..=5 => "enable service state=REQUEST_BIND_SERVICE component=S instance=1".to_owned(),
            6 => "enable service state=REQUEST_STOP_SERVICE component=S".to_owned(),
            _ => "disable service state=REQUEST_UNBIND_SERVICE instance=1".to_owned(),
        },
        _ => {
            let name = if rng.below(4) == 0 { TICK } else { "go" };
            let instance = 1 + rng.below(8) / 7;
            match rng.below(12) {
                0..=2 => format!(
                    "enable broadcast name={name} state=SEND_BROADCAST argument={}",
                    rng.below(2)
                ),
                3..=5 => format!(
                    "enable broadcast name={name} state=SEND_STICKY_BROADCAST argument={}",
                    rng.below(2)
                ),
                6..=8 => format!(
                    "enable broadcast name={name} state=REGISTER_RECEIVER instance={instance}"
                ),
                9 => "enable lifecycle state=BINDAPP-DONE".to_owned(),
                10 => format!("disable broadcast name={name} state=REMOVE_STICKY_BROADCAST"),
                _ => format!(
                    "disable broadcast name={name} state=UNREGISTER_RECEIVER instance={instance}"
                ),
            }
        }
    }
}

fn callback(rng: &mut RandomSource, (family, steps): (usize, &[&str]), step: usize) -> String {
    let step = if rng.below(8) == 0 { rng.below(6) } else { step };
    match family {
        0 => format!("trigger lifecycle state={} instance=1", STATES[step % 6]),
        1 => "trigger idle instance=1 argument=1".to_owned(),
        2 => format!(
            "trigger service state={} component=S instance=1 argument={}",
            steps[step % steps.len()],
            rng.below(2)
        ),
        _ => {
            let name = if rng.below(4) == 0 { TICK } else { "go" };
            format!(
                "trigger broadcast name={name} state=ONRECEIVE instance=1 argument={}",
                rng.below(2)
            )
        }
    }
}

/// A trace of components, with its most frequent family.
fn some(seed: u64, rng: &mut RandomSource) -> (Trace, Option<usize>) {
    match seed % 5 {
        4 => {
            let shape = Shape {
                events_max: 9 + seed as usize % 5,
                handlers: (2, 3),
                acts_max: 2,
                ..Shape::components()
            };
            (random_trace(seed, &shape), None)
        }
        family => (called_back(rng, family as usize), Some(family as usize)),
    }
}

/// Sequences near a witness: the checker accepts the same ones as brute force.
fn check_nearly(
    rng: &mut RandomSource,
    (t, what): (&Trace, &str),
    (observes, brute): (&dyn Observes, &Reorderings),
    (pair, run): ((usize, usize), &[usize]),
    checker: &mut ReorderingChecker<'_>,
    rejected: &mut BTreeMap<String, u64>,
) {
    let mut run = run.to_vec();
    for _ in 0..1 + rng.below(2) {
        match rng.below(3) {
            0 if run.len() > 1 => {
                let (i, j) = (rng.below(run.len()), rng.below(run.len()));
                run.swap(i, j);
            }
            1 if run.len() > 1 => drop(run.remove(rng.below(run.len()))),
            _ => run.insert(rng.below(run.len() + 1), rng.below(t.len())),
        }
    }
    let order: Vec<EventId> = run.iter().map(|event| EventId(*event as u32)).collect();
    let forms = [
        (ReorderForm::Reversed, WitnessForm::Reversed),
        (ReorderForm::Last, WitnessForm::Last),
        (ReorderForm::CoEnabled, WitnessForm::CoEnabled),
        (ReorderForm::Overtakes, WitnessForm::Overtakes),
    ];
    for (form, claimed) in forms {
        let (first, second) = (EventId(pair.0 as u32), EventId(pair.1 as u32));
        let claim = ClaimedWitness { form: claimed, first, second, prefix: 0, order: &order };
        let answer = checker.check(claim);
        let agrees = answer.is_ok() == brute.is_witness(observes, &run, form, pair);
        assert!(agrees, "{run:?}, {form:?} of {pair:?}: {answer:?}, {what}:\n{}", show(t));
        if let Err(error) = answer {
            let text = error.reason.to_string();
            let word = if text.contains("component") { "component" } else { "else" };
            *rejected.entry(word.to_owned()).or_default() += 1;
        }
    }
}

#[test]
fn the_search_finds_what_brute_force_finds_among_components() {
    let (types, mut tally) = (Types::new(), Tally::default());
    let (mut rejected, mut bound, mut unsound) = (BTreeMap::new(), 0_u64, 0_u64);
    for seed in anyorder_testkit::effort::sampled(64, TRACES) {
        let mut rng = RandomSource::new(seed);
        let (t, _) = some(seed, &mut rng);
        let what = format!("seed {seed}");
        let observes = OfComponents::new(&types, &t);
        let rules = Rules::all(RuleSet::Android);
        let brute = Reorderings::with_components(&t, &observes, rules);
        let Some(best) = brute.best(&observes, &all_pairs(&t), STATES_MAX) else {
            tally.given_up += 1;
            continue;
        };
        let without = Reorderings::new(&t, &observes).best(&observes, &all_pairs(&t), STATES_MAX);
        bound += u64::from(without.is_some_and(|all| all.len() > best.len()));
        let mut checker = ReorderingChecker::new(&t, &observes.of, Lanes::Components);
        let mut communication = NoCommunication;
        let reorders = Reorders::Components;
        let options = ConfirmOptions { window: 0, reorders, ..ConfirmOptions::default() };
        let mut confirmer = Confirmer::new(&t, &mut communication, options);
        for (a, b) in all_pairs(&t) {
            let answer = confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
            if let Answer::Unconfirmed(_) = &answer {
                unsound += 1;
                continue;
            }
            let what = format!("{what}, {a} and {b}:\n{}", show(&t));
            let case =
                Case { what, observes: &observes, brute: &brute, pair: (a, b), is_careless: false };
            case.check(&answer, best.get(&(a, b)), &mut checker, &mut tally);
        }
        let all = (&observes as &dyn Observes, &brute);
        for (pair, best) in &best {
            let near = (*pair, best.run.as_slice());
            check_nearly(&mut rng, (&t, &what), all, near, &mut checker, &mut rejected);
        }
        tally.traces += 1;
        tally.kinds.extend(t.events().map(|event| event.kind()));
    }
    println!(
        "{bound} traces in which the rules bind, {unsound} without an answer, {rejected:?}, {tally:#?}"
    );
    assert!(bound > 0 && tally.confirmed.len() == 4 && tally.impossible > 0, "{tally:?}");
    assert!(rejected.contains_key("component"), "{rejected:?}");
    assert_eq!(unsound, 0);
    assert!(tally.given_up * 20 < tally.traces, "{tally:?}");
}

/// With a rule left out of brute force, the search must differ from it somewhere.
#[test]
fn the_comparison_among_components_notices_each_rule() {
    use RuleName::*;
    let families: [&[RuleName]; 4] = [
        &[LifecycleEnable, LifecycleResume, LifecycleInstance, LifecycleStep],
        &[IdleEnable, IdleEnableEnd, IdleAgain, IdleLoop],
        &[
            ServiceCreate,
            ServiceArgs,
            ServiceBind,
            ServiceConnectBind,
            ServiceConnectRequest,
            ServiceUnbind,
            ServiceStop,
            ServiceStep,
        ],
        &[
            BroadcastBinding,
            BroadcastTick,
            BroadcastSender,
            BroadcastRegistration,
            BroadcastSticky,
            BroadcastOrder,
            BroadcastStickyOrder,
        ],
    ];
    let types = Types::new();
    let mut noticed: BTreeMap<RuleName, u64> =
        families.iter().flat_map(|rules| rules.iter()).map(|rule| (*rule, 0)).collect();
    let word = |form| match form {
        Form::Reversed => ReorderForm::Reversed,
        Form::Last => ReorderForm::Last,
        Form::CoEnabled => ReorderForm::CoEnabled,
        Form::Overtakes => ReorderForm::Overtakes,
        Form::Deadlock => unreachable!("no pair of actions"),
    };
    for seed in SHOWING.into_iter().chain(1..=2_000) {
        if noticed.values().all(|count| *count > 0) {
            break;
        }
        let mut rng = RandomSource::new(seed);
        let (t, Some(family)) = some(seed, &mut rng) else { continue };
        let open: Vec<RuleName> =
            families[family].iter().copied().filter(|rule| noticed[rule] == 0).collect();
        if open.is_empty() {
            continue;
        }
        let observes = OfComponents::new(&types, &t);
        let mut communication = NoCommunication;
        let reorders = Reorders::Components;
        let options = ConfirmOptions { window: 0, reorders, ..ConfirmOptions::default() };
        let mut confirmer = Confirmer::new(&t, &mut communication, options);
        let mut found = BTreeMap::new();
        for (a, b) in all_pairs(&t) {
            let (first, second) = (EventId(a as u32), EventId(b as u32));
            if let Answer::Confirmed(w) =
                confirmer.confirm(first, second, &anyorder_system::Cancel::new())
            {
                found.insert((a, b), word(w.form));
            }
        }
        for rule in open {
            let disabled = [rule];
            let rules = Rules::without(RuleSet::Android, &disabled);
            let brute = Reorderings::with_components(&t, &observes, rules);
            let Some(best) = brute.best(&observes, &all_pairs(&t), STATES_MAX) else { continue };
            let best: BTreeMap<_, _> = best.iter().map(|(pair, best)| (*pair, best.form)).collect();
            if best != found {
                println!("seed {seed} shows {rule:?}");
                *noticed.entry(rule).or_default() += 1;
            }
        }
    }
    println!("{noticed:?}");
    assert!(noticed.values().all(|count| *count > 0), "{noticed:?}");
}
