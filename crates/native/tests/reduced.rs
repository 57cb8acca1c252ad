//! What only one thread touches is left out of the trace. Random runs that allocate, use, free, use
//! again and free twice: against all pairs of events of the whole trace, and with the same
//! findings.

use crate::synthetic::{Writer, pc};
use anyorder_common::random::{Random, Rng};
use anyorder_native::recording::{Event, Recording, kind};
use anyorder_native::{NoNames, Options, Traced, to_trace};
use anyorder_predict::{
    Answer, ConfirmOptions, Confirmer, DeadlockOptions, NoCommunication, Witness,
};
use anyorder_system::{Cancel, Control};
use anyorder_testkit::effort::sampled;
use anyorder_trace::{EventId, EventKind, Location, Op, SiteId, Trace};
use std::collections::BTreeMap;

const THREADS: u32 = 3;
const STATICS: u64 = 0x9000;
const LOCKS: u64 = 0x1000;
const HEAP: u64 = 0x10_0000;
const SIZES: [u64; 6] = [8, 13, 24, 40, 64, 5000];

#[derive(Clone, Copy, Debug)]
struct Block {
    address: u64,
    size: u64,
    owner: u32,
    is_freed: bool,
}

struct Machine {
    rng: Rng,
    run: Vec<(u32, Event)>,
    blocks: Vec<Block>,
    /// By lock: who holds it.
    held: BTreeMap<u64, u32>,
    top: u64,
}

impl Machine {
    fn event(&mut self, thread: u32, kind: u8, address: u64, arg: u8, third: u64) {
        let time = 10 * (self.run.len() as u64 + 1);
        let pc = pc(self.run.len() as u32 % 4000 + 1);
        self.run.push((thread, Event { kind, arg, address, pc, time, third }));
    }

    /// A block of a thread, or now and then of another one; freed or not.
    fn block(&mut self, thread: u32, of_others: u32) -> Option<usize> {
        let others = self.rng.percent(of_others);
        let freed = self.rng.percent(15);
        let fits = |block: &Block| (block.owner != thread) == others && block.is_freed == freed;
        let fitting: Vec<usize> =
            (0..self.blocks.len()).filter(|at| fits(&self.blocks[*at])).collect();
        (!fitting.is_empty()).then(|| self.rng.pick(&fitting))
    }

    fn allocate(&mut self, thread: u32) {
        let size = self.rng.pick(&SIZES);
        // What was freed last is used again, by any thread; also a part of it.
        let reused = self.blocks.iter().rposition(|one| one.is_freed && one.size >= size);
        let reused = reused.filter(|_| self.rng.percent(80));
        let address = match reused {
            Some(at) => {
                let old = self.blocks.swap_remove(at);
                let room = (old.size - size) / 16 * 16;
                old.address + if self.rng.percent(50) { 0 } else { room }
            }
            None => {
                self.top += size.next_multiple_of(16);
                HEAP + self.top - size.next_multiple_of(16)
            }
        };
        self.blocks.push(Block { address, size, owner: thread, is_freed: false });
        self.event(thread, kind::ALLOC, address, 0, size);
    }

    fn step(&mut self) {
        let thread = self.rng.below(THREADS.into()) as u32;
        let kind = self.rng.pick(&[kind::READ, kind::WRITE]);
        match self.rng.below(100) {
            0..18 => self.allocate(thread),
            18..32 => {
                if let Some(at) = self.block(thread, 4) {
                    let Block { address, size, .. } = self.blocks[at];
                    self.blocks[at].is_freed = true;
                    // The allocator tells how much may be used, which is often more.
                    let usable = size + self.rng.pick(&[0, 8, 11]);
                    self.event(thread, kind::FREE, address, 0, usable);
                }
            }
            32..70 => {
                if let Some(at) = self.block(thread, 12) {
                    let Block { address, size, .. } = self.blocks[at];
                    let width = self.rng.pick(&[1, 4, 8]).min(size);
                    let offset = self.rng.below(size.min(64) / width) * width;
                    if size > 4096 && self.rng.percent(50) {
                        let kind =
                            if kind == kind::READ { kind::READ_RANGE } else { kind::WRITE_RANGE };
                        self.event(thread, kind, address, 0, size);
                    } else if self.rng.percent(10) {
                        self.event(thread, kind::ATOMIC_RMW, address, 4 | 4 << 5, 0);
                    } else {
                        self.event(thread, kind, address + offset, width as u8, 0);
                    }
                }
            }
            70..76 => {
                let address = STATICS + 8 * self.rng.below(20);
                self.event(thread, kind, address, 8, 0);
            }
            76 => {
                let address = STATICS + 8 * self.rng.below(20);
                self.event(thread, kind::FREE, address, 0, 16);
            }
            77..82 => {
                let of = if self.rng.percent(10) { self.rng.below(3) } else { thread.into() };
                let address = 0x7000_0000 + 0x1_0000 * of + 8 * self.rng.below(4);
                self.event(thread, kind, address, 8, 0);
            }
            82..98 => {
                let mut lock = LOCKS + 0x100 * self.rng.below(2);
                if self.rng.percent(15)
                    && let Some(at) = self.block(thread, 30)
                {
                    lock = self.blocks[at].address;
                }
                let own = self.held.iter().find(|(_, holder)| **holder == thread);
                match own.map(|(lock, _)| *lock) {
                    Some(lock) if self.rng.percent(60) => {
                        self.held.remove(&lock);
                        self.event(thread, kind::UNLOCK, lock, 0, 0);
                    }
                    _ if !self.held.contains_key(&lock) => {
                        self.held.insert(lock, thread);
                        self.event(thread, kind::LOCK, lock, 0, 0);
                    }
                    _ => {}
                }
            }
            _ => self.event(thread, kind::ATOMIC_LOAD, STATICS, 8 | 2 << 5, 0),
        }
    }
}

