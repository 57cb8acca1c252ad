//! Reads a checkpoint. Whatever the file holds, this ends with a search or an error.

use super::bytes::{In, is_whole};
use super::{MAGIC, VERSION, options_text};
use crate::commit::exclusive;
use crate::error::SearchError;
use crate::frontier::Entry;
use crate::graph::Graph;
use crate::links::NO_PARENT;
use crate::options::SearchOptions;
use crate::outcome::Property;
use crate::search::{Fault, Search};
use crate::store::{Bitstate, Exact, FingerprintTable, Key, NUMBERS_MAX, Store};
use anyorder_common::files::{FileError, Source, open_regular};
use anyorder_system::{JobWatch, StateSystem};
use std::io::{self, BufReader, Read};
use std::path::Path;

type Result<T> = std::result::Result<T, SearchError>;

/// Opens the file, which is read twice.
fn open(path: &Path) -> Result<BufReader<Watched>> {
    let source = open_regular(path).map_err(|error| match error {
        FileError::Io(error) => error.into(),
        _ => SearchError::NotACheckpoint("it is not a regular file"),
    })?;
    Ok(BufReader::new(Watched { source, watch: JobWatch::current() }))
}

/// A file that fails once the job of this thread was asked to stop.
struct Watched {
    source: Source,
    watch: JobWatch,
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.check().map_err(io::Error::other)?;
        self.source.read(buffer)
    }
}

const fn bad<T>(what: &'static str) -> Result<T> {
    Err(SearchError::NotACheckpoint(what))
}

impl<'s, S: StateSystem> Search<'s, S> {
    /// Resumes from a file that [`save`](Self::save) wrote. Threads, limits and the end condition
    /// may differ; order, storage, symmetry and the checked properties may not.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is damaged, or belongs to another program or other
    /// options, and once the job of this thread was asked to stop.
    pub fn resume(
        system: &'s S,
        options: &SearchOptions,
        path: &Path,
        identity: &str,
    ) -> Result<Search<'s, S>> {
        if options.updates && !system.components().is_empty() {
            return Err(SearchError::NoUpdates("in a search that is gone on with"));
        }
        if options.livelocks && system.actors().is_some() {
            return Err(SearchError::NoLivelocks);
        }
        if !is_whole(open(path)?)? {
            return bad("its check sum is wrong");
        }
        let mut input = In::new(open(path)?);
        if input.array::<16>()? != *MAGIC {
            return bad("it does not start as one");
        }
        if input.u32()? != VERSION {
            return bad("its version is not known");
        }
        let mut search = Search::empty(system, options)?;
        expect("program", input.text()?, identity)?;
        expect("options", input.text()?, &options_text(&search.options))?;
        search.read(&mut input)?;
        Ok(search)
    }

    fn read<R: Read>(&mut self, input: &mut In<R>) -> Result<()> {
        let stats = &mut self.stats;
        for number in [
            &mut stats.states,
            &mut stats.transitions,
            &mut stats.executions,
            &mut stats.max_depth,
            &mut stats.frontier_peak,
        ] {
            *number = input.u64()?;
        }
        let states = stats.states;
        if states > NUMBERS_MAX {
            return bad("it has too many states");
        }
        self.level = input.u64()?.checked_sub(1).map(|level| level as u32);
        for number in 0..states as u32 {
            let (parent, place) = (input.u32()?, input.u32()?);
            if parent != NO_PARENT && parent >= number {
                return bad("a state comes before its parent");
            }
            self.links.push(parent, place);
        }
        if input.u64()? != self.parts_ran.len() as u64 {
            return bad("it has other parts");
        }
        for ran in &mut self.parts_ran {
            *ran = input.u8()? != 0;
        }
        self.read_faults(input)?;
        read_store(exclusive(&mut self.store), input, states)?;
        self.read_frontier(input)?;
        match (input.u8()? != 0, &mut self.graph) {
            (false, None) => Ok(()),
            (true, Some(graph)) => read_graph(graph, self.responses, input, states),
            _ => bad("its graph is missing"),
        }
    }

    fn read_faults<R: Read>(&mut self, input: &mut In<R>) -> Result<()> {
        for _ in 0..input.u64()? {
            let key = match input.u8()? {
                0 => Property::Failure(input.text()?.into()),
                1 => Property::Invariant(input.u64()? as usize),
                2 => Property::Deadlock(input.text()?),
                3 => Property::Final,
                _ => return bad("a fault is of no known kind"),
            };
            let (length, state, place) = (input.u64()? as u32, input.u64()?, input.u64()?);
            if state >= self.stats.states {
                return bad("a fault is in no state");
            }
            let place = place.checked_sub(1).map(|place| place as u32);
            self.fault(key, Fault { length, state: state as u32, place });
        }
        Ok(())
    }

    fn read_frontier<R: Read>(&mut self, input: &mut In<R>) -> Result<()> {
        // One block for each run of equal depths. The original blocks differ only in size.
        let mut block: Vec<Entry<S::State>> = Vec::new();
        for _ in 0..input.u64()? {
            let (number, depth) = (input.u32()?, input.u32()?);
            let state = self.system.decode(&input.bytes()?).ok_or(SearchError::Undecodable)?;
            if u64::from(number) >= self.stats.states {
                return bad("a state that waits has no number");
            }
            if block.last().is_some_and(|last| last.depth != depth) {
                self.frontier.push(std::mem::take(&mut block));
            }
            block.push(Entry { number, depth, state });
        }
        self.frontier.push(block);
        Ok(())
    }
}

