//! What the places of findings are about: the memory, the threads and the locks, as far as a
//! recording tells.
//!
//! One pass over the trace collects the facts at all places that findings name. Variables are named
//! by the debugging information of the program.

use super::RecordedRun;
use crate::result::{JobResult, Reported};
use crate::words::position;
use anyorder_certify::Names;
use anyorder_finding::{Finding, Frame, Related, RelatedKind, Site, Stack, Warning, WarningKind};
use anyorder_native::symbols::{Sources, Symbols};
use anyorder_native::variables::Global;
use anyorder_trace::{Event, EventId, EventKind, HandlerId, Location, LockId, SiteId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// A block of memory: its first address, its size, and its allocation.
#[derive(Clone, Copy, Debug)]
struct Block {
    start: u64,
    size: u64,
    allocation: EventId,
}

/// What is known at an event.
#[derive(Clone, Debug, Default)]
struct Facts {
    /// The locks that its thread holds, each with the acquire.
    held: Vec<(LockId, EventId)>,
    /// The block that holds the memory.
    block: Option<Block>,
}

/// The facts at some events of a trace, and the creation of each thread.
#[derive(Debug, Default)]
struct Known {
    at: BTreeMap<EventId, Facts>,
    creations: BTreeMap<HandlerId, EventId>,
}

/// Adds to the findings of a run what their places are about, and the stacks and locks of places
/// that have none yet. Linear in the trace, and in the debugging information of the files whose
/// variables are accessed.
pub fn describe(run: &RecordedRun<'_>, result: &mut JobResult) {
    let trace = &run.input.trace;
    let names = Names::new(trace);
    let event_of = |site: &Site| site.event.as_ref().and_then(|label| names.find_event(label));
    let sites = result.findings.iter().flat_map(|one| &one.finding.sites);
    let wanted: BTreeSet<EventId> = sites.filter_map(event_of).collect();
    if wanted.is_empty() {
        return;
    }
    warn_of_clang(run, result);
    let known = collect(trace, &wanted);
    let symbols = Symbols::new(&run.recording.modules, run.folder.clone());
    let sources = &run.sources;
    let mut describer =
        Describer { trace, sources, known: &known, symbols, globals: BTreeMap::new() };
    for Reported { finding, .. } in &mut result.findings {
        let events: Vec<Option<EventId>> = finding.sites.iter().map(event_of).collect();
        describer.complete(finding, &events);
        describer.relate(finding, &events);
    }
}

/// Without its option, `clang` reports no read of what the code writes at once: of `--count` only
/// the write. What such a read has seen is unknown then, and with it what rests on that.
fn warn_of_clang(run: &RecordedRun<'_>, result: &mut JobResult) {
    let runtime = |path: &str| path.rsplit('/').next().map(|name| name.starts_with("libclang_rt."));
    let mut pieces = run.recording.modules.pieces().iter();
    if pieces.any(|piece| runtime(&piece.path) == Some(true)) {
        let what = "built by clang: without `-mllvm -tsan-instrument-read-before-write=1` it leaves out reads, and orders that cannot happen may be reported";
        result.warnings.push(Warning::new(WarningKind::Odd, &run.input.name, what, 1));
    }
}

/// Passes over a trace, until the last of the wanted events.
fn collect(trace: &Trace, wanted: &BTreeSet<EventId>) -> Known {
    let mut known = Known::default();
    let mut held: BTreeMap<HandlerId, Vec<(LockId, EventId)>> = BTreeMap::new();
    let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
    let mut wanted = wanted.iter().peekable();
    for event in trace.events() {
        let thread = trace.handler_of(event.id);
        if wanted.next_if_eq(&&event.id).is_some() {
            let held = held.get(&thread).cloned().unwrap_or_default();
            let block = range(trace, event).and_then(|(address, _)| block_at(&blocks, address));
            known.at.insert(event.id, Facts { held, block });
        }
        match event.kind() {
            EventKind::Acquire => {
                held.entry(thread).or_default().push((LockId(event.operand), event.id));
            }
            EventKind::Release => {
                let held = held.entry(thread).or_default();
                let last = held.iter().rposition(|(lock, _)| lock.0 == event.operand);
                last.map(|at| held.remove(at));
            }
            EventKind::Fork => {
                known.creations.entry(HandlerId(event.operand)).or_insert(event.id);
            }
            EventKind::Alloc => {
                if let Some((start, size)) = range(trace, event) {
                    add_block(&mut blocks, Block { start, size, allocation: event.id });
                }
            }
            _ => {}
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    known
}

/// Returns the memory that an event acts on.
fn range(trace: &Trace, event: Event) -> Option<(u64, u64)> {
    match trace.tables().locations.get(event.location()?.index())? {
        Location::Range { address, size, .. } => Some((*address, u64::from(*size))),
        _ => None,
    }
}

/// Adds a block in the place of those that it overlaps. A block that was freed stays until then: a
/// use after its free belongs to it.
fn add_block(blocks: &mut BTreeMap<u64, Block>, block: Block) {
    let end = block.start.saturating_add(block.size.max(1));
    while let Some((start, last)) = blocks.range(..end).next_back() {
        let (start, last) = (*start, *last);
        if last.start.saturating_add(last.size.max(1)) <= block.start {
            break;
        }
        blocks.remove(&start);
    }
    blocks.insert(block.start, block);
}

fn block_at(blocks: &BTreeMap<u64, Block>, address: u64) -> Option<Block> {
    let (_, block) = blocks.range(..=address).next_back()?;
    (address - block.start < block.size.max(1)).then_some(*block)
}

struct Describer<'r> {
    trace: &'r Trace,
    sources: &'r Sources,
    known: &'r Known,
    symbols: Symbols<'r>,
    globals: BTreeMap<(u64, u64), Option<Global>>,
}

impl Describer<'_> {
    /// Adds stacks and locks to the places that have none.
    fn complete(&self, finding: &mut Finding, events: &[Option<EventId>]) {
        for (site, event) in finding.sites.iter_mut().zip(events) {
            let Some(event) = *event else { continue };
            if site.stack.is_unknown() {
                site.stack = self.stack(event);
            }
            site.frames = self.frames(event);
            if let Some(facts) = self.known.at.get(&event).filter(|_| site.locks.is_empty()) {
                site.locks =
                    facts.held.iter().map(|(lock, _)| self.lock(*lock).to_owned()).collect();
            }
        }
    }

    /// Adds what the places of a finding are about: each thing once.
    fn relate(&mut self, finding: &mut Finding, events: &[Option<EventId>]) {
        let mut all: Vec<Related> = Vec::new();
        let mut add = |related: Related, number: u32| {
            let same = |one: &&mut Related| one.kind == related.kind && one.text == related.text;
            match all.iter_mut().find(same) {
                Some(known) => known.of.push(number),
                None => all.push(Related { of: vec![number], ..related }),
            }
        };
        let events = || (1..).zip(events).filter_map(|(number, event)| Some((number, (*event)?)));
        for (number, event) in events() {
            let Some((related, name)) = self.memory(event) else { continue };
            add(related, number);
            let location = finding.sites[number as usize - 1].location.as_ref();
            if let (Some(name), Some(location)) = (name, location) {
                let (address, variable) = (format!("`{location}`"), format!("`{name}`"));
                finding.title = finding.title.replace(&address, &variable);
            }
        }
        for (number, event) in events() {
            if let Some(related) = self.thread(event) {
                add(related, number);
            }
        }
        for (number, event) in events() {
            let Some(facts) = self.known.at.get(&event) else { continue };
            let thread = self.trace.handler_name(self.trace.handler_of(event));
            for (lock, acquire) in &facts.held {
                let text = format!("`{}`, held by `{thread}`, was taken", self.lock(*lock));
                let site = self.site(*acquire);
                add(Related { kind: RelatedKind::Lock, text, of: Vec::new(), site }, number);
            }
        }
        finding.related = all;
    }

    /// Describes the memory of an access, and names it if it is a variable.
    fn memory(&mut self, event: EventId) -> Option<(Related, Option<String>)> {
        let (address, bytes) = range(self.trace, self.trace.event(event))?;
        let related =
            |text, site| Related { kind: RelatedKind::Memory, text, of: Vec::new(), site };
        if let Some(block) = self.known.at.get(&event).and_then(|facts| facts.block) {
            let owner = self.trace.handler_of(block.allocation);
            let owner = self.trace.handler_name(owner);
            let tables = self.trace.tables();
            let at = tables.sites[self.trace.event(block.allocation).site.index()];
            let inside = match address - block.start {
                0 => String::new(),
                inside => format!("byte {inside} of "),
            };
            if tables.name(at.label).starts_with("the stack of ") {
                let text = format!("stack of `{owner}`");
                return Some((related(text, Site::default()), None));
            }
            let Block { start, size, .. } = block;
            let text =
                format!("{inside}heap block of size {size} at {start:#x}, allocated by `{owner}`");
            return Some((related(text, self.site(block.allocation)), None));
        }
        let symbols = &mut self.symbols;
        let global = self.globals.entry((address, bytes));
        let global = global.or_insert_with(|| symbols.global(address, bytes));
        let Global { name, size, file, line } = global.clone()?;
        let of_size = if size > 0 { format!(" of size {size}") } else { String::new() };
        let site = Site {
            file: Some(file).filter(|file| !file.is_empty()),
            line: Some(line).filter(|line| *line > 0),
            ..Site::default()
        };
        Some((related(format!("global `{name}`{of_size}"), site), Some(name)))
    }

    /// Describes the creation of the thread of an event. The main thread has none.
    fn thread(&self, event: EventId) -> Option<Related> {
        let thread = self.trace.handler_of(event);
        let creation = *self.known.creations.get(&thread)?;
        // Where a part begins, nobody has created the threads that were there before.
        if self.trace.event(creation).site == SiteId::UNKNOWN {
            return None;
        }
        let by = self.trace.handler_name(self.trace.handler_of(creation));
        let text = format!("`{}`, created by `{by}`", self.trace.handler_name(thread));
        let (kind, site) = (RelatedKind::Thread, self.site(creation));
        Some(Related { kind, text, of: Vec::new(), site })
    }

    /// Returns the place of an event, with its stack.
    fn site(&self, event: EventId) -> Site {
        let site = position(self.trace.tables(), self.trace.event(event).site);
        let (stack, frames) = (self.stack(event), self.frames(event));
        Site { event: Some(self.trace.label(event)), stack, frames, ..site }
    }

    fn stack(&self, event: EventId) -> Stack {
        let tables = self.trace.tables();
        let stack = self.trace.columns().stacks.get(event.0);
        let positions = stack.and_then(|stack| tables.stacks.get(stack.index()));
        let positions: &[SiteId] = positions.map_or(&[], Vec::as_slice);
        positions.iter().map(|site| tables.site_in_function(*site)).collect()
    }

    /// Returns the stack of an event as suppressions see it.
    fn frames(&self, event: EventId) -> Vec<Frame> {
        let tables = self.trace.tables();
        let stack = self.trace.columns().stacks.get(event.0);
        let positions = stack.and_then(|stack| tables.stacks.get(stack.index()));
        let frame = |site: &SiteId| {
            let site = tables.sites[site.index()];
            let (function, shown) = (tables.name(site.function), tables.name(site.file));
            // A file that is no source is a library.
            let (file, module) = match self.sources.get(shown) {
                Some(source) => (source.path.to_string_lossy(), source.program.to_string_lossy()),
                None => (shown.into(), shown.into()),
            };
            let (file, module) = (file.into_owned(), module.into_owned());
            Frame { function: function.to_owned(), file, module }
        };
        positions.map_or(&[][..], Vec::as_slice).iter().map(frame).collect()
    }

    fn lock(&self, lock: LockId) -> &str {
        let tables = self.trace.tables();
        tables.locks.get(lock.index()).map_or("?", |name| tables.name(*name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_common::random::{Random, Rng};
    use anyorder_trace::{Columns, Handler, Mode, Op, Tables, TaskDef, TaskId};

    const THREADS: u32 = 3;
    const LOCKS: u64 = 3;

    /// A trace of allocations, accesses, locks and forks that need not fit each other.
    fn random(random: &mut Rng) -> Trace {
        let (mut tables, mut columns) = (Tables::default(), Columns::default());
        for thread in 0..THREADS {
            let name = tables.names.push(&format!("T{thread}")).expect("room");
            tables.handlers.push(Handler { name, ..Handler::default() });
            let handler = HandlerId(thread);
            tables.tasks.push(TaskDef { name, handler, ..TaskDef::default() });
        }
        for lock in 0..LOCKS {
            let name = tables.names.push(&format!("m{lock}")).expect("room");
            tables.locks.push(name);
        }
        for address in 0..12 {
            for size in 1..5 {
                tables.locations.push(Location::Range { address, size, generation: 0 });
            }
        }
        for _ in 0..random.below(60) {
            let task = TaskId(random.below(u64::from(THREADS)) as u32);
            let location = random.index(tables.locations.len()) as u32;
            let lock = random.below(LOCKS) as u32;
            let other = random.below(u64::from(THREADS)) as u32;
            let (kind, operand) = match random.below(12) {
                0..3 => (EventKind::Alloc, location),
                3 => (EventKind::Free, location),
                4..7 => (EventKind::Read, location),
                7..9 => (EventKind::Acquire, lock),
                9..11 => (EventKind::Release, lock),
                _ => (EventKind::Fork, other),
            };
            columns.push(Op::new(kind, Mode::PLAIN), task, operand, SiteId::UNKNOWN);
        }
        Trace::new(tables, columns)
    }

    /// The locks that are held at an event: the acquires of its thread before it, without each that
    /// the next release of its lock gives back.
    fn held(trace: &Trace, at: EventId) -> Vec<(LockId, EventId)> {
        let own: Vec<Event> = (0..at.0)
            .map(|row| trace.event(EventId(row)))
            .filter(|event| trace.handler_of(event.id) == trace.handler_of(at))
            .collect();
        let is_held = |(place, event): &(usize, &Event)| {
            let mut depth = 1;
            for later in own[place + 1..].iter().filter(|later| later.operand == event.operand) {
                match later.kind() {
                    EventKind::Acquire => depth += 1,
                    EventKind::Release => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    return false;
                }
            }
            true
        };
        let acquires = own.iter().enumerate().filter(|(_, one)| one.kind() == EventKind::Acquire);
        acquires.filter(is_held).map(|(_, one)| (LockId(one.operand), one.id)).collect()
    }

    /// The last allocation before an event that has its address, unless a later one overlaps it.
    fn block(trace: &Trace, at: EventId) -> Option<EventId> {
        let (address, _) = range(trace, trace.event(at))?;
        let allocations = (0..at.0).map(|row| trace.event(EventId(row)));
        let allocations: Vec<(EventId, u64, u64)> = allocations
            .filter(|event| event.kind() == EventKind::Alloc)
            .filter_map(|event| range(trace, event).map(|(start, size)| (event.id, start, size)))
            .collect();
        let found = allocations
            .iter()
            .rposition(|(_, start, size)| address >= *start && address < start + size)?;
        let (id, start, size) = allocations[found];
        let overlaps =
            |(_, from, length): &(EventId, u64, u64)| *from < start + size && start < from + length;
        (!allocations[found + 1..].iter().any(overlaps)).then_some(id)
    }

    #[test]
    fn facts_are_those_of_a_look_at_each_event() {
        let (mut with_locks, mut with_block, mut forked) = (0, 0, 0);
        for seed in 0..2_000 {
            let mut numbers = Rng::new(seed);
            let trace = random(&mut numbers);
            let all = (0..trace.len() as u32).map(EventId);
            let wanted: BTreeSet<EventId> = all.filter(|_| numbers.percent(40)).collect();
            let known = collect(&trace, &wanted);
            assert_eq!(known.at.keys().copied().collect::<BTreeSet<_>>(), wanted, "seed {seed}");
            for (event, facts) in &known.at {
                assert_eq!(facts.held, held(&trace, *event), "seed {seed}, event {}", event.0);
                let found = facts.block.map(|block| block.allocation);
                assert_eq!(found, block(&trace, *event), "seed {seed}, event {}", event.0);
                with_locks += u32::from(!facts.held.is_empty());
                with_block += u32::from(found.is_some());
            }
            for (thread, creation) in &known.creations {
                let is_fork =
                    |event: &Event| event.kind() == EventKind::Fork && event.operand == thread.0;
                let first = trace.events().find(is_fork).map(|event| event.id);
                assert_eq!(first, Some(*creation), "seed {seed}");
                forked += 1;
            }
        }
        assert!(with_locks > 1_000 && with_block > 1_000 && forked > 1_000);
    }
}
