//! Witnesses in which tasks change places, against brute force over all schedules of small
//! event-driven traces.

use crate::common;
use anyorder_testkit::effort::seeds;

use anyorder_certify::check_schedule;
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, Form, GaveUp, NoCommunication, Reorders, Scale, Together,
    Witness,
};
use anyorder_system::Cancel;
use anyorder_testkit::random::{Act, Shape, random_trace};
use anyorder_testkit::reorder::{Observes, ReorderForm, ReorderRule, Reorderings};
use anyorder_trace::{EventId, EventKind, HandlerId, Mailbox, TaskId, Trace, TraceBuilder};
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

/// All schedules of a trace in which each event observes what it observed.
struct Brute<'t> {
    trace: &'t Trace,
    rules: Reorderings,
}

type Best = BTreeMap<(usize, usize), (ReorderForm, usize)>;

impl Brute<'_> {
    fn follows(&self, run: &[usize], event: usize, exempt: &[usize]) -> bool {
        let of_ours = [
            ReorderRule::Once,
            ReorderRule::Alloc,
            ReorderRule::Read,
            ReorderRule::Wake,
            ReorderRule::Wait,
            ReorderRule::Arrival,
            ReorderRule::Timeout,
            ReorderRule::Refused,
        ];
        let broken = self.rules.all_broken(&Nothing, run, event, exempt);
        if broken.iter().any(|rule| of_ours.contains(rule)) {
            return false;
        }
        let order: Vec<EventId> =
            run.iter().chain([&event]).map(|event| EventId(*event as u32)).collect();
        check_schedule(self.trace, &order).is_ok()
    }

    /// The post and the `get` of the task of `a`, and the `get` of that of `b`, if one handler took
    /// both from its mailbox.
    fn overtaking(&self, a: usize, b: usize) -> Option<(usize, usize, usize)> {
        let [a, b] = [a, b].map(|event| self.trace.event(EventId(event as u32)).task);
        let [one, two] = [a, b].map(|task| self.trace.span(task));
        let (post, waits, get) = (one.post.some()?, one.get.some()?, two.get.some()?);
        let is_one = a != b && one.handler == two.handler && !one.handler.is_none();
        (is_one && post < waits).then_some((post.index(), waits.index(), get.index()))
    }

    fn is_witness(&self, run: &[usize], form: ReorderForm, (a, b): (usize, usize)) -> bool {
        let exempt: &[usize] = match form {
            ReorderForm::Reversed => &[],
            ReorderForm::Last => &[a],
            ReorderForm::CoEnabled => &[a, b],
            ReorderForm::Overtakes => {
                let Some((post, waits, get)) = self.overtaking(a, b) else { return false };
                let is_so = run.ends_with(&[get]) && run.contains(&post) && !run.contains(&waits);
                return is_so && (0..run.len()).all(|at| self.follows(&run[..at], run[at], &[]));
            }
        };
        let ends = match form {
            ReorderForm::CoEnabled => run.ends_with(&[b, a]),
            _ => run.ends_with(&[a]) && run.contains(&b),
        };
        ends && (0..run.len()).all(|at| self.follows(&run[..at], run[at], exempt))
    }

    fn best(&self, most: usize) -> Option<Best> {
        let count = self.trace.len();
        // The events whose order matters to what can follow; of all others it is enough that they
        // happened.
        let tells = |event: usize| {
            let kind = self.trace.event(EventId(event as u32)).kind();
            kind.writes()
                || matches!(
                    kind,
                    EventKind::Post
                        | EventKind::Cancel
                        | EventKind::Enable
                        | EventKind::Disable
                        | EventKind::Wait
                        | EventKind::Signal
                        | EventKind::Broadcast
                )
        };
        let mut best = Best::new();
        let mut known = BTreeSet::new();
        let mut layer: Vec<Vec<usize>> = vec![Vec::new()];
        while !layer.is_empty() {
            let mut next = Vec::new();
            for run in layer {
                let done: u64 = run.iter().map(|event| 1 << event).sum();
                let mut note = |pair, form, len| {
                    let entry = best.entry(pair).or_insert((form, len));
                    *entry = (*entry).min((form, len));
                };
                for event in (0..count).filter(|event| done >> event & 1 == 0) {
                    let is_whole = self.follows(&run, event, &[]);
                    let is_last = is_whole || self.follows(&run, event, &[event]);
                    if !is_last {
                        continue;
                    }
                    for other in run.iter().filter(|other| **other > event) {
                        let form = if is_whole { ReorderForm::Reversed } else { ReorderForm::Last };
                        note((event, *other), form, run.len() + 1);
                    }
                    let mut longer = run.clone();
                    longer.push(event);
                    for last in (0..event).filter(|last| done >> last & 1 == 0) {
                        if self.follows(&longer, last, &[event, last]) {
                            note((last, event), ReorderForm::CoEnabled, run.len() + 2);
                        }
                    }
                    if is_whole {
                        for (a, b) in (0..count).flat_map(|b| (0..b).map(move |a| (a, b))) {
                            if let Some((post, waits, get)) = self.overtaking(a, b)
                                && get == event
                                && done >> post & 1 == 1
                                && done >> waits & 1 == 0
                            {
                                note((a, b), ReorderForm::Overtakes, run.len() + 1);
                            }
                        }
                        let order: Vec<usize> =
                            longer.iter().copied().filter(|event| tells(*event)).collect();
                        if known.insert((done | 1 << event, order)) {
                            next.push(longer);
                        }
                    }
                }
            }
            if known.len() > most {
                return None;
            }
            layer = next;
        }
        Some(best)
    }
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

