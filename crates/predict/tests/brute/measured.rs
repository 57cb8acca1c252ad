//! The pairs that the relations miss and invent: their candidates against the pairs that brute
//! force reverses.
//!
//! With `--nocapture` it prints the tables of `docs/prediction.md`.

use crate::brute::generate::{Flavour, RandomSource, trace};
use crate::brute::types::{TraceCalls, Types};
use crate::brute::{STATES_MAX, all_pairs};
use crate::common::naive::{Naive, Order};
use anyorder_predict::{
    Analysis, CandidateOptions, Candidates, Conditions, EdcAnalysis, Internals, OrderPaths,
    OrderRule, OrderStep, Ordered, Specification, Specified, run,
};
use anyorder_testkit::{ReorderForm, Reorderings};
use anyorder_trace::{EventId, Trace, TraceBlocks};
use std::collections::{BTreeMap, BTreeSet};

const TRACES: u64 = 1_000;

type Pairs = BTreeSet<(usize, usize)>;

#[derive(Default, Debug, Clone, Copy)]
struct Row {
    candidates: u64,
    confirmed: u64,
    missed: u64,
}

impl Row {
    fn add(&mut self, candidates: &Pairs, violations: &Pairs) {
        self.candidates += candidates.len() as u64;
        self.confirmed += candidates.intersection(violations).count() as u64;
        self.missed += violations.difference(candidates).count() as u64;
    }

    fn line(&self, name: &str) -> String {
        let Row { candidates, confirmed, missed } = *self;
        let rate = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        format!(
            "| {name} | {candidates} | {confirmed} | {} ({:.1} %) | {missed} ({:.1} %) |",
            candidates - confirmed,
            rate(candidates - confirmed, candidates),
            rate(missed, confirmed + missed)
        )
    }
}

/// Why a pair that can be reversed is no candidate of EDC.
fn reason(t: &Trace, naive: &Naive, paths: &OrderPaths, (a, b): (usize, usize)) -> &'static str {
    let common = naive.common(a, b);
    if common.is_empty() {
        let why = paths.why(EventId(a as u32), EventId(b as u32), u64::MAX);
        let Ordered::By(chain) = why else {
            panic!("{a} and {b} are ordered:\n{}", crate::brute::generate::show(t))
        };
        return of_chain(&chain);
    }
    let open = |(_, t): &&(usize, usize)| naive.sections[*t].release.is_none();
    if common.iter().find(open).is_some() {
        return "a common section that is never left";
    }
    let lane = |event: usize| t.tables().tasks[t.event(EventId(event as u32)).task.index()].handler;
    for (s, u) in &common {
        let release = naive.sections[*u].release.expect("closed");
        let acquire = naive.sections[*s].acquire;
        let blocks = naive.edges.iter().find(|edge| {
            lane(edge.to) == lane(b)
                && edge.to <= release
                && naive.before[edge.from][acquire]
                && !naive.is_own(edge, &common, b)
        });
        match blocks {
            Some(edge) if edge.section.is_some() => return "its sections, by another pair in them",
            Some(_) => return "its sections, by a wake, barrier or atomic",
            None => {}
        }
    }
    panic!("a candidate: {a} and {b}")
}

fn of_chain(chain: &[OrderStep]) -> &'static str {
    let rules: BTreeSet<OrderRule> = chain.iter().map(|step| step.rule).collect();
    let has = |test: fn(&OrderRule) -> bool| rules.iter().any(test);
    if has(|rule| matches!(rule, OrderRule::Wake)) {
        "a wake"
    } else if has(|rule| matches!(rule, OrderRule::Atomic)) {
        "an atomic"
    } else if has(|rule| matches!(rule, OrderRule::Section { .. })) {
        "sections that conflict"
    } else {
        "a hard edge"
    }
}

#[derive(Default)]
struct Measured {
    rows: BTreeMap<&'static str, Row>,
    reasons: BTreeMap<&'static str, u64>,
    /// By form: violations, and those of them that EDC misses.
    forms: BTreeMap<ReorderForm, (u64, u64)>,
    violations: u64,
    conflicts: u64,
}

