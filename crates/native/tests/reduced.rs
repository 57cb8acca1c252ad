//! What of a run is left out of its trace: accesses that creations and joins order with all that
//! they meet, and those to pieces of memory that have the same history as another one. Random runs:
//! against all pairs of events of the whole trace, and with the same findings.

use crate::reduced_runs::{Machine, recorded};
use crate::synthetic::{Writer, pc};
use anyorder_native::recording::{Event, Recording, kind};
use anyorder_native::{NoNames, Options, Traced, to_trace};
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, DeadlockOptions, NoCommunication, Witness,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::sampled;
use anyorder_trace::{EventId, EventKind, HandlerId, Location, Op, Trace};
use std::collections::{BTreeMap, BTreeSet};

fn traced(recording: &Recording, keeps_private: bool) -> Traced {
    let options = Options { keeps_private, ..Options::default() };
    to_trace(recording, &mut NoNames, &options, &mut || true).expect("small tables")
}

/// An event, without what depends on others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Same {
    task: u32,
    op: Op,
    origin: u32,
    operand: u32,
    /// Its place in the code.
    pc: u32,
    /// The first address and the size of its memory; zero without.
    memory: (u64, u64),
}

/// An event and the generation of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen(Same, u32);

fn seen(recording: &Recording, traced: &Traced) -> Vec<Seen> {
    let places: Vec<Vec<u32>> = (0..recording.threads.len())
        .map(|lane| recording.events(lane).map(|event| event.pc).collect())
        .collect();
    let tables = traced.trace.tables();
    let of = |(event, origin): (anyorder_trace::Event, &u32)| {
        let location = event.location().map(|location| tables.locations[location.index()]);
        let (memory, generation) = match location {
            Some(Location::Range { address, size, generation }) => {
                ((address, size.into()), generation)
            }
            _ => ((0, 0), 0),
        };
        let pc = places[event.task.index()].get(*origin as usize).copied().unwrap_or(0);
        let operand = if memory == (0, 0) { event.operand } else { 0 };
        let same = Same { task: event.task.0, op: event.op, origin: *origin, operand, pc, memory };
        Seen(same, generation)
    };
    traced.trace.events().zip(&traced.origins).map(of).collect()
}

/// Returns whether two events are in one life of the same memory.
fn meet(Seen(a, of_a): &Seen, Seen(b, of_b): &Seen) -> bool {
    let ((from_a, size_a), (from_b, size_b)) = (a.memory, b.memory);
    of_a == of_b && from_a < from_b + size_b && from_b < from_a + size_a
}

fn conflict(a: &Seen, b: &Seen) -> bool {
    let kinds = [a, b].map(|one| one.0.op.kind());
    let writes = kinds.iter().any(|kind| kind.writes());
    a.0.task != b.0.task && kinds.iter().all(|kind| kind.is_access()) && writes && meet(a, b)
}

/// The order of a trace that creations and joins give, by rows: a set of those before each event.
struct Before(Vec<Vec<u64>>);

impl Before {
    /// From the definition: an event comes after those of its thread before it, the first one of a
    /// thread after its creation, and a join after all of the thread.
    fn of(seen: &[Seen]) -> Before {
        let words = seen.len().div_ceil(64);
        let mut sets: Vec<Vec<u64>> = Vec::new();
        let mut last: BTreeMap<u32, usize> = BTreeMap::new();
        let mut created: BTreeMap<u32, usize> = BTreeMap::new();
        for (row, Seen(event, _)) in seen.iter().enumerate() {
            let mut set = vec![0; words];
            let own = last.insert(event.task, row);
            let creation = if own.is_none() { created.get(&event.task).copied() } else { None };
            let other = HandlerId(event.operand).index() as u32;
            let joined = (event.op.kind() == EventKind::Join).then(|| last.get(&other).copied());
            for before in [own, creation, joined.flatten()].into_iter().flatten() {
                set.iter_mut().zip(&sets[before]).for_each(|(to, from)| *to |= from);
                set[before / 64] |= 1 << (before % 64);
            }
            if event.op.kind() == EventKind::Fork {
                created.insert(other, row);
            }
            sets.push(set);
        }
        Before(sets)
    }

    fn orders(&self, first: usize, second: usize) -> bool {
        self.0[second][first / 64] >> (first % 64) & 1 != 0
    }
}

/// What a thread did to eight bytes of memory: who, after how many of his events that are no plain
/// accesses, where, how, and to which of the bytes.
type Touch = (u32, usize, u32, Op, u64);