fn whole(witness: &Witness) -> Vec<usize> {
    (0..witness.prefix as usize).chain(witness.order.iter().map(|e| e.index())).collect()
}

#[test]
fn tasks_change_places_as_brute_force_says() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |key: String| *counts.entry(key).or_default() += 1;
    for seed in seeds(400) {
        let mut shape = Shape { events_max: 8 + (seed % 7) as usize, ..Shape::tiny() };
        if seed % 4 == 0 {
            shape.weights.push((Act::StrayRelease, 6));
        }
        let trace = random_trace(seed, &shape);
        let all: Vec<EventId> = (0..trace.len() as u32).map(EventId).collect();
        assert_eq!(check_schedule(&trace, &all), Ok(()), "seed {seed}: no schedule of itself");
        let brute = Brute { trace: &trace, rules: Reorderings::new(&trace, &Nothing) };
        let best = brute.best(40_000).unwrap_or_else(|| panic!("seed {seed}: too many schedules"));
        let scales = [
            Scale::default(),
            Scale {
                first_window: 1,
                grain: 1,
                stronger_max: u32::MAX,
                prefix_max: 0,
                ..Scale::default()
            },
        ];
        for scale in scales {
            let mut nothing = NoCommunication;
            let options = ConfirmOptions { reorders: Reorders::Tasks, ..ConfirmOptions::default() };
            let mut confirmer = Confirmer::with_scale(&trace, &mut nothing, options, scale);
            for b in 0..trace.len() {
                for a in 0..b {
                    let answer =
                        confirmer.confirm(EventId(a as u32), EventId(b as u32), &Cancel::new());
                    let best = best.get(&(a, b));
                    let context =
                        || format!("seed {seed} {a} {b}\n{}\n{answer:?}\n{best:?}", show(&trace));
                    match (&answer, best) {
                        (Answer::Impossible, None) => count("impossible".into()),
                        (Answer::Unconfirmed(GaveUp::Barrier), None) => count("barrier".into()),
                        (Answer::Confirmed(w), Some((best, len))) => {
                            assert_eq!(form(w.form), *best, "{}", context());
                            let run = whole(w);
                            assert!(brute.is_witness(&run, *best, (a, b)), "{}", context());
                            assert!(!w.shortest || run.len() == *len, "{}", context());
                            let shortest = ["longer", "shortest"][usize::from(run.len() == *len)];
                            count(format!("{} {shortest}, said {}", w.form.word(), w.shortest));
                        }
                        _ => panic!("{}", context()),
                    }
                }
            }
        }
    }
    println!("{counts:#?}");
    for form in ["reversed", "last", "co_enabled"] {
        assert!(counts.keys().any(|key| key.starts_with(form)), "{form}: never");
    }
    assert!(counts["impossible"] > 0);
}

fn confirm_pair(trace: &Trace, first: EventId, second: EventId) -> Answer {
    let mut nothing = NoCommunication;
    let options = ConfirmOptions { reorders: Reorders::Tasks, ..ConfirmOptions::default() };
    let mut confirmer = Confirmer::new(trace, &mut nothing, options);
    let mut answer = confirmer.confirm(first, second, &Cancel::new());
    if let Answer::Confirmed(witness) = &mut answer {
        witness.together = Together::Undecided;
    }
    answer
}

fn found(order: &[EventId]) -> Answer {
    let order = order.to_vec();
    Answer::Confirmed(Witness {
        form: Form::Reversed,
        order,
        prefix: 0,
        shortest: true,
        waits: false,
        together: Together::Undecided,
    })
}

/// A mailbox, a task that two handlers without a mailbox run, and the number of tasks made.
struct World {
    b: TraceBuilder,
    ui: HandlerId,
    main: TaskId,
    net: TaskId,
    disk: TaskId,
}

impl World {
    fn new(mailbox: Mailbox) -> World {
        let mut b = TraceBuilder::new();
        let ui = b.handler("ui", mailbox).expect("room");
        let [net, disk] = ["net", "disk"].map(|n| b.handler(n, Mailbox::None).expect("room"));
        let (main, net, disk) = (b.initial(ui), b.initial(net), b.initial(disk));
        World { b, ui, main, net, disk }
    }

    fn task(&mut self, name: &str, delay: u64) -> TaskId {
        match delay {
            0 => self.b.task(name, self.ui).expect("room"),
            _ => self.b.delayed_task(name, self.ui, delay).expect("room"),
        }
    }

