//! Transactions of recorded runs against the definitions, on random traces.

use anyorder_common::random::{Random, SplitMix64};
use anyorder_robust::transactions::{
    Marks, TransactionOptions, TransactionsChecked, Unit, Violation, Why, check, marks,
};
use anyorder_system::Control;
use anyorder_testkit::effort::sampled;
use anyorder_trace::{Event, EventId, EventKind, Location, Mailbox, Mode, Op, Trace, TraceBuilder};
use std::collections::{BTreeMap, BTreeSet};

/// A run in short: `T1.r(x) T1.acq(L)`.
fn trace(text: &str) -> Trace {
    let mut b = TraceBuilder::new();
    let mut threads = BTreeMap::new();
    for (line, word) in text.split_whitespace().enumerate() {
        let (thread, rest) = word.split_once('.').expect("a thread");
        let handler = *threads
            .entry(thread)
            .or_insert_with(|| b.handler(thread, Mailbox::None).expect("room"));
        let task = b.initial(handler);
        let (op, target) = rest.split_once('(').unwrap_or((rest, ""));
        let target = target.trim_end_matches(')');
        match op {
            "r" => b.read(task, target),
            "w" => b.write(task, target),
            "acq" => b.acquire(task, target, Mode::EXCLUSIVE),
            "rel" => b.release(task, target, Mode::EXCLUSIVE),
            "begin" => Ok(b.push(task, EventKind::Begin.into(), 0)),
            "end" => Ok(b.push(task, EventKind::Exit.into(), 0)),
            other => panic!("{other}"),
        }
        .expect("room");
        b.at("f.c", line as u32 + 1).expect("room");
    }
    b.finish()
}

fn all(trace: &Trace) -> TransactionsChecked {
    let options = TransactionOptions { whole_threads: true, ..TransactionOptions::default() };
    check(trace, &options, &Control::default())
}

/// AeroDrome's answers: whether there is a violation, and the event (from 1) at which it shows.
#[test]
fn published_shapes_have_their_answers() {
    for (text, expected) in [
        ("T1.begin T1.r(x) T2.begin T2.w(x) T2.end T1.w(x) T1.end", Some(6)),
        (
            "T1.begin T1.acq(L) T1.r(x) T1.rel(L) T2.begin T2.acq(L) T2.w(x) T2.rel(L) T2.end \
             T1.acq(L) T1.w(x) T1.rel(L) T1.end",
            Some(10),
        ),
        ("T1.begin T2.begin T1.w(x) T2.r(x) T2.w(y) T1.w(z) T2.end T1.end", None),
        (
            "T1.begin T1.w(x) T2.begin T2.r(x) T3.begin T3.w(y) T3.end T2.r(y) T2.w(z) T2.end \
             T1.r(z) T1.end",
            Some(11),
        ),
        (
            "T1.begin T1.acq(L) T1.w(x) T1.rel(L) T1.end T2.begin T2.acq(L) T2.w(x) T2.rel(L) \
             T2.end T1.begin T1.acq(L) T1.w(x) T1.rel(L) T1.end",
            None,
        ),
        ("T1.begin T1.r(x) T2.w(x) T1.r(x) T1.end", Some(4)),
    ] {
        let trace = trace(text);
        let checked = all(&trace);
        let at = checked.violations.iter().filter_map(|v| v.links.last().map(|l| l.after.0 + 1));
        assert_eq!(at.min(), expected, "{text}: {checked:?}");
        assert_eq!(checked.components > 0, expected.is_some());
        assert!(!checked.is_cut);
    }
}

#[test]
fn begins_and_ends_of_threads_are_no_blocks() {
    let threads = "T1.begin T2.begin T1.r(x) T2.w(x) T1.w(x) T1.end T2.end";
    assert_eq!(marks(&trace(threads)), Marks::Threads);
    let checked = check(&trace(threads), &TransactionOptions::default(), &Control::default());
    assert_eq!(checked, TransactionsChecked::default());
    let blocks = "T1.begin T1.end T1.begin T1.end T1.begin T1.r(x) T2.w(x) T1.r(x) T1.end";
    assert_eq!(marks(&trace(blocks)), Marks::Blocks);
    assert_eq!(all(&trace(blocks)).violations.len(), 1);
    assert_eq!(marks(&trace(&format!("{blocks} T1.end"))), Marks::Unbalanced);
}