fn expect(what: &'static str, found: String, expected: &str) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(SearchError::OtherCheckpoint { what, found, expected: expected.to_owned() })
}

fn read_store<R: Read>(store: &mut Store, input: &mut In<R>, states: u64) -> Result<()> {
    match store {
        Store::Fingerprints(table) => {
            for number in 0..states as u32 {
                let words = [input.u64()?, input.u64()?];
                insert(table, words, number)?;
            }
        }
        Store::Exact(exact) => {
            for number in 0..states as u32 {
                let words = [input.u64()?, input.u64()?];
                let encoding = input.bytes()?;
                read_exact(exact, words, &encoding, number)?;
            }
        }
        Store::Bitstate(bits) => {
            let count = bits.words().len();
            if input.u64()? != count as u64 {
                return bad("its bits are not as many");
            }
            let words: Result<Vec<u64>> = (0..count).map(|_| input.u64()).collect();
            *bits = Bitstate::from_words(words?);
        }
    }
    Ok(())
}

fn insert(table: &mut FingerprintTable, words: [u64; 2], number: u32) -> Result<()> {
    let entries = number as usize + 2;
    if entries > table.room() {
        table.grow(entries);
    }
    if table.insert(Key::from_words(words), number) {
        Ok(())
    } else {
        bad("a state is there twice")
    }
}

fn read_exact(exact: &mut Exact, words: [u64; 2], encoding: &[u8], number: u32) -> Result<()> {
    if words == [0; 2] {
        exact.set_aside(encoding, number);
    } else {
        insert(&mut exact.table, words, number)?;
    }
    exact.arena.push(encoding);
    Ok(())
}

fn read_graph<R: Read>(
    graph: &mut Graph,
    responses: usize,
    input: &mut In<R>,
    states: u64,
) -> Result<()> {
    let initial = input.u32()?;
    if u64::from(initial) > states {
        return bad("its graph has too many initial states");
    }
    graph.set_initial(initial);
    for number in 0..states as u32 {
        let bits = input.u8()?;
        let (known, rests) = (bits & 1 != 0, bits & 2 != 0);
        let flags: Result<Vec<u8>> = (0..responses).map(|_| input.u8()).collect();
        graph.add_states(1, &flags?);
        let (mut targets, mut classes) = (Vec::new(), Vec::new());
        for _ in 0..input.u32()? {
            let target = input.u32()?;
            if target != u32::MAX && u64::from(target) >= states {
                return bad("its graph leads nowhere");
            }
            targets.push(target);
            classes.push(input.u16()?);
        }
        if known {
            graph.add_read(number, (&targets, &classes), rests);
        }
    }
    Ok(())
}