/// By life and piece: its history.
type Histories = BTreeMap<(u32, u64), Vec<Touch>>;

/// Returns the history of each piece of each life, and the regions of all events.
fn histories(seen: &[Seen]) -> (Histories, Vec<usize>) {
    let (mut all, mut regions) = (Histories::new(), Vec::new());
    let mut now: BTreeMap<u32, usize> = BTreeMap::new();
    for Seen(event, generation) in seen {
        let region = now.entry(event.task).or_default();
        let kind = event.op.kind();
        let is_atomic = kind == EventKind::Rmw || event.op.mode().is_atomic();
        let is_plain = matches!(kind, EventKind::Read | EventKind::Write) && !is_atomic;
        *region += usize::from(!is_plain);
        regions.push(*region);
        let (from, size) = event.memory;
        if size == 0 || !kind.is_access() {
            continue;
        }
        for piece in from >> 3..=(from + size - 1) >> 3 {
            let (low, high) = (from.max(piece << 3), (from + size).min((piece + 1) << 3));
            // A place of an atomic is like no other.
            let unlike = if is_atomic { piece << 8 } else { 0 };
            let bytes = unlike | (low & 7) << 4 | (high - low);
            let touch = (event.task, *region, event.pc, event.op, bytes);
            all.entry((*generation, piece)).or_default().push(touch);
        }
    }
    (all, regions)
}

/// How often events were left out, by reason.
#[derive(Debug, Default)]
struct Counts {
    alone: usize,
    ordered: usize,
    alike: usize,
    polls: usize,
    /// By load that is left out: the one that it repeats.
    repeated: BTreeMap<usize, usize>,
}

/// Compares a trace with the whole one. Returns where each event of it is in that, or what is
/// wrong.
fn matched(whole: &[Seen], part: &[Seen], counts: &mut Counts) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    let mut left_out = Vec::new();
    let mut rest = part.iter().peekable();
    for (at, event) in whole.iter().enumerate() {
        if rest.next_if(|next| next.0 == event.0).is_some() {
            places.push(at);
        } else {
            left_out.push(at);
        }
    }
    if rest.peek().is_some() {
        return Err("an event that is not in the whole trace".into());
    }
    let before = Before::of(whole);
    let (histories, _) = histories(whole);
    let stays: BTreeSet<usize> = places.iter().copied().collect();
    // The histories of pieces all of whose accesses stay.
    let gone: BTreeSet<(u32, u64)> = left_out.iter().flat_map(|at| touched(&whole[*at])).collect();
    let stay: BTreeSet<(u32, &Vec<Touch>)> = histories
        .iter()
        .filter(|(of, _)| !gone.contains(of))
        .map(|((life, _), history)| (*life, history))
        .collect();
    for at in left_out {
        let event = &whole[at];
        let kind = event.0.op.kind();
        if !kind.is_access() && kind != EventKind::Alloc {
            return Err(format!("left out: {event:?}"));
        }
        let is_strict = |one: &Seen| {
            let kind = one.0.op.kind();
            kind != EventKind::Read || one.0.op.mode().is_atomic()
        };
        let others = whole
            .iter()
            .enumerate()
            .filter(|(_, other)| other.0.task != event.0.task && meet(event, other));
        // A load again of what the thread has just loaded, and nobody has written since.
        let own = |row: &&usize| whole[**row].0.task == event.0.task;
        let last = places.iter().take_while(|row| **row < at).filter(own).last();
        let same = |one: &Seen| {
            let (a, b) = (one.0, event.0);
            (a.op, a.pc, a.memory, one.1) == (b.op, b.pc, b.memory, event.1)
        };
        if kind == EventKind::Read
            && event.0.op.mode().is_atomic()
            && let Some(last) = last.filter(|row| same(&whole[**row]))
            && !whole[*last..at]
                .iter()
                .any(|one| one.0.op.kind() != EventKind::Read && meet(one, event))
        {
            counts.polls += 1;
            counts.repeated.insert(at, *last);
            continue;
        }
        counts.alone += usize::from(others.clone().next().is_none());
        let open = others
            .filter(|(_, other)| is_strict(event) || is_strict(other))
            .find(|(row, _)| !before.orders(at, *row) && !before.orders(*row, at));
        let Some((_, other)) = open else {
            counts.ordered += 1;
            continue;
        };
        // Each piece of it is like one that stays.
        let is_alike = kind != EventKind::Alloc
            && kind != EventKind::Free
            && touched(event).all(|of| stay.contains(&(of.0, &histories[&of])));
        if !is_alike {
            return Err(format!("left out: {event:?}, which {other:?} meets"));
        }
        counts.alike += 1;
    }
    for (at, a) in part.iter().enumerate() {
        for (earlier, b) in part[..at].iter().enumerate() {
            if conflict(a, b) != conflict(&whole[places[at]], &whole[places[earlier]]) {
                return Err(format!("{a:?} and {b:?} conflict in one trace only"));
            }
        }
    }
    assert_eq!(stays.len(), places.len());
    Ok(places)
}

