//! Unpacks a block of tables: checks every id of its entries, then appends them.

use super::bytes::{Damage, Input, Read, damage};
use super::check::{Loaded, Sizes, known, same_labels};
use super::layout::{ENTRIES_MAX, LIST_ITEMS_MAX, NAME_BYTES_MAX, Section};
use super::rows::{Columns, Data, Memory, Row};
use anyorder_trace::{
    Coherence, Handler, LabelScheme, LocationId, Meta, NameId, Tables, TraceOrder,
};

/// Fills tables from blocks.
#[derive(Debug)]
pub(super) struct TableDecoder {
    pub(super) memory: Memory,
}

impl TableDecoder {
    /// Makes one for tables of `bytes_max` bytes at the most.
    pub(super) fn new(bytes_max: usize) -> TableDecoder {
        TableDecoder { memory: Memory { bytes_max, bytes: 0 } }
    }

    /// Appends the entries of a block; `events` have been read before.
    pub(super) fn decode(&mut self, contents: &[u8], events: u64, loaded: &mut Loaded) -> Read<()> {
        let input = &mut Input::new(contents);
        while !input.is_empty() {
            let tag = input.byte("section")?;
            let Some(section) = Section::from_number(tag) else {
                return damage(format!("unknown section {tag}, expected 1 to 14"));
            };
            let max = match section {
                Section::Coherence | Section::CoherenceMore => LIST_ITEMS_MAX,
                _ => ENTRIES_MAX,
            };
            let count = input.count(max, "entries of a table")?;
            if section == Section::Meta {
                let new = meta(input)?;
                if events > 0 {
                    same_labels(&loaded.tables.meta, &new)?;
                }
                loaded.tables.meta = new;
                continue;
            }
            self.section(section, count, input, loaded)?;
        }
        Ok(())
    }

    fn section(
        &mut self,
        section: Section,
        count: usize,
        input: &mut Input<'_>,
        loaded: &mut Loaded,
    ) -> Read<()> {
        match section {
            Section::Meta => Ok(()),
            Section::Names => self.names(count, input, loaded),
            Section::Handlers => self.rows(count, input, loaded, |tables| &mut tables.handlers),
            Section::HandlersChanged => self.handlers_changed(count, input, loaded),
            Section::Tasks => self.rows(count, input, loaded, |tables| &mut tables.tasks),
            Section::Locations => self.rows(count, input, loaded, |tables| &mut tables.locations),
            Section::Locks => self.rows(count, input, loaded, |tables| &mut tables.locks),
            Section::Conditions => self.rows(count, input, loaded, |tables| &mut tables.conditions),
            Section::Inputs => self.rows(count, input, loaded, |tables| &mut tables.inputs),
            Section::Sites => self.rows(count, input, loaded, |tables| &mut tables.sites),
            Section::Stacks => self.rows(count, input, loaded, |tables| &mut tables.stacks),
            Section::Invocations => {
                self.rows(count, input, loaded, |tables| &mut tables.invocations)
            }
            Section::Coherence => {
                let location = input.count(u32::MAX as usize, "location")? as u32;
                known(location, loaded.tables.locations.len(), "location")?;
                let writes = self.writes(count, input)?;
                loaded.tables.coherence.push(Coherence { location: LocationId(location), writes });
                Ok(())
            }
            Section::CoherenceMore => {
                let writes = self.writes(count, input)?;
                let Some(order) = loaded.tables.coherence.last_mut() else {
                    return damage("more of an order of writes, expected its beginning");
                };
                order.writes.extend(writes);
                Ok(())
            }
        }
    }

    fn names(&mut self, count: usize, input: &mut Input<'_>, loaded: &mut Loaded) -> Read<()> {
        self.memory.take(count, size_of::<NameId>())?;
        let mut lengths: Vec<u32> = Vec::new();
        input.column(count, "lengths of names", &mut lengths)?;
        for length in lengths {
            let length = length as usize;
            if length > NAME_BYTES_MAX {
                return damage(format!(
                    "name of {length} bytes, expected {NAME_BYTES_MAX} at the most"
                ));
            }
            let bytes = input.take(length, "name")?;
            let Ok(text) = std::str::from_utf8(bytes) else {
                return damage(format!("name {} is not UTF-8", loaded.names.count));
            };
            if loaded.tables.names.push(text).is_none() {
                return Err(Damage("names of more than 4 GiB together".to_owned()));
            }
            loaded.names.count += 1;
            self.memory.bytes = self.memory.bytes.saturating_add(length);
        }
        self.memory.take(0, 0)
    }

    /// Reads rows that all have the same columns.
    fn read_rows<R: Row>(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        loaded: &Loaded,
    ) -> Read<Vec<R>> {
        self.memory.take(count, size_of::<R>())?;
        let mut rows = vec![R::default(); count];
        let Loaded { tables, names } = loaded;
        let data = Data::In(input, &mut self.memory);
        R::columns(&mut Columns { data, names, sizes: Sizes::of(tables) }, &mut rows)?;
        Ok(rows)
    }

    fn rows<R: Row>(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        loaded: &mut Loaded,
        table: fn(&mut Tables) -> &mut Vec<R>,
    ) -> Read<()> {
        let new = self.read_rows(count, input, loaded)?;
        table(&mut loaded.tables).extend(new);
        Ok(())
    }

    fn handlers_changed(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        loaded: &mut Loaded,
    ) -> Read<()> {
        let mut positions: Vec<u32> = Vec::new();
        input.deltas(count, "handlers", &mut positions)?;
        let changed = self.read_rows(count, input, loaded)?;
        self.memory.bytes -= count * size_of::<Handler>();
        for (position, handler) in positions.into_iter().zip(changed) {
            known(position, loaded.tables.handlers.len(), "handler")?;
            loaded.tables.handlers[position as usize] = handler;
        }
        Ok(())
    }

    fn writes(&mut self, count: usize, input: &mut Input<'_>) -> Read<Vec<u64>> {
        self.memory.take(count, size_of::<u64>())?;
        self.memory.take(1, size_of::<Coherence>())?;
        let mut writes = Vec::new();
        input.deltas(count, "order of writes", &mut writes)?;
        Ok(writes)
    }
}

fn meta(input: &mut Input<'_>) -> Read<Meta> {
    let byte = input.byte("labels")?;
    let Some(labels) = LabelScheme::from_number(byte) else {
        return damage(format!("unknown scheme of labels {byte}, expected 0 to 3"));
    };
    let byte = input.byte("order")?;
    let Some(order) = TraceOrder::from_number(byte) else {
        return damage(format!("unknown order of events {byte}, expected 0 or 1"));
    };
    let length = input.count(NAME_BYTES_MAX, "origin")?;
    let Ok(origin) = std::str::from_utf8(input.take(length, "origin")?) else {
        return damage("origin is not UTF-8");
    };
    Ok(Meta { labels, order, origin: origin.to_owned() })
}