/// Two blocks of one place are one violation, with their number.
#[test]
fn blocks_of_one_place_are_one_violation() {
    let mut b = TraceBuilder::new();
    let (s, t) = (b.handler("S", Mailbox::None).unwrap(), b.handler("T", Mailbox::None).unwrap());
    let (s, t) = (b.initial(s), b.initial(t));
    for _ in 0..3 {
        b.push(s, EventKind::Begin.into(), 0);
        b.at("f.c", 7).unwrap();
        b.read(s, "x").unwrap();
        b.write(t, "x").unwrap();
        b.write(s, "x").unwrap();
        b.push(s, EventKind::Exit.into(), 0);
    }
    let checked = all(&b.finish());
    assert_eq!((checked.transactions, checked.on_cycles, checked.violations.len()), (3, 3, 1));
    assert_eq!(checked.violations[0].on_cycles, 3);
    assert_eq!(checked.violations[0].links.len(), 2);
}

/// Makes a random run; each block has a place of its own.
fn random_run(rng: &mut SplitMix64, events_max: u64) -> Trace {
    let mut b = TraceBuilder::new();
    let threads = rng.within(2, 4) as usize;
    let handlers: Vec<_> =
        (0..threads).map(|t| b.handler(&format!("T{t}"), Mailbox::None).expect("room")).collect();
    let lock = b.interner.name("m").expect("room");
    let lock = b.interner.lock(lock).expect("room").0;
    let range = |address, size| Location::Range { address, size, generation: 0 };
    let places: Vec<u32> = [range(0, 4), range(2, 4), range(8, 8)]
        .into_iter()
        .map(|place| b.interner.location(place).expect("room").0)
        .collect();
    let few = rng.percent(50);
    let forks = few || rng.percent(30);
    let mut begun: Vec<bool> = (0..threads).map(|t| t == 0 || !forks).collect();
    let mut ended = vec![false; threads];
    let mut depth = vec![0_u32; threads];
    let mut held: Vec<(usize, bool)> = Vec::new();
    let mut waits: Vec<Option<u32>> = vec![None; threads];
    let mut signals = 0;
    for line in 0..rng.within(8, events_max) {
        let t = rng.index(threads);
        if !begun[t] || ended[t] {
            continue;
        }
        let task = b.initial(handlers[t]);
        if let Some(since) = waits[t] {
            if signals > since {
                waits[t] = None;
                b.on_condition(task, EventKind::Wake, "c").expect("room");
            }
            continue;
        }
        // Half of the runs have few accesses, and more of the rest.
        let choice = rng.below(100);
        let choice = if few && choice >= 83 && rng.percent(75) { 64 + choice % 19 } else { choice };
        match choice {
            0..14 if depth[t] < 2 => {
                depth[t] += 1;
                b.push(task, EventKind::Begin.into(), 0);
            }
            14..18 if depth[t] > 0 => {
                depth[t] -= 1;
                b.push(task, EventKind::Exit.into(), 0);
            }
            18..40 if !held.iter().any(|(other, _)| *other == t) => {
                let shared = rng.percent(40);
                if held.iter().any(|(_, other)| !(*other && shared)) {
                    continue;
                }
                held.push((t, shared));
                let mode = if shared { Mode::SHARED } else { Mode::EXCLUSIVE };
                b.push(task, Op::new(EventKind::Acquire, mode), lock);
            }
            40..64 if held.iter().any(|(other, _)| *other == t) => {
                let at = held.iter().position(|(other, _)| *other == t).expect("it is held");
                let mode = if held.remove(at).1 { Mode::SHARED } else { Mode::EXCLUSIVE };
                b.push(task, Op::new(EventKind::Release, mode), lock);
            }
            64..67 => {
                waits[t] = Some(signals);
                b.on_condition(task, EventKind::Wait, "c").expect("room");
            }
            67..76 => {
                signals += 1;
                let kind = rng.pick(&[EventKind::Signal, EventKind::Broadcast]);
                b.on_condition(task, kind, "c").expect("room");
            }
            76..80 if begun.iter().any(|begun| !begun) => {
                let child = begun.iter().position(|begun| !begun).expect("one is left");
                begun[child] = true;
                b.on_handler(task, EventKind::Fork, handlers[child]);
            }
            80..83 => {
                let child = rng.index(threads);
                if child == t
                    || !begun[child]
                    || line < 10
                    || held.iter().any(|(other, _)| *other == child)
                {
                    continue;
                }
                ended[child] = true;
                b.on_handler(task, EventKind::Join, handlers[child]);
            }
            _ => {
                let kind = rng.pick(&[EventKind::Read, EventKind::Read, EventKind::Write]);
                b.push(task, kind.into(), places[rng.index(3)]);
            }
        }
        b.at("f.c", line as u32 + 1).expect("room");
    }
    b.finish()
}