    fn post(&mut self, from: TaskId, task: TaskId) -> EventId {
        self.b.post(from, task).expect("room")
    }

    /// Runs a task that writes a variable; returns its events.
    fn run(&mut self, task: TaskId, variable: &str) -> [EventId; 3] {
        [
            self.b.get(task).expect("room"),
            self.b.write(task, variable).expect("room"),
            self.b.end(task).expect("room"),
        ]
    }
}

/// Two tasks posted by one handler, or by two, with delays.
fn two_tasks(mailbox: Mailbox, by_two: bool, delays: [u64; 2]) -> (Answer, [EventId; 8]) {
    let mut w = World::new(mailbox);
    let [one, two] = [w.task("one", delays[0]), w.task("two", delays[1])];
    let other = if by_two { w.disk } else { w.net };
    let posts = [w.post(w.net, one), w.post(other, two)];
    let [g, a, e] = w.run(one, "x");
    let [h, b, f] = w.run(two, "x");
    (confirm_pair(&w.b.finish(), a, b), [posts[0], posts[1], g, a, e, h, b, f])
}

#[test]
fn mailboxes_keep_the_order_of_posts() {
    assert_eq!(two_tasks(Mailbox::Fifo, false, [0, 0]).0, Answer::Impossible);
    let (answer, [p, q, g, a, _, h, b, f]) = two_tasks(Mailbox::Fifo, true, [0, 0]);
    assert_eq!(answer, found(&[q, p, h, b, f, g, a]));
    let (answer, [p, q, g, a, _, h, b, f]) = two_tasks(Mailbox::Bag, false, [0, 0]);
    assert_eq!(answer, found(&[p, q, h, b, f, g, a]));
    // A task posted with a longer delay does not run first.
    assert_eq!(two_tasks(Mailbox::Delayed, false, [5, 9]).0, Answer::Impossible);
    let (answer, [p, q, g, a, _, h, b, f]) = two_tasks(Mailbox::Delayed, false, [9, 5]);
    assert_eq!(answer, found(&[p, q, h, b, f, g, a]));
    assert_eq!(two_tasks(Mailbox::Delayed, false, [0, 5]).0, Answer::Impossible);
}

#[test]
fn tasks_of_one_handler_do_not_overlap() {
    let trace = |reads: bool| {
        let mut w = World::new(Mailbox::Fifo);
        let [one, two] = [w.task("one", 0), w.task("two", 0)];
        w.post(w.net, one);
        w.post(w.disk, two);
        w.b.get(one).expect("room");
        let a = w.b.write(one, "x").expect("room");
        w.b.write(one, "y").expect("room");
        w.b.end(one).expect("room");
        w.b.get(two).expect("room");
        let b = w.b.write(two, "x").expect("room");
        if reads {
            w.b.read(two, "y").expect("room");
        }
        w.b.end(two).expect("room");
        confirm_pair(&w.b.finish(), a, b)
    };
    // The second task cannot end before the first one begins, because it reads the first one's
    // write; but it can begin first.
    let Answer::Confirmed(witness) = trace(true) else { panic!("the posts are not ordered") };
    assert_eq!((witness.form, witness.order.len()), (Form::Overtakes, 3));
    let Answer::Confirmed(witness) = trace(false) else { panic!("nor is anything else") };
    assert_eq!(witness.form, Form::Reversed);
}

#[test]
fn inputs_have_to_be_enabled() {
    let trace = |triggers: bool| {
        let mut w = World::new(Mailbox::Fifo);
        let click = w.b.input("click").expect("room");
        let a = w.b.write(w.net, "x").expect("room");
        w.b.push(w.net, EventKind::Enable.into(), click.0);
        let task = w.task("clicked", 0);
        w.post(w.disk, task);
        w.b.get(task).expect("room");
        // Even before it names its trigger.
        let b = w.b.write(task, "x").expect("room");
        if triggers {
            w.b.push(task, EventKind::Trigger.into(), click.0);
        }
        w.b.end(task).expect("room");
        confirm_pair(&w.b.finish(), a, b)
    };
    assert_eq!(trace(true), Answer::Impossible);
    assert!(matches!(trace(false), Answer::Confirmed(_)));
}

#[test]
fn thread_code_comes_before_the_loop() {
    let mut w = World::new(Mailbox::Fifo);
    let a = w.b.write(w.main, "x").expect("room");
    let point = w.b.write(w.main, "y").expect("room");
    let task = w.task("task", 0);
    w.post(w.net, task);
    let [_, b, _] = w.run(task, "x");
    let late = w.b.write(w.main, "y").expect("room");
    let trace = w.b.finish();
    assert_eq!(confirm_pair(&trace, a, b), Answer::Impossible);
    // A piece of thread code behind the loop point and a task may change places.
    assert_eq!(confirm_pair(&trace, point, late), Answer::Impossible);
    let order = [a, point, EventId(2), late, EventId(3), b];
    assert_eq!(confirm_pair(&trace, b, late), found(&order));
}