/// The non-racy candidates if every edge between the common sections of a pair were its own, unless
/// it communicates.
fn with_all_edges_own(naive: &Naive, pairs: &Pairs) -> Pairs {
    let is_candidate = |&&(a, b): &&(usize, usize)| {
        let common = naive.common(a, b);
        let leaves = |(s, t): &(usize, usize)| {
            let acquire = naive.sections[*s].acquire;
            let Some(release) = naive.sections[*t].release else { return false };
            !naive.edges.iter().any(|edge| {
                let section = edge.section.filter(|of| common.iter().any(|(s, _)| s == of));
                let is_own = section.is_some_and(|of| !naive.communicates(of, edge.to));
                naive.actions[edge.to].lane == naive.actions[b].lane
                    && edge.to <= release
                    && naive.before[edge.from][acquire]
                    && !is_own
            })
        };
        !common.is_empty() && common.iter().all(leaves)
    };
    pairs.iter().filter(is_candidate).copied().collect()
}

fn racy_and_not(naive: &Naive) -> Pairs {
    naive.races().union(&naive.candidates()).copied().collect()
}

/// The pairs that an analysis reports.
fn reported<S: Specification>(t: &Trace, spec: S, candidates: Candidates) -> Pairs {
    let options = CandidateOptions { candidates, ..CandidateOptions::default() };
    let mut analysis = EdcAnalysis::new(spec, options);
    run(&mut TraceBlocks::new(t), &mut [&mut analysis], |_| {}).expect("the trace is right");
    let violations = analysis.finish().violations;
    let pairs = violations.iter().map(|v| (v.first.event as usize, v.second.event as usize));
    pairs.collect()
}

fn seconds(pairs: &Pairs) -> Pairs {
    pairs.iter().map(|pair| (pair.1, pair.1)).collect()
}

fn measure(t: &Trace, types: &Types, measured: &mut Measured) {
    let observes = TraceCalls::new(types, t);
    let brute = Reorderings::new(t, &observes);
    let edc = Naive::new(t, Order::Edc, true);
    let pairs: Pairs = all_pairs(t)
        .into_iter()
        .filter(|(i, j)| edc.conflict(*i, *j) && edc.reported(*i, *j))
        .collect();
    let best = brute.best(&observes, &pairs, STATES_MAX).expect("a small trace");
    let violations: Pairs = best.keys().copied().collect();
    let is_memory = |pair: &&(usize, usize)| t.event(EventId(pair.0 as u32)).kind().is_access();
    let of_memory: Pairs = violations.iter().filter(is_memory).copied().collect();
    measured.violations += violations.len() as u64;
    measured.conflicts += pairs.len() as u64;

    let hb = Naive::new(t, Order::Hb, true);
    let wdc = Naive::new(t, Order::Edc, false);
    let found = racy_and_not(&edc);
    let mut row = |name, candidates: &Pairs, of: &Pairs| {
        measured.rows.entry(name).or_default().add(candidates, of);
    };
    row("1 HB", &hb.races(), &violations);
    row("2 WDC, racy; memory only", &wdc.races(), &of_memory);
    row("3 EDC, racy", &edc.races(), &violations);
    row("4 EDC, non-racy", &edc.candidates(), &violations);
    row("5 EDC", &found, &violations);
    row("6 every pair that does not commute", &pairs, &violations);
    let wide = with_all_edges_own(&edc, &pairs);
    row(
        "5b EDC, all edges of the sections own",
        &found.union(&wide).copied().collect(),
        &violations,
    );
    let printed = reported(t, Conditions, Candidates::AsPrinted);
    let corrected = reported(t, Conditions, Candidates::Corrected);
    row("7 second events: EDC", &seconds(&corrected), &seconds(&violations));
    row("8 second events: as printed", &seconds(&printed), &seconds(&violations));

    for (pair, best) in &best {
        let of_form = measured.forms.entry(best.form).or_default();
        of_form.0 += 1;
        of_form.1 += u64::from(!found.contains(pair));
    }
    let paths = OrderPaths::new(t, Conditions).expect("a small trace");
    for pair in violations.difference(&found) {
        *measured.reasons.entry(reason(t, &edc, &paths, *pair)).or_default() += 1;
    }
}