/// The definitions, spelled out.
struct Naive<'t> {
    trace: &'t Trace,
    events: Vec<Event>,
    /// By event: its unit, named by the unit's first event.
    unit: Vec<usize>,
    is_block: Vec<bool>,
}

impl<'t> Naive<'t> {
    fn new(trace: &'t Trace) -> Naive<'t> {
        let events: Vec<Event> = trace.events().collect();
        let mut open: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
        let (mut unit, mut is_block) = (Vec::new(), vec![false; events.len()]);
        for (at, event) in events.iter().enumerate() {
            let thread = trace.handler_of(event.id).0;
            let own = open.entry(thread).or_insert((at, 0));
            if event.kind() == EventKind::Begin {
                if own.1 == 0 {
                    own.0 = at;
                    is_block[at] = true;
                }
                own.1 += 1;
            }
            unit.push(if own.1 > 0 { own.0 } else { at });
            if event.kind() == EventKind::Exit && own.1 > 0 {
                own.1 -= 1;
            }
        }
        Naive { trace, events, unit, is_block }
    }

    fn thread(&self, at: usize) -> u32 {
        self.trace.handler_of(self.events[at].id).0
    }

    fn bytes(&self, at: usize) -> BTreeSet<u64> {
        let location = self.trace.tables().locations[self.events[at].operand as usize];
        match location {
            Location::Range { address, size, .. } => (address..address + u64::from(size)).collect(),
            _ => unreachable!("all places are ranges"),
        }
    }

    /// Whether the second of two events, in the order of the trace, conflicts with the first.
    fn conflict(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.events[a], self.events[b]);
        if self.thread(a) == self.thread(b) {
            return true;
        }
        match (x.kind(), y.kind()) {
            (k, j) if k.is_access() && j.is_access() => {
                (k.writes() || j.writes()) && !self.bytes(a).is_disjoint(&self.bytes(b))
            }
            (EventKind::Release, EventKind::Acquire) => {
                x.operand == y.operand && !(x.mode().is_shared() && y.mode().is_shared())
            }
            (EventKind::Fork, _) => x.operand == self.thread(b),
            (_, EventKind::Join) => y.operand == self.thread(a),
            (EventKind::Signal | EventKind::Broadcast, EventKind::Wake) => {
                self.matched(b) == Some(a)
            }
            _ => false,
        }
    }

    /// The signal that a wake is matched with: the first since its wait that is a broadcast, or
    /// that no earlier wake is matched with.
    fn matched(&self, wake: usize) -> Option<usize> {
        let own = self.thread(wake);
        let wait = (0..wake)
            .rev()
            .find(|at| self.thread(*at) == own && self.events[*at].kind() == EventKind::Wait)?;
        let earlier: Vec<usize> = (0..wake)
            .filter(|at| self.events[*at].kind() == EventKind::Wake)
            .filter_map(|at| self.matched(at))
            .collect();
        (wait..wake).find(|at| match self.events[*at].kind() {
            EventKind::Broadcast => true,
            EventKind::Signal => !earlier.contains(at),
            _ => false,
        })
    }

