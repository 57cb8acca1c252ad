//! Unpacks a block of tables: checks every id of its entries, then appends them.

use super::bytes::{Damage, Input, Read, damage};
use super::check::{FileNames, known, same_labels};
use super::layout::{ENTRIES_MAX, LIST_ITEMS_MAX, NAME_BYTES_MAX, Section};
use super::rows::{Reading, Row};
use crate::ids::{LocationId, NameId, SiteId};
use crate::tables::{
    Coherence, Handler, Invocation, LabelScheme, Location, Meta, Tables, TraceOrder,
};

/// Fills tables from blocks, and reuses its memory.
#[derive(Debug)]
pub(super) struct TableDecoder {
    /// The bytes that the tables may take.
    pub(super) bytes_max: usize,
    /// The bytes that the tables take, roughly.
    bytes: usize,
    column: Vec<u32>,
    column64: Vec<u64>,
}

impl TableDecoder {
    /// Makes one for tables of `bytes_max` bytes at the most.
    pub(super) fn new(bytes_max: usize) -> TableDecoder {
        TableDecoder { bytes_max, bytes: 0, column: Vec::new(), column64: Vec::new() }
    }

    /// Appends the entries of a block; `events` have been read before.
    pub(super) fn decode(
        &mut self,
        contents: &[u8],
        events: u64,
        tables: &mut Tables,
        names: &mut FileNames,
    ) -> Read<()> {
        let input = &mut Input::new(contents);
        while !input.is_empty() {
            let tag = input.byte("section")?;
            let Some(section) = Section::from_tag(tag) else {
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
                    same_labels(&tables.meta, &new)?;
                }
                tables.meta = new;
                continue;
            }
            self.section(section, count, input, tables, names)?;
        }
        Ok(())
    }

    fn section(
        &mut self,
        section: Section,
        count: usize,
        input: &mut Input<'_>,
        tables: &mut Tables,
        names: &mut FileNames,
    ) -> Read<()> {
        match section {
            Section::Meta => {}
            Section::Names => self.names(count, input, tables, names)?,
            Section::Handlers => self.rows(count, input, (tables, names), |t| &mut t.handlers)?,
            Section::HandlersChanged => self.handlers_changed(count, input, tables, names)?,
            Section::Tasks => self.rows(count, input, (tables, names), |t| &mut t.tasks)?,
            Section::Locations => self.locations(count, input, tables, names)?,
            Section::Locks => self.rows(count, input, (tables, names), |t| &mut t.locks)?,
            Section::Conditions => {
                self.rows(count, input, (tables, names), |t| &mut t.conditions)?;
            }
            Section::Inputs => self.rows(count, input, (tables, names), |t| &mut t.inputs)?,
            Section::Sites => self.rows(count, input, (tables, names), |t| &mut t.sites)?,
            Section::Stacks => self.stacks(count, input, tables)?,
            Section::Invocations => self.invocations(count, input, tables, names)?,
            Section::Coherence => {
                let location = input.count(u32::MAX as usize, "location")? as u32;
                known(location, tables.locations.len(), "location")?;
                let writes = self.writes(count, input)?;
                tables.coherence.push(Coherence { location: LocationId(location), writes });
            }
            Section::CoherenceMore => {
                let writes = self.writes(count, input)?;
                match tables.coherence.last_mut() {
                    Some(order) => order.writes.extend(writes),
                    None => return damage("more of an order of writes, expected its beginning"),
                }
            }
        }
        Ok(())
    }

    /// Accounts for the memory of new entries, and refuses too much.
    fn take_memory(&mut self, count: usize, each: usize) -> Read<()> {
        self.bytes = self.bytes.saturating_add(count.saturating_mul(each));
        if self.bytes > self.bytes_max {
            return damage(format!("tables of more than {} bytes, the limit set", self.bytes_max));
        }
        Ok(())
    }

    fn names(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        tables: &mut Tables,
        names: &mut FileNames,
    ) -> Read<()> {
        self.take_memory(count, size_of::<NameId>())?;
        input.column32(count, "lengths of names", &mut self.column)?;
        for length in &self.column {
            let length = *length as usize;
            if length > NAME_BYTES_MAX {
                return damage(format!(
                    "name of {length} bytes, expected {NAME_BYTES_MAX} at the most"
                ));
            }
            let bytes = input.take(length, "name")?;
            let Ok(text) = std::str::from_utf8(bytes) else {
                return damage(format!("name {} is not UTF-8", names.count));
            };
            if tables.names.push(text).is_none() {
                return Err(Damage("names of more than 4 GiB together".to_owned()));
            }
            names.count += 1;
            self.bytes = self.bytes.saturating_add(length);
        }
        self.take_memory(0, 0)
    }

    /// Reads rows that all have the same columns.
    fn read_rows<R: Row>(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        (tables, names): (&Tables, &FileNames),
    ) -> Read<Vec<R>> {
        self.take_memory(count, size_of::<R>())?;
        let mut rows = vec![R::default(); count];
        let (column, column64) = (&mut self.column, &mut self.column64);
        let handlers = tables.handlers.len();
        R::columns(&mut Reading { input, names, handlers, column, column64 }, &mut rows)?;
        Ok(rows)
    }

    fn rows<R: Row>(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        (tables, names): (&mut Tables, &FileNames),
        table: fn(&mut Tables) -> &mut Vec<R>,
    ) -> Read<()> {
        let new = self.read_rows(count, input, (tables, names))?;
        table(tables).extend(new);
        Ok(())
    }

    fn handlers_changed(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        tables: &mut Tables,
        names: &FileNames,
    ) -> Read<()> {
        let mut positions = Vec::new();
        input.deltas32(count, "handlers", &mut positions)?;
        let changed = self.read_rows(count, input, (tables, names))?;
        self.bytes -= count * size_of::<Handler>();
        for (position, handler) in positions.into_iter().zip(changed) {
            known(position, tables.handlers.len(), "handler")?;
            tables.handlers[position as usize] = handler;
        }
        Ok(())
    }

    fn locations(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        tables: &mut Tables,
        names: &FileNames,
    ) -> Read<()> {
        self.take_memory(count, size_of::<Location>())?;
        let sorts = input.take(count, "sorts of locations")?;
        let of = |wanted: &[u8]| sorts.iter().filter(|sort| wanted.contains(sort)).count();
        let ranges = of(&[3]);
        let mut objects = Vec::new();
        input.deltas64(of(&[1]), "objects", &mut objects)?;
        let classes = self.name_deltas(of(&[1, 2]), input, names)?;
        let fields = self.name_deltas(of(&[0, 1, 2]), input, names)?;
        let (mut addresses, mut sizes, mut generations) = (Vec::new(), Vec::new(), Vec::new());
        input.deltas64(ranges, "addresses", &mut addresses)?;
        input.column32(ranges, "sizes", &mut sizes)?;
        input.deltas32(ranges, "generations", &mut generations)?;
        let (mut objects, mut classes, mut fields) =
            (objects.into_iter(), classes.into_iter(), fields.into_iter());
        let mut ranges = addresses.into_iter().zip(sizes).zip(generations);
        for sort in sorts {
            // The columns have as many entries as locations of each sort.
            let location = match sort {
                0 => fields.next().map(Location::Named),
                1 => next_field(&mut objects, &mut classes, &mut fields),
                2 => classes
                    .next()
                    .zip(fields.next())
                    .map(|(class, field)| Location::Static { class, field }),
                3 => ranges.next().map(|((address, size), generation)| Location::Range {
                    address,
                    size,
                    generation,
                }),
                _ => None,
            };
            match location {
                Some(location) => tables.locations.push(location),
                None => return damage(format!("unknown sort of location {sort}, expected 0 to 3")),
            }
        }
        Ok(())
    }

    fn stacks(&mut self, count: usize, input: &mut Input<'_>, tables: &mut Tables) -> Read<()> {
        self.take_memory(count, size_of::<Vec<SiteId>>())?;
        let lengths = self.list_lengths(count, input, size_of::<SiteId>())?;
        input.deltas32(lengths.iter().sum(), "sites of stacks", &mut self.column)?;
        for site in &self.column {
            known(*site, tables.sites.len(), "site")?;
        }
        let mut sites = self.column.iter().map(|site| SiteId(*site));
        for length in lengths {
            tables.stacks.push(sites.by_ref().take(length).collect());
        }
        Ok(())
    }

    fn invocations(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        tables: &mut Tables,
        names: &FileNames,
    ) -> Read<()> {
        self.take_memory(count, size_of::<Invocation>())?;
        let objects = self.name_deltas(count, input, names)?;
        let methods = self.name_deltas(count, input, names)?;
        let returned = input.take(count, "whether invocations returned")?;
        if let Some(byte) = returned.iter().find(|byte| **byte > 1) {
            return damage(format!("whether an invocation returned: {byte}, expected 0 or 1"));
        }
        let results_count = returned.iter().filter(|byte| **byte == 1).count();
        input.column64(results_count, "results", &mut self.column64)?;
        let mut results = std::mem::take(&mut self.column64).into_iter();
        let lengths = self.list_lengths(count, input, size_of::<u64>())?;
        input.column64(lengths.iter().sum(), "arguments", &mut self.column64)?;
        let mut arguments = self.column64.iter().copied();
        for (i, length) in lengths.into_iter().enumerate() {
            tables.invocations.push(Invocation {
                object: objects[i],
                method: methods[i],
                arguments: arguments.by_ref().take(length).collect(),
                result: if returned[i] == 1 { results.next() } else { None },
            });
        }
        Ok(())
    }

    fn writes(&mut self, count: usize, input: &mut Input<'_>) -> Read<Vec<u64>> {
        self.take_memory(count, size_of::<u64>())?;
        self.take_memory(1, size_of::<Coherence>())?;
        let mut writes = Vec::new();
        input.deltas64(count, "order of writes", &mut writes)?;
        Ok(writes)
    }

    /// Reads the lengths of lists. Their sum is limited, because columns of zeros take no space in
    /// the file.
    fn list_lengths(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        each: usize,
    ) -> Read<Vec<usize>> {
        input.column32(count, "lengths of lists", &mut self.column)?;
        let total: u64 = self.column.iter().map(|length| u64::from(*length)).sum();
        if total > LIST_ITEMS_MAX as u64 {
            return damage(format!(
                "lists of {total} items, expected {LIST_ITEMS_MAX} at the most"
            ));
        }
        self.take_memory(total as usize, each)?;
        Ok(self.column.iter().map(|length| *length as usize).collect())
    }

    fn name_deltas(
        &mut self,
        count: usize,
        input: &mut Input<'_>,
        names: &FileNames,
    ) -> Read<Vec<NameId>> {
        input.deltas32(count, "names", &mut self.column)?;
        self.column.iter().map(|name| names.name(*name)).collect()
    }
}

fn next_field(
    objects: &mut impl Iterator<Item = u64>,
    classes: &mut impl Iterator<Item = NameId>,
    fields: &mut impl Iterator<Item = NameId>,
) -> Option<Location> {
    Some(Location::Field { object: objects.next()?, class: classes.next()?, field: fields.next()? })
}

fn meta(input: &mut Input<'_>) -> Read<Meta> {
    let labels = match input.byte("labels")? {
        0 => LabelScheme::Position,
        1 => LabelScheme::Line,
        2 => LabelScheme::Name,
        3 => LabelScheme::AccessOrOperation,
        other => return damage(format!("unknown scheme of labels {other}, expected 0 to 3")),
    };
    let order = match input.byte("order")? {
        0 => TraceOrder::Observed,
        1 => TraceOrder::Partial,
        other => return damage(format!("unknown order of events {other}, expected 0 or 1")),
    };
    let length = input.count(NAME_BYTES_MAX, "origin")?;
    let Ok(origin) = std::str::from_utf8(input.take(length, "origin")?) else {
        return damage("origin is not UTF-8");
    };
    Ok(Meta { labels, order, origin: origin.to_owned() })
}
