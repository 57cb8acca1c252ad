//! The checkers against the definitions: on small random traces, all orders of events, each judged
//! by the axioms one by one.

use anyorder_certify::consistency::{
    ConsistencyProof, Fact, Link, MailboxRule, ProofReason, RefutationStep, Why,
    check_consistency_witness, check_inconsistency,
};
use anyorder_common::random::{Random, Rng};
use anyorder_testkit::effort::cases;
use anyorder_trace::{
    Action, Coherence, Columns, EventId, EventKind, HandlerId, Invocation, LocationId, Mailbox,
    Position, TaskId, TaskKind, Trace, TraceBuilder,
};

const RULES: [MailboxRule; 3] = [MailboxRule::Fifo, MailboxRule::Bag, MailboxRule::Delayed];

const WHYS: [Why; 7] = [
    Why::Program,
    Why::ReadsFrom,
    Why::Coherence,
    Why::FromReads,
    Why::PostedBy,
    Why::Fork,
    Why::Join,
];

/// A trace that is not observed, with two threads, two handlers with initial code, and messages
/// between them.
fn random_trace(random: &mut Rng) -> Trace {
    let mut b = TraceBuilder::new();
    let mailbox = [Mailbox::None, Mailbox::None, Mailbox::Delayed, Mailbox::Delayed];
    let handlers: Vec<_> =
        (0..4).map(|h| b.handler(&format!("h{h}"), mailbox[h]).expect("few")).collect();
    let mut tasks: Vec<TaskId> = handlers.iter().map(|&h| b.initial(h)).collect();
    let mut to_post: Vec<TaskId> = Vec::new();
    for number in 0..1 + random.index(3) {
        let handler = handlers[2 + usize::from(random.index(3) == 0)];
        let delay = [0, 0, 5, 9][random.index(4)];
        let task = b.delayed_task(&format!("m{number}"), handler, delay).expect("few");
        if random.index(4) == 0 {
            b.interner.tables.tasks[task.index()].position = Position::Front;
        }
        to_post.push(task);
        tasks.push(task);
    }
    for &task in &to_post {
        b.get(task).expect("few");
    }
    let mut writes: [Vec<u64>; 2] = [Vec::new(), Vec::new()];
    let mut reads: Vec<(u32, usize)> = Vec::new();
    let events = b.columns.len() + to_post.len() + 1 + random.index(2);
    while b.columns.len() < events || !to_post.is_empty() {
        let task = tasks[random.index(tasks.len())];
        let at = random.index(2);
        let variable = ["x", "y"][at];
        match random.index(8) {
            0..4 => {
                let Some(posted) = to_post.pop() else { continue };
                b.post(task, posted).expect("few");
            }
            4 if b.columns.len() < events => {
                let write = b.write(task, variable).expect("few");
                writes[at].push(u64::from(write.0));
            }
            5 | 6 if b.columns.len() < events => {
                let read = b.read(task, variable).expect("few");
                reads.push((read.0, at));
            }
            7 if b.columns.len() < events && random.index(3) == 0 => {
                let kind = [EventKind::Fork, EventKind::Join][random.index(2)];
                b.on_handler(task, kind, handlers[random.index(4)]);
            }
            _ => {}
        }
    }
    for (read, at) in reads {
        let from = writes[at].get(random.index(writes[at].len() + 1)).copied();
        b.columns.refers.push(read, from.unwrap_or(Columns::INITIAL));
    }
    b.interner.tables.meta.order = anyorder_trace::TraceOrder::Partial;
    b.finish()
}

/// The axioms, by the positions of the events in an order. Every location's coherence is open, as
/// no order of writes is given.
struct Axioms<'t> {
    trace: &'t Trace,
    place: Vec<usize>,
    rule: MailboxRule,
}