    /// Whether two conflicting events conflict directly: over some byte without a write between
    /// them, over a lock without an exclusive release between them, as a thread's next events.
    fn is_direct(&self, a: usize, b: usize) -> bool {
        let (x, y) = (self.events[a], self.events[b]);
        let between = || (a + 1..b).map(|at| (at, self.events[at]));
        let own = |thread: u32| between().any(|(at, _)| self.thread(at) == thread);
        if self.thread(a) == self.thread(b) {
            return !own(self.thread(a));
        }
        match (x.kind(), y.kind()) {
            (EventKind::Fork, _) => !own(self.thread(b)),
            (_, EventKind::Join) => !own(self.thread(a)),
            (k, j) if k.is_access() && j.is_access() => {
                let shared: Vec<u64> =
                    self.bytes(a).intersection(&self.bytes(b)).copied().collect();
                shared.iter().any(|byte| {
                    !between().any(|(at, e)| {
                        e.kind().is_access() && e.kind().writes() && self.bytes(at).contains(byte)
                    })
                })
            }
            (EventKind::Release, EventKind::Acquire) => !between().any(|(_, e)| {
                e.kind() == EventKind::Release && e.operand == x.operand && !e.mode().is_shared()
            }),
            _ => true,
        }
    }

    fn units(&self) -> BTreeSet<usize> {
        self.unit.iter().copied().collect()
    }

    /// The units that each unit reaches by conflicts of which a condition holds.
    fn closure(&self, holds: &dyn Fn(usize, usize) -> bool) -> BTreeSet<(usize, usize)> {
        let mut edges: BTreeSet<(usize, usize)> = BTreeSet::new();
        for b in 0..self.events.len() {
            for a in 0..b {
                if self.unit[a] != self.unit[b] && self.conflict(a, b) && holds(a, b) {
                    edges.insert((self.unit[a], self.unit[b]));
                }
            }
        }
        for k in self.units() {
            for i in self.units() {
                for j in self.units() {
                    if edges.contains(&(i, k)) && edges.contains(&(k, j)) {
                        edges.insert((i, j));
                    }
                }
            }
        }
        edges
    }

    fn is_serializable(&self) -> bool {
        self.closure(&|_, _| true).iter().all(|(from, to)| from != to)
    }

    /// Whether the run would be serializable if conflicts of one kind were none.
    fn is_serializable_without(&self, kind: &str) -> bool {
        let matters = |a: usize, b: usize| {
            let (x, y) = (self.events[a].kind(), self.events[b].kind());
            match kind {
                "thread" => self.thread(a) != self.thread(b),
                _ if self.thread(a) == self.thread(b) => true,
                "memory" => !x.is_access(),
                "lock" => x != EventKind::Release,
                "fork" => x != EventKind::Fork,
                "join" => y != EventKind::Join,
                "signal" => y != EventKind::Wake,
                other => panic!("{other}"),
            }
        };
        self.closure(&matters).iter().all(|(from, to)| from != to)
    }

    /// Tries all orders of whole units: one keeps the order of all conflicts.
    fn some_serial_order(&self) -> bool {
        let units: Vec<usize> = self.units().into_iter().collect();
        let before = |x: usize, y: usize| {
            (0..self.events.len()).any(|b| {
                (0..b).any(|a| self.unit[a] == x && self.unit[b] == y && self.conflict(a, b))
            })
        };
        let must: Vec<Vec<bool>> = units
            .iter()
            .map(|x| units.iter().map(|y| x != y && before(*x, *y)).collect())
            .collect();
        fn extend(must: &[Vec<bool>], placed: &mut Vec<usize>) -> bool {
            placed.len() == must.len()
                || (0..must.len()).any(|next| {
                    let fits = !placed.contains(&next)
                        && (0..must.len()).all(|o| placed.contains(&o) || !must[o][next]);
                    fits && {
                        placed.push(next);
                        let found = extend(must, placed);
                        placed.pop();
                        found
                    }
                })
        }
        extend(&must, &mut Vec::new())
    }