/// The pieces of an access, with their life.
fn touched(Seen(event, life): &Seen) -> impl Iterator<Item = (u32, u64)> + use<> {
    let ((from, size), life) = (event.memory, *life);
    (from >> 3..=(from + size.max(1) - 1) >> 3).map(move |piece| (life, piece))
}

/// A pair of accesses, with the answer: rows of the whole trace.
type Pair = (usize, usize, String);

/// Returns the answers for all pairs that conflict, and those for all deadlocks, with events as
/// they are in the whole trace.
fn findings(trace: &Trace, seen: &[Seen], places: &[usize]) -> (Vec<Pair>, Vec<String>) {
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    let (mut pairs, mut deadlocks) = (Vec::new(), Vec::new());
    for (second, b) in seen.iter().enumerate() {
        for (first, a) in seen[..second].iter().enumerate() {
            if conflict(a, b) {
                let [one, two] = [first, second].map(|at| EventId(at as u32));
                let answer = match confirmer.confirm(one, two, &Cancel::new()) {
                    Answer::Confirmed(witness) => format!("{:?}", witness.form),
                    Answer::Impossible => IMPOSSIBLE.into(),
                    other => format!("{other:?}"),
                };
                pairs.push((places[first], places[second], answer));
            }
        }
    }
    let mut check = |_: &[EventId], _: &Witness| Ok(());
    let found = confirmer.deadlocks(&DeadlockOptions::default(), &mut check, &Control::default());
    for deadlock in found.found {
        let requests = deadlock.requests.iter().map(|request| places[request.event.index()]);
        let requests: Vec<usize> = requests.collect();
        deadlocks.push(format!("{requests:?} {}", deadlock.witness().is_some()));
    }
    (pairs, deadlocks)
}

const IMPOSSIBLE: &str = "impossible";

/// Where a pair is in the code, between which synchronisations, and whether it is possible.
fn alike(seen: &[Seen], regions: &[usize], (a, b, answer): &Pair) -> impl Ord + use<> {
    let of = |at: usize| (seen[at].0.task, seen[at].0.pc, seen[at].0.op.kind() as u8, regions[at]);
    (of(*a), of(*b), answer != IMPOSSIBLE)
}

#[test]
fn what_is_left_out_is_ordered_or_alike_and_changes_no_finding() {
    let (mut left_out, mut blocks, mut all, mut confirmed, mut spared) = (0, 0, 0, 0, 0);
    let (mut counts, mut did) = (Counts::default(), [0; 3]);
    for seed in sampled(200, 4_000) {
        let (recording, done) = recorded(seed, 150);
        did = std::array::from_fn(|at| did[at] + done[at]);
        let [whole, part] = [true, false].map(|keeps_private| traced(&recording, keeps_private));
        let [of_whole, of_part] = [&whole, &part].map(|traced| seen(&recording, traced));
        counts.repeated.clear();
        let places = matched(&of_whole, &of_part, &mut counts);
        let places = places.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        let same: Vec<usize> = (0..of_whole.len()).collect();
        let (pairs, deadlocks) = findings(&whole.trace, &of_whole, &same);
        let (found, deadlocks_found) = findings(&part.trace, &of_part, &places);
        assert_eq!(deadlocks_found, deadlocks, "seed {seed}");
        let (_, regions) = histories(&of_whole);
        let known: BTreeSet<&Pair> = pairs.iter().collect();
        for pair in &found {
            assert!(known.contains(pair), "seed {seed}: {pair:?} is another answer");
        }
        let kept: BTreeSet<_> = found.iter().map(|one| alike(&of_whole, &regions, one)).collect();
        let stays: BTreeSet<usize> = places.iter().copied().collect();
        for pair in &pairs {
            if stays.contains(&pair.0) && stays.contains(&pair.1) {
                continue;
            }
            let first_load = |at: usize| counts.repeated.get(&at).copied().unwrap_or(at);
            let told = (first_load(pair.0), first_load(pair.1), pair.2.clone());
            let is_told = pair.2 == IMPOSSIBLE || kept.contains(&alike(&of_whole, &regions, &told));
            let [a, b] = [pair.0, pair.1].map(|at| of_whole[at]);
            assert!(is_told, "seed {seed}: {pair:?} is missing: {a:?} {b:?}");
            spared += usize::from(pair.2 != IMPOSSIBLE);
        }
        left_out += of_whole.len() - of_part.len();
        blocks += part.stats.private_blocks;
        all += of_whole.len();
        confirmed += found.iter().filter(|one| one.2 != IMPOSSIBLE).count();
    }
    println!("{left_out} of {all} left out, {blocks} blocks, {confirmed} confirmed");
    println!(
        "{counts:?}; {spared} found at like pieces; {did:?} creations and joins, loops, polls"
    );
    assert!(left_out * 4 > all && blocks > 100 && confirmed > 300);
    assert!(counts.ordered > counts.alone + 50 && counts.alike > 20 && spared > 8);
    assert!(did[0] > 100 && did[1] > 100 && did[2] > 50 && counts.polls > 20);
}

