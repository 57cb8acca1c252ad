//! Call stacks, as the calls and returns of each thread give them, and their names.

use super::{Frame, Names};
use crate::recording::Modules;
use anyorder_trace::{Interner, NameId, Site, SiteId, StackId, TableFull};
use rustc_hash::FxHashMap;

/// The most positions of a stack that are kept, the innermost ones.
const FRAMES_MAX: usize = 64;

/// A call from one place, below the calls around it. The first one stands for no call.
#[derive(Clone, Copy, Debug, Default)]
struct Call {
    outer: u32,
    /// The address after the call.
    after: u64,
}

/// Where an event is: its site and its stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Where {
    pub(super) site: SiteId,
    pub(super) stack: Option<StackId>,
}

impl Where {
    /// No place in the code.
    pub(super) const NOWHERE: Where = Where { site: SiteId::UNKNOWN, stack: None };
}

/// All stacks: each has a number, and equal ones have the same.
#[derive(Debug)]
pub(super) struct Stacks<'a> {
    modules: &'a Modules,
    calls: Vec<Call>,
    numbers: FxHashMap<(u32, u64), u32>,
    /// The open calls of each thread.
    open: Vec<Vec<u32>>,
    /// Code addresses by their low half.
    addresses: FxHashMap<u32, Option<u64>>,
    /// The positions of a code address, innermost first.
    sites: FxHashMap<u64, Vec<SiteId>>,
    known: FxHashMap<(u32, u32), Where>,
    stacks: FxHashMap<Vec<SiteId>, StackId>,
    /// Low halves that fit several code addresses.
    pub(super) ambiguous: u64,
    /// Low halves that fit none.
    pub(super) unknown: u64,
}

impl<'a> Stacks<'a> {
    pub(super) fn new(modules: &'a Modules, threads: usize) -> Stacks<'a> {
        Stacks {
            modules,
            calls: vec![Call::default()],
            numbers: FxHashMap::default(),
            open: vec![Vec::new(); threads],
            addresses: FxHashMap::default(),
            sites: FxHashMap::default(),
            known: FxHashMap::default(),
            stacks: FxHashMap::default(),
            ambiguous: 0,
            unknown: 0,
        }
    }

    /// Forgets the ids of tables, for others. The open calls stay.
    pub(super) fn forget_ids(&mut self) {
        self.sites.clear();
        self.known.clear();
        self.stacks.clear();
    }

    /// A thread calls a function.
    pub(super) fn call(&mut self, lane: usize, after: u64) {
        let outer = self.open[lane].last().copied().unwrap_or(0);
        let next = self.calls.len() as u32;
        let number = *self.numbers.entry((outer, after)).or_insert(next);
        if number == next {
            self.calls.push(Call { outer, after });
        }
        self.open[lane].push(number);
    }

    /// A thread returns from a function.
    pub(super) fn return_(&mut self, lane: usize) {
        self.open[lane].pop();
    }

    /// A thread leaves all calls but this many.
    pub(super) fn unwind(&mut self, lane: usize, depth: u64) {
        self.open[lane].truncate(usize::try_from(depth).unwrap_or(usize::MAX));
    }

    /// Returns the code address of a place: the one before the address after it.
    fn address(&mut self, low: u32) -> Option<u64> {
        if let Some(known) = self.addresses.get(&low) {
            return *known;
        }
        let mut found = self.modules.complete(low.wrapping_sub(1));
        let first = found.next();
        self.ambiguous += u64::from(found.next().is_some());
        self.unknown += u64::from(first.is_none());
        self.addresses.insert(low, first);
        first
    }

    /// Returns where an event of a thread is.
    pub(super) fn place(
        &mut self,
        lane: usize,
        low: u32,
        names: &mut dyn Names,
        interner: &mut Interner,
    ) -> Result<Where, TableFull> {
        let call = self.open[lane].last().copied().unwrap_or(0);
        if let Some(known) = self.known.get(&(call, low)) {
            return Ok(*known);
        }
        let mut frames = Vec::new();
        if low != 0
            && let Some(address) = self.address(low)
        {
            self.add(address, names, interner, &mut frames)?;
        }
        let mut next = call;
        while next != 0 && frames.len() < FRAMES_MAX {
            let Call { outer, after } = self.calls[next as usize];
            self.add(after.wrapping_sub(1), names, interner, &mut frames)?;
            next = outer;
        }
        frames.truncate(FRAMES_MAX);
        // Libraries of which nothing is known but their names say nothing around a known place.
        let table = &interner.tables.sites;
        let is_known = |site: &SiteId| {
            let site = table[site.index()];
            site.line != 0 || site.function != NameId::EMPTY
        };
        if frames.iter().any(is_known) {
            frames.retain(is_known);
        }
        let tables = &interner.tables;
        let line = |site: &SiteId| tables.sites[site.index()].line;
        let file = |site: &SiteId| tables.name(tables.sites[site.index()].file);
        // A line of the program says more than one of a template that it uses.
        let is_own = |site: &&SiteId| line(site) != 0 && !is_of_system(file(site));
        let own = frames.iter().find(is_own);
        let site = own.or_else(|| frames.iter().find(|site| line(site) != 0)).or(frames.first());
        let site = site.copied().unwrap_or(SiteId::UNKNOWN);
        let stack = match frames.len() {
            0 => None,
            _ => Some(self.stack(frames, interner)?),
        };
        let place = Where { site, stack };
        self.known.insert((call, low), place);
        Ok(place)
    }

    /// Adds the positions of a code address: several where functions are inlined.
    fn add(
        &mut self,
        address: u64,
        names: &mut dyn Names,
        interner: &mut Interner,
        frames: &mut Vec<SiteId>,
    ) -> Result<(), TableFull> {
        if let Some(known) = self.sites.get(&address) {
            frames.extend_from_slice(known);
            return Ok(());
        }
        let mut sites = Vec::new();
        for frame in names.frames(address) {
            let site = interned(&frame, interner)?;
            if site != SiteId::UNKNOWN {
                sites.push(site);
            }
        }
        frames.extend_from_slice(&sites);
        self.sites.insert(address, sites);
        Ok(())
    }

    fn stack(
        &mut self,
        frames: Vec<SiteId>,
        interner: &mut Interner,
    ) -> Result<StackId, TableFull> {
        if let Some(known) = self.stacks.get(&frames) {
            return Ok(*known);
        }
        let table = &mut interner.tables.stacks;
        if table.len() >= u32::MAX as usize {
            return Err(TableFull("stacks"));
        }
        let id = StackId::from_index(table.len());
        table.push(frames.clone());
        self.stacks.insert(frames, id);
        Ok(id)
    }
}

/// Returns whether a source file is a header of the system or of a compiler.
fn is_of_system(file: &str) -> bool {
    file.starts_with("/usr/include/") || file.contains("/include/c++/")
}

fn interned(frame: &Frame, interner: &mut Interner) -> Result<SiteId, TableFull> {
    let function = interner.name(&frame.function)?;
    let file = interner.name(&frame.file)?;
    interner.site(Site {
        label: NameId::EMPTY,
        function,
        file,
        line: frame.line,
        column: frame.column,
    })
}