impl Axioms<'_> {
    fn before(&self, x: EventId, y: EventId) -> bool {
        self.place[x.index()] < self.place[y.index()]
    }

    fn kind(&self, task: TaskId) -> TaskKind {
        self.trace.tables().tasks[task.index()].kind
    }

    fn hold(&self) -> bool {
        let events = || self.trace.events();
        events().all(|x| events().all(|y| x.id == y.id || self.pair(x.id, y.id)))
            && events().filter(|e| e.kind() == EventKind::Read).all(|e| self.read(e.id))
            && self.trace.task_ids().all(|a| self.trace.task_ids().all(|b| self.tasks(a, b)))
    }

    /// The constraints between two events.
    fn pair(&self, x: EventId, y: EventId) -> bool {
        let (first, second) = (self.trace.event(x), self.trace.event(y));
        let same = self.trace.handler_of(x) == self.trace.handler_of(y);
        let initial_first = self.kind(first.task) == TaskKind::Initial
            && self.kind(second.task) == TaskKind::Posted;
        let given = (first.task == second.task && x < y)
            || (same && initial_first)
            || (first.action() == Action::Post(second.task) && second.kind() == EventKind::Get)
            || (!same && first.action() == Action::Fork(self.trace.handler_of(y)))
            || (!same && second.action() == Action::Join(self.trace.handler_of(x)));
        !given || self.before(x, y)
    }

    fn read(&self, read: EventId) -> bool {
        let location = self.trace.event(read).location();
        let earlier = |w: &EventId| self.before(*w, read);
        let writes = self.trace.events().filter(|e| e.kind() == EventKind::Write);
        let last = writes
            .filter(|e| e.location() == location)
            .map(|e| e.id)
            .filter(earlier)
            .max_by_key(|w| self.place[w.index()]);
        let seen = last.map_or(Columns::INITIAL, |w| u64::from(w.0));
        self.trace.columns().refers.get(read.0) == Some(seen)
    }

    /// The constraints between two messages of one handler: no interleaving, and the order of the
    /// mailbox.
    fn tasks(&self, a: TaskId, b: TaskId) -> bool {
        let (first, second) = (self.trace.span(a), self.trace.span(b));
        if a == b
            || first.handler != second.handler
            || first.first.is_none()
            || second.first.is_none()
        {
            return true;
        }
        let runs_before = |a: TaskId, b: TaskId| {
            let of = |task| self.trace.events().filter(move |e| e.task == task);
            of(a).all(|x| of(b).all(|y| self.before(x.id, y.id)))
        };
        let posted_first =
            !first.post.is_none() && !second.post.is_none() && self.before(first.post, second.post);
        let (x, y) = (self.trace.tables().tasks[a.index()], self.trace.tables().tasks[b.index()]);
        let kept = match self.rule {
            MailboxRule::Fifo => true,
            MailboxRule::Bag => false,
            MailboxRule::Delayed => {
                y.position != Position::Front
                    && (x.position == Position::Front || x.delay <= y.delay)
            }
        };
        (runs_before(a, b) || runs_before(b, a)) && (!(posted_first && kept) || runs_before(a, b))
    }
}