/// Returns the counts, and the tables.
fn measured(flavours: &[Flavour], events: usize, from: u64) -> (Measured, String) {
    let types = Types::new();
    let mut measured = Measured::default();
    for seed in from..from + TRACES {
        let mut rng = RandomSource::new(seed);
        let flavour = flavours[(seed % flavours.len() as u64) as usize];
        let events = events + rng.below(5);
        measure(&trace(&mut rng, flavour, events), &types, &mut measured);
    }
    let Measured { rows, reasons, forms, violations, conflicts } = &measured;
    let mut text = vec![
        format!("{flavours:?}: {TRACES} traces of {events} to {} events", events + 4),
        format!("{conflicts} pairs that do not commute, {violations} order violations"),
        "| candidates of | candidates | confirmed | false | missed |".to_owned(),
        "| --- | --- | --- | --- | --- |".to_owned(),
    ];
    text.extend(rows.iter().map(|(name, row)| row.line(name)));
    text.push("| ordered by EDC through | violations |\n| --- | --- |".to_owned());
    text.extend(reasons.iter().map(|(name, count)| format!("| {name} | {count} |")));
    text.extend(
        forms
            .iter()
            .map(|(form, (all, missed))| format!("{form:?}: {all}, of which missed {missed}")),
    );
    assert_eq!(reasons.values().sum::<u64>(), rows["5 EDC"].missed);
    assert!(rows["5 EDC"].missed > 0 && rows["5 EDC"].confirmed > rows["1 HB"].confirmed);
    (measured, text.join("\n"))
}

#[test]
fn what_the_relations_miss_and_invent_where_locks_guard_variables() {
    let (measured, text) = measured(&[Flavour::Guarded, Flavour::GuardedMixed], 10, 1_000_000);
    println!("{text}");
    assert!(measured.rows["4 EDC, non-racy"].confirmed > 0);
}

#[test]
fn what_the_relations_miss_and_invent_elsewhere() {
    let others = |f: &Flavour| {
        !matches!(f, Flavour::Calls | Flavour::Waits | Flavour::Hostile) && !f.is_guarded()
    };
    let flavours: Vec<Flavour> = Flavour::ALL.into_iter().filter(others).collect();
    let (_, text) = measured(&flavours, 8, 2_000_000);
    println!("{text}");
}

/// Objects with methods: here the engine itself is measured, by second events, for it names at
/// least one first event for each.
#[test]
fn what_edc_misses_and_invents_of_invocations() {
    let (types, mut row, mut violations_count) = (Types::new(), Row::default(), 0);
    for seed in 3_000_000..3_000_000 + TRACES {
        let mut rng = RandomSource::new(seed);
        let flavour = [Flavour::Calls, Flavour::GuardedMixed, Flavour::Waits][(seed % 3) as usize];
        let t = trace(&mut rng, flavour, 9);
        let observes = TraceCalls::new(&types, &t);
        let naive = Naive::new(&t, Order::Edc, true);
        let conflicts = |pair: &(usize, usize)| {
            let of = |event: usize| observes.invoked(EventId(event as u32));
            let of_one_lane = naive.actions[pair.0].lane == naive.actions[pair.1].lane;
            match (of(pair.0), of(pair.1)) {
                (Some(a), Some(b)) => {
                    !of_one_lane && a.object == b.object && !a.spec.commute(&a.call, &b.call)
                }
                _ => naive.conflict(pair.0, pair.1) && naive.reported(pair.0, pair.1),
            }
        };
        let pairs: Pairs = all_pairs(&t).into_iter().filter(conflicts).collect();
        let brute = Reorderings::new(&t, &observes);
        let best = brute.best(&observes, &pairs, STATES_MAX).expect("a small trace");
        let violations: Pairs = best.into_keys().collect();
        violations_count += violations.len();
        let of_types = anyorder_predict::Types::built_in().expect("they are tested");
        let spec = Specified::for_trace(of_types, Internals::default(), &t);
        let found = reported(&t, spec, Candidates::Corrected);
        let is_pair = |pair: &&(usize, usize)| pairs.contains(pair);
        row.add(&seconds(&found.iter().filter(is_pair).copied().collect()), &seconds(&violations));
    }
    println!("{violations_count} violations; second events");
    println!("{}", row.line("EDC with specifications"));
    assert!(row.confirmed > 0 && row.missed > 0);
}