fn recorded(seed: u64, steps: u64) -> Recording {
    let mut machine = Machine {
        rng: Rng::new(seed),
        run: Vec::new(),
        blocks: Vec::new(),
        held: BTreeMap::new(),
        top: 0,
    };
    for thread in 1..THREADS {
        machine.event(0, kind::THREAD_CREATE, thread.into(), 0, 0);
    }
    for thread in 0..THREADS {
        let stack = 0x7000_0000 + 0x1_0000 * u64::from(thread);
        machine.event(thread, kind::THREAD_BEGIN, stack, 0, 0x1000);
    }
    for _ in 0..steps {
        machine.step();
    }
    let mut writer = Writer::default();
    machine.run.iter().for_each(|(thread, event)| writer.push(*thread, *event));
    writer.recording()
}

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
    site: SiteId,
    /// The first address and the size of its memory; zero without.
    memory: (u64, u64),
}

/// An event and the generation of its memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Seen(Same, u32);

fn seen(traced: &Traced) -> Vec<Seen> {
    let tables = traced.trace.tables();
    let of = |(event, origin): (anyorder_trace::Event, &u32)| {
        let location = event.location().map(|location| tables.locations[location.index()]);
        let (memory, generation) = match location {
            Some(Location::Range { address, size, generation }) => {
                ((address, size.into()), generation)
            }
            _ => ((0, 0), 0),
        };
        let same =
            Same { task: event.task.0, op: event.op, origin: *origin, site: event.site, memory };
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

/// Compares a trace with the whole one. Returns where each event of it is in that, or what is
/// wrong.
fn matched(whole: &[Seen], part: &[Seen]) -> Result<Vec<usize>, String> {
    let mut places = Vec::new();
    let mut rest = part.iter().peekable();
    for (at, event) in whole.iter().enumerate() {
        if rest.next_if(|next| next.0 == event.0).is_some() {
            places.push(at);
            continue;
        }
        let kind = event.0.op.kind();
        if !kind.is_access() && kind != EventKind::Alloc {
            return Err(format!("left out: {event:?}"));
        }
        let others = |other: &&Seen| other.0.task != event.0.task && meet(event, other);
        if let Some(other) = whole.iter().find(others) {
            return Err(format!("left out: {event:?}, which {other:?} meets"));
        }
    }
    if rest.peek().is_some() {
        return Err("an event that is not in the whole trace".into());
    }
    for (at, a) in part.iter().enumerate() {
        for (before, b) in part[..at].iter().enumerate() {
            if conflict(a, b) != conflict(&whole[places[at]], &whole[places[before]]) {
                return Err(format!("{a:?} and {b:?} conflict in one trace only"));
            }
        }
    }
    Ok(places)
}

/// Returns the answers for all pairs that conflict and for all deadlocks, with events as they are
/// in the whole trace.
fn findings(trace: &Trace, seen: &[Seen], places: &[usize]) -> Vec<String> {
    let mut nothing = NoCommunication;
    let mut confirmer = Confirmer::new(trace, &mut nothing, ConfirmOptions::default());
    let mut all = Vec::new();
    for (second, b) in seen.iter().enumerate() {
        for (first, a) in seen[..second].iter().enumerate() {
            if conflict(a, b) {
                let [one, two] = [first, second].map(|at| EventId(at as u32));
                let answer = match confirmer.confirm(one, two, &Cancel::new()) {
                    Answer::Confirmed(witness) => format!("{:?}", witness.form),
                    Answer::Impossible => "impossible".into(),
                    other => format!("{other:?}"),
                };
                all.push(format!("{} {}: {answer}", places[first], places[second]));
            }
        }
    }
    let mut check = |_: &[EventId], _: &Witness| Ok(());
    let found = confirmer.deadlocks(&DeadlockOptions::default(), &mut check, &Control::default());
    for deadlock in found.found {
        let requests = deadlock.requests.iter().map(|request| places[request.event.index()]);
        let requests: Vec<usize> = requests.collect();
        all.push(format!("{requests:?} {}", deadlock.witness().is_some()));
    }
    all
}

#[test]
fn what_is_left_out_meets_nothing_and_changes_no_finding() {
    let (mut left_out, mut blocks, mut all, mut confirmed) = (0, 0, 0, 0);
    for seed in sampled(60, 2_000) {
        let recording = recorded(seed, 150);
        let [whole, part] = [true, false].map(|keeps_private| traced(&recording, keeps_private));
        let [of_whole, of_part] = [&whole, &part].map(seen);
        let places = matched(&of_whole, &of_part);
        let places = places.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
        let same: Vec<usize> = (0..of_whole.len()).collect();
        let expected = findings(&whole.trace, &of_whole, &same);
        let found = findings(&part.trace, &of_part, &places);
        assert_eq!(found, expected, "seed {seed}");
        left_out += of_whole.len() - of_part.len();
        blocks += part.stats.private_blocks;
        all += of_whole.len();
        confirmed += found.iter().filter(|one| !one.ends_with("impossible")).count();
    }
    println!("{left_out} of {all} left out, {blocks} blocks, {confirmed} confirmed");
    assert!(left_out * 4 > all && blocks > 100 && confirmed > 300);
}

/// Long runs, in which memory is used again many times.
#[test]
fn what_is_left_out_of_long_runs_meets_nothing() {
    let (mut left_out, mut all) = (0, 0);
    for seed in sampled(60, 2_000) {
        let recording = recorded(1_000_000 + seed, 1_500);
        let [whole, part] =
            [true, false].map(|keeps_private| seen(&traced(&recording, keeps_private)));
        let places = matched(&whole, &part);
        assert!(places.is_ok(), "seed {seed}: {places:?}");
        left_out += whole.len() - part.len();
        all += whole.len();
    }
    println!("{left_out} of {all} left out");
    assert!(left_out * 4 > all);
}

/// The comparison notices a free that is taken to end the life of its memory: what others do after
/// it would belong to nobody.
#[test]
fn a_free_that_ends_a_life_is_noticed() {
    let mut noticed = 0;
    for seed in 0..40 {
        let recording = recorded(seed, 300);
        let whole = seen(&traced(&recording, true));
        let mut owners: BTreeMap<(u64, u32), Option<u32>> = BTreeMap::new();
        // By life: whether only the thread that allocates it touches it before it is freed.
        let mut is_over: BTreeMap<(u64, u32), bool> = BTreeMap::new();
        for event in &whole {
            let (task, generation) = (event.0.task, event.1);
            let allocated = owners.keys().copied().filter(|(_, of)| *of == generation);
            let at = allocated.filter(|(from, _)| *from <= event.0.memory.0).max();
            match event.0.op.kind() {
                EventKind::Alloc => {
                    owners.insert((event.0.memory.0, generation), Some(task));
                }
                EventKind::Free => {
                    at.map(|life| is_over.insert(life, true));
                }
                kind if kind.is_access() => {
                    if let Some(life) = at
                        && !is_over.contains_key(&life)
                        && let Some(owner) = owners.get_mut(&life)
                        && *owner != Some(task)
                    {
                        *owner = None;
                    }
                }
                _ => {}
            }
        }
        let is_private = |event: &&Seen| {
            let life = (event.0.memory.0, event.1);
            event.0.op.kind() == EventKind::Free
                && owners.get(&life).is_some_and(|owner| *owner == Some(event.0.task))
        };
        let part: Vec<Seen> = whole.iter().filter(|event| !is_private(event)).copied().collect();
        noticed += usize::from(matched(&whole, &part).is_err());
    }
    println!("{noticed} noticed");
    assert!(noticed > 20, "{noticed}");
}