/// All orders of a few events.
fn orders(len: usize) -> Vec<Vec<EventId>> {
    let mut orders: Vec<Vec<EventId>> = vec![Vec::new()];
    for _ in 0..len {
        let longer = |order: Vec<EventId>| {
            let rest = (0..len as u32).map(EventId).filter(|e| !order.contains(e));
            rest.map(|e| [&order[..], &[e]].concat()).collect::<Vec<_>>()
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    orders
}

fn places(order: &[EventId]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (at, event) in order.iter().enumerate() {
        place[event.index()] = at;
    }
    place
}

#[test]
fn an_order_is_accepted_exactly_when_the_axioms_hold() {
    let mut random = Rng::new(20);
    let by_len: Vec<Vec<Vec<EventId>>> = (0..8).map(orders).collect();
    let (mut runs, mut links, mut clauses) = (0u64, 0u64, 0u64);
    let (mut traces, mut larger) = (0, 0);
    while traces < cases(500) {
        let trace = random_trace(&mut random);
        let Some(all) = by_len.get(trace.len()) else {
            larger += 1;
            continue;
        };
        traces += 1;
        for rule in RULES {
            let mut found: Vec<Vec<usize>> = Vec::new();
            for order in all {
                let axioms = Axioms { trace: &trace, place: places(order), rule };
                let accepted = check_consistency_witness(&trace, rule, order);
                assert_eq!(
                    accepted.is_ok(),
                    axioms.hold(),
                    "{trace:?} {rule:?} {order:?} {accepted:?}"
                );
                if accepted.is_ok() {
                    found.push(axioms.place);
                }
            }
            runs += found.len() as u64;
            links += links_hold(&trace, rule, &found, &mut clauses);
        }
    }
    println!(
        "{traces} traces, {larger} of more than 7 events left out; {runs} runs, {links} links, {clauses} clauses of reads"
    );
    assert!(
        runs > 20 * cases(500) && links > 20 * cases(500) && clauses > 50,
        "{runs} runs, {links} links, {clauses} clauses"
    );
    assert!(larger * 2 < traces, "{larger} left out");
}

/// Checks that each accepted link, and each clause of a read, holds in all runs. Returns the number
/// of accepted links.
fn links_hold(trace: &Trace, rule: MailboxRule, runs: &[Vec<usize>], clauses: &mut u64) -> u64 {
    let all = || (0..trace.len() as u32).map(EventId);
    let tasks = || trace.task_ids();
    let pairs = || tasks().flat_map(move |a| tasks().map(move |b| (a, b)));
    let facts: Vec<Fact> = pairs().map(|(first, second)| Fact::Runs { first, second }).collect();
    let whys = || WHYS.into_iter().chain(facts.iter().map(|&fact| Why::Decided(fact)));
    let mut accepted = 0;
    for from in all() {
        for to in all() {
            for why in whys() {
                // A refused link is not checked: a trace may have true orders that it does not
                // justify.
                if !is_link(trace, rule, Link { from, to, why }) {
                    continue;
                }
                accepted += 1;
                for place in runs {
                    let holds = place[from.index()] < place[to.index()];
                    let decided = match why {
                        Why::Decided(fact) => fact_holds(trace, place, fact),
                        _ => true,
                    };
                    assert!(holds || !decided, "{trace:?} {rule:?} {from:?} {to:?} {why:?}");
                }
            }
            *clauses += u64::from(reads_open_holds(trace, rule, runs, from, to));
        }
    }
    accepted
}

fn fact_holds(trace: &Trace, place: &[usize], fact: Fact) -> bool {
    match fact {
        Fact::Runs { first, second } => {
            let at = |task: TaskId| place[trace.span(task).first.index()];
            at(first) < at(second)
        }
        Fact::Before { first, second } => place[first.index()] < place[second.index()],
    }
}

fn is_link(trace: &Trace, rule: MailboxRule, link: Link) -> bool {
    let proof = ConsistencyProof { steps: vec![RefutationStep::Cycle(vec![link])] };
    let error = check_inconsistency(trace, rule, &proof).expect_err("no cycle");
    !matches!(error.reason, ProofReason::Link { .. })
}

fn reads_open_holds(
    trace: &Trace,
    rule: MailboxRule,
    runs: &[Vec<usize>],
    read: EventId,
    other: EventId,
) -> bool {
    let step = RefutationStep::ReadsOpen { read, other };
    let check = |steps| check_inconsistency(trace, rule, &ConsistencyProof { steps });
    let error = check(vec![step.clone()]).expect_err("no empty clause");
    if error.step.is_some() {
        return false;
    }
    let source = trace.columns().refers.get(read.0).expect("a read with a source");
    let later = Fact::Before { first: read, second: other };
    let clause = match source {
        Columns::INITIAL => vec![later],
        source => vec![Fact::Before { first: other, second: EventId(source as u32) }, later],
    };
    let derived =
        check(vec![step, RefutationStep::Derived(clause.clone())]).expect_err("no empty clause");
    assert_eq!(derived.step, None, "the clause is the one that the step adds");
    for place in runs {
        assert!(clause.iter().any(|&fact| fact_holds(trace, place, fact)), "{trace:?} {clause:?}");
    }
    true
}

/// A trace that is not well-formed: any kind of event in any task, operands and references at
/// random.
fn odd_trace(random: &mut Rng) -> Trace {
    let mut b = TraceBuilder::new();
    let handlers: Vec<_> =
        (0..3).map(|h| b.handler(&format!("h{h}"), Mailbox::Fifo).expect("few")).collect();
    for number in 0..5 {
        let handler = handlers[random.index(3)];
        let task = b.delayed_task(&format!("m{number}"), handler, number % 2).expect("few");
        let kinds = [TaskKind::Posted, TaskKind::Posted, TaskKind::Burst, TaskKind::Initial];
        let def = &mut b.interner.tables.tasks[task.index()];
        def.kind = kinds[random.index(4)];
        if random.index(4) == 0 {
            def.handler = HandlerId::NONE;
        }
    }
    for name in ["x", "y", "z"] {
        b.variable(name).expect("few");
        b.input(name).expect("few");
        let name = b.interner.name(name).expect("few");
        b.interner.lock(name).expect("few");
        b.interner.condition(name).expect("few");
        let (arguments, result) = (vec![1], None);
        let call = Invocation { object: name, method: name, arguments, result };
        b.interner.push_invocation(call).expect("few");
    }
    let kinds = EventKind::ALL;
    for row in 0..12 + random.index(20) as u32 {
        let task = TaskId(random.index(8) as u32);
        let kind = kinds[random.index(kinds.len())];
        b.push(task, kind.into(), random.index(3) as u32);
        if random.index(4) == 0 {
            b.columns.refers.push(row, [0, 5, 40, 1 << 40, Columns::INITIAL][random.index(5)]);
        }
    }
    if random.index(2) == 0 {
        b.interner.tables.meta.order = anyorder_trace::TraceOrder::Partial;
        let writes = (0..4).map(|_| random.index(50) as u64).collect();
        b.interner.tables.coherence.push(Coherence { location: LocationId(1), writes });
    }
    b.finish()
}

#[test]
fn odd_traces_make_no_check_panic() {
    let mut random = Rng::new(99);
    let mut accepted = 0;
    for _ in 0..3_000 {
        let trace = odd_trace(&mut random);
        let len = trace.len();
        let mut order: Vec<EventId> = (0..len as u32).map(EventId).collect();
        for _ in 0..random.index(4) {
            order.swap(random.index(len), random.index(len));
        }
        let events = |random: &mut Rng| EventId(random.index(len + 1) as u32);
        for rule in RULES {
            accepted += u32::from(check_consistency_witness(&trace, rule, &order).is_ok());
            let (first, second) = (events(&mut random), events(&mut random));
            let facts = [
                Fact::Before { first, second },
                Fact::Runs {
                    first: TaskId(random.index(9) as u32),
                    second: TaskId(random.index(9) as u32),
                },
            ];
            let (from, to) = (events(&mut random), events(&mut random));
            for why in WHYS.into_iter().chain(facts.map(Why::Decided)) {
                is_link(&trace, rule, Link { from, to, why });
            }
            let steps = vec![
                RefutationStep::ReadsOpen { read: from, other: to },
                RefutationStep::Derived(facts.into()),
            ];
            check_inconsistency(&trace, rule, &ConsistencyProof { steps }).expect_err("no proof");
        }
    }
    assert!(accepted > 0, "some odd traces can run");
}