    /// The blocks that a cycle of direct conflicts violates.
    fn violated(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::new();
        for last in 0..self.events.len() {
            let own = self.unit[last];
            let reach = self.closure(&|a, b| b < last && self.is_direct(a, b));
            let sources = (0..last).filter(|a| {
                self.unit[*a] != own && self.conflict(*a, last) && self.is_direct(*a, last)
            });
            if sources.into_iter().any(|a| reach.contains(&(own, self.unit[a]))) {
                found.insert(own as u32);
            }
        }
        found
    }
}

const KINDS: [&str; 6] = ["thread", "memory", "lock", "fork", "join", "signal"];

#[test]
fn random_runs_agree_with_the_definitions() {
    let (mut tally, mut orders) = (BTreeMap::<&str, u64>::new(), 0_u64);
    let mut needed = BTreeMap::<&str, u64>::new();
    for seed in sampled(1_200, 8_000) {
        let mut rng = SplitMix64(seed);
        let trace = random_run(&mut rng, 40);
        let naive = Naive::new(&trace);
        let checked = all(&trace);
        let text = || {
            let events: Vec<String> = trace.events().map(|e| format!("{e:?}")).collect();
            format!("seed {seed}: {checked:?}\n{}", events.join("\n"))
        };
        assert_eq!(checked.components == 0, naive.is_serializable(), "{}", text());
        if naive.units().len() <= 8 {
            orders += 1;
            assert_eq!(naive.is_serializable(), naive.some_serial_order(), "{}", text());
        }
        let violated: BTreeSet<u32> = checked.violations.iter().map(|v| v.begin.0).collect();
        assert_eq!(violated, naive.violated(), "{}", text());
        assert!(!checked.is_cut);
        for violation in &checked.violations {
            links_hold(&naive, violation, &text);
            for link in &violation.links {
                *tally
                    .entry(match link.why {
                        Why::Thread => "thread",
                        Why::Memory => "memory",
                        Why::Lock => "lock",
                        Why::Life => "life",
                        Why::Signal => "signal",
                    })
                    .or_default() += 1;
            }
            *tally.entry("violation").or_default() += 1;
            *tally.entry("long").or_default() += u64::from(violation.links.len() > 2);
        }
        for kind in KINDS {
            let matters = checked.components > 0 && naive.is_serializable_without(kind);
            *needed.entry(kind).or_default() += u64::from(matters);
        }
        *tally.entry("serializable").or_default() += u64::from(checked.components == 0);
    }
    println!("{tally:?}, {orders} with all orders, decided by {needed:?}");
    for what in ["thread", "memory", "lock", "life", "signal", "violation", "long", "serializable"]
    {
        assert!(tally.get(what).copied().unwrap_or_default() > 2, "{what}: {tally:?}");
    }
    // Without the rule, the answer would be wrong.
    assert!(KINDS.iter().all(|kind| needed[kind] > 0), "{needed:?}");
    assert!(orders > 5, "{orders}");
}

/// Checks that a violation is a cycle of direct conflicts, the last of which is the latest.
fn links_hold(naive: &Naive<'_>, violation: &Violation, text: &dyn Fn() -> String) {
    let links = &violation.links;
    let name = |unit: Unit| match unit {
        Unit::Block(begin) => {
            assert!(naive.is_block[begin.index()]);
            begin.index()
        }
        Unit::Single(event) => event.index(),
    };
    for (at, link) in links.iter().enumerate() {
        let next = &links[(at + 1) % links.len()];
        let (a, b) = (link.before.index(), link.after.index());
        assert!(a < b && naive.conflict(a, b), "{}", text());
        let of_threads = matches!(link.why, Why::Thread | Why::Life);
        assert!(of_threads || naive.is_direct(a, b), "{}", text());
        assert_eq!((naive.unit[a], naive.unit[b]), (name(link.from), name(link.to)), "{}", text());
        assert_eq!(link.to, next.from, "{}", text());
    }
    let last: EventId = links[links.len() - 1].after;
    assert!(links[..links.len() - 1].iter().all(|link| link.after < last), "{}", text());
    assert_eq!(links[0].from, Unit::Block(violation.begin));
}