/// Long runs, in which memory is used again many times.
#[test]
fn what_is_left_out_of_long_runs_is_ordered_or_alike() {
    let (mut left_out, mut all) = (0, 0);
    let mut counts = Counts::default();
    for seed in sampled(60, 2_000) {
        let (recording, _) = recorded(1_000_000 + seed, 1_500);
        let [whole, part] =
            [true, false].map(|keeps_private| seen(&recording, &traced(&recording, keeps_private)));
        let places = matched(&whole, &part, &mut counts);
        assert!(places.is_ok(), "seed {seed}: {places:?}");
        left_out += whole.len() - part.len();
        all += whole.len();
    }
    counts.repeated.clear();
    println!("{left_out} of {all} left out, {counts:?}");
    assert!(left_out * 4 > all && counts.alike > 10);
}

/// The comparison notices rules that are too weak.
#[test]
fn what_should_not_be_left_out_is_noticed() {
    let (mut free, mut fork, mut alike) = (0, 0, 0);
    for seed in 0..40 {
        let (recording, _) = recorded(seed, 300);
        let whole = seen(&recording, &traced(&recording, true));
        let part = seen(&recording, &traced(&recording, false));
        let noticed = |is_out: &dyn Fn(&Seen) -> bool| {
            let less: Vec<Seen> = part.iter().filter(|event| !is_out(event)).copied().collect();
            usize::from(matched(&whole, &less, &mut Counts::default()).is_err())
        };
        // A free of who allocated the block, as if nobody else could use it after that.
        let allocated: BTreeSet<(u32, u32)> = whole
            .iter()
            .filter(|event| event.0.op.kind() == EventKind::Alloc)
            .map(|event| (event.0.task, event.1))
            .collect();
        let is_own = |event: &Seen| allocated.contains(&(event.0.task, event.1));
        free += noticed(&|event| event.0.op.kind() == EventKind::Free && is_own(event));
        // What the first thread did, as if all came after it.
        fork += noticed(&|event| event.0.task == 0 && event.0.op.kind() == EventKind::Write);
        // All pieces but the first, whatever their histories.
        alike += noticed(&|event| {
            let (from, size) = event.0.memory;
            event.0.op.kind() == EventKind::Read && size == 8 && from % 16 == 8
        });
    }
    println!("{free} frees, {fork} forks, {alike} like pieces noticed");
    assert!(free > 15 && fork > 15 && alike > 15);
}

/// A use after the free that creations order is no open pair, and still a mistake: it stays.
#[test]
fn a_use_after_an_ordered_free_stays() {
    let block = 0x10_0000;
    let run = [
        (0, kind::THREAD_BEGIN, Machine::stack(0), 0, 0x1000),
        (0, kind::ALLOC, block, 0, 64),
        (0, kind::FREE, block, 0, 64),
        (0, kind::THREAD_CREATE, 1, 0, 0),
        (1, kind::THREAD_BEGIN, Machine::stack(1), 0, 0x1000),
        (1, kind::READ, block + 8, 8, 0),
    ];
    let mut writer = Writer::default();
    for ((thread, kind, address, arg, third), time) in run.into_iter().zip(1..) {
        let event = Event { kind, address, arg, third, time, pc: pc(time as u32) };
        writer.push(thread, event);
    }
    let traced = traced(&writer.recording(), false);
    let kinds: Vec<EventKind> = traced.trace.events().map(|event| event.kind()).collect();
    assert!(kinds.ends_with(&[EventKind::Read]), "{kinds:?}");
    assert!(kinds.contains(&EventKind::Free), "{kinds:?}");
}
