//! Writes a checkpoint.

use super::bytes::Out;
use super::{MAGIC, VERSION, options_text};
use crate::error::SearchError;
use crate::graph::Graph;
use crate::outcome::Property;
use crate::search::Search;
use crate::store::{Exact, FingerprintTable, Store};
use anyorder_common::files::AtomicFile;
use anyorder_system::StateSystem;
use std::io::{self, Write};
use std::path::Path;

impl<S: StateSystem> Search<'_, S> {
    /// Writes the data needed to resume into a file. The file appears under its name only when it
    /// is complete. `identity` names the program, its version and its own options.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written. An earlier file then remains.
    pub fn save(&self, path: &Path, identity: &str) -> Result<(), SearchError> {
        if self.options.updates {
            return Err(SearchError::NoUpdates("in a search that is saved"));
        }
        if self.options.livelocks {
            return Err(SearchError::NoLivelocks);
        }
        let mut out = Out::new(AtomicFile::create(path)?);
        self.write(&mut out, identity)?;
        out.finish()?.commit()?;
        Ok(())
    }

    fn write<W: Write>(&self, out: &mut Out<W>, identity: &str) -> io::Result<()> {
        out.raw(MAGIC)?;
        out.u32(VERSION)?;
        out.bytes(identity.as_bytes())?;
        out.bytes(options_text(&self.options).as_bytes())?;
        let stats = self.stats;
        let numbers = [
            stats.states,
            stats.transitions,
            stats.executions,
            stats.max_depth,
            stats.frontier_peak,
        ];
        for number in numbers {
            out.u64(number)?;
        }
        out.u64(self.level.map_or(0, |level| u64::from(level) + 1))?;
        for number in 0..self.links.len() as u32 {
            let (parent, place) = self.links.get(number);
            out.u32(parent.unwrap_or(u32::MAX))?;
            out.u32(place)?;
        }
        out.u64(self.parts_ran.len() as u64)?;
        for ran in &self.parts_ran {
            out.u8((*ran).into())?;
        }
        self.write_faults(out)?;
        match &*self.store {
            Store::Fingerprints(table) => {
                for words in keys(table, self.links.len()) {
                    write_words(out, words)?;
                }
            }
            Store::Exact(exact) => write_exact(out, exact)?,
            Store::Bitstate(bits) => {
                out.u64(bits.words().len() as u64)?;
                for word in bits.words() {
                    out.u64(*word)?;
                }
            }
        }
        out.u64(self.frontier.len() as u64)?;
        let mut encoding = Vec::new();
        for entry in self.frontier.iter() {
            out.u32(entry.number)?;
            out.u32(entry.depth)?;
            encoding.clear();
            self.system.encode(&entry.state, &mut encoding);
            out.bytes(&encoding)?;
        }
        out.u8(self.graph.is_some().into())?;
        self.graph.as_ref().map_or(Ok(()), |graph| write_graph(out, graph))
    }

    fn write_faults<W: Write>(&self, out: &mut Out<W>) -> io::Result<()> {
        out.u64(self.faults.len() as u64)?;
        for (key, fault) in &self.faults {
            match key {
                Property::Failure(failure) => {
                    out.u8(0)?;
                    out.bytes(failure.to_string().as_bytes())?;
                }
                Property::Invariant(index) => {
                    out.u8(1)?;
                    out.u64(*index as u64)?;
                }
                Property::Deadlock(waiting) => {
                    out.u8(2)?;
                    out.bytes(waiting.as_bytes())?;
                }
                // Responses and livelocks are checked at the end, on the graph.
                Property::Final | Property::Response(_) | Property::Livelock(_) => out.u8(3)?,
            }
            out.u64(fault.length.into())?;
            out.u64(fault.state.into())?;
            out.u64(fault.place.map_or(0, |place| u64::from(place) + 1))?;
        }
        Ok(())
    }
}

/// Returns the words of each state by number; zeros for those that are not in the table.
fn keys(table: &FingerprintTable, states: usize) -> Vec<[u64; 2]> {
    let mut keys = vec![[0; 2]; states];
    for (key, number) in table.numbered() {
        keys[number as usize] = key.words();
    }
    keys
}

fn write_words<W: Write>(out: &mut Out<W>, words: [u64; 2]) -> io::Result<()> {
    out.u64(words[0])?;
    out.u64(words[1])
}

fn write_exact<W: Write>(out: &mut Out<W>, exact: &Exact) -> io::Result<()> {
    let mut encoding = Vec::new();
    for (number, words) in keys(&exact.table, exact.arena.len()).into_iter().enumerate() {
        write_words(out, words)?;
        encoding.clear();
        exact.arena.read(number, &mut encoding);
        out.bytes(&encoding)?;
    }
    Ok(())
}

fn write_graph<W: Write>(out: &mut Out<W>, graph: &Graph) -> io::Result<()> {
    out.u32(graph.initial())?;
    for state in 0..graph.len() as u32 {
        out.u8(u8::from(graph.is_known(state)) | u8::from(graph.rests(state)) << 1)?;
        out.raw(graph.flags(state))?;
        let classes = graph.classes(state);
        let targets = graph.successors(state);
        out.u32(targets.len() as u32)?;
        for (index, target) in targets.enumerate() {
            out.u32(target.unwrap_or(u32::MAX))?;
            out.u16(classes.get(index).copied().unwrap_or(u16::MAX))?;
        }
    }
    Ok(())
}
