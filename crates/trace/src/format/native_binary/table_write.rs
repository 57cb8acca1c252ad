//! Packs the new entries of tables, in sections: a tag, a number of entries, columns.
//!
//! A section never refers to a later entry, so a reader can check each id at once. Sections are
//! small, so a block of tables stays far below the limit, however large the tables are.

use super::bytes::{Damage, Read, damage, put_column, put_deltas32, put_deltas64, put_number};
use super::check::{Sizes, known, same_labels};
use super::layout::{ENTRIES_MAX, LIST_ITEMS_MAX, NAME_BYTES_MAX, Section};
use super::rows::{Row, Writing};
use crate::ids::{NameId, SiteId};
use crate::tables::{Coherence, Handler, Invocation, Location, Meta, Tables};

/// A block of tables is closed at this size.
const BLOCK_BYTES: usize = 1 << 20;

/// A section of lists is closed at this number of items.
const SECTION_ITEMS: usize = 1 << 16;

/// How much of the tables has been written.
#[derive(Debug)]
pub(super) struct TableEncoder {
    meta: Option<Meta>,
    /// The handlers as written, to find those that changed.
    handlers: Vec<Handler>,
    /// The entries written of the other tables.
    sizes: Sizes,
    coherence: usize,
    out: Vec<u8>,
}

impl TableEncoder {
    /// Starts with the entries that every table has: the empty name and the unknown site.
    pub(super) fn new() -> TableEncoder {
        let sizes = Sizes::of(&Tables::default());
        TableEncoder { meta: None, handlers: Vec::new(), sizes, coherence: 0, out: Vec::new() }
    }

    /// Passes the new entries to `emit`, as contents of one or more blocks; `events` were written
    /// before.
    pub(super) fn encode<E: From<Damage>>(
        &mut self,
        tables: &Tables,
        events: u64,
        mut emit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check_growth(tables)?;
        if let Some(meta) = self.meta.as_ref().filter(|_| events > 0) {
            same_labels(meta, &tables.meta)?;
        }
        while self.section(tables)? {
            if self.out.len() >= BLOCK_BYTES {
                emit(&self.out)?;
                self.out.clear();
            }
        }
        if !self.out.is_empty() {
            emit(&self.out)?;
            self.out.clear();
        }
        Ok(())
    }

    fn check_growth(&self, tables: &Tables) -> Read<()> {
        let (old, new) = (self.sizes.each().into_iter(), Sizes::of(tables).each());
        let coherence = (self.coherence, tables.coherence.len(), "orders of writes");
        let grown = old.zip(new).map(|((what, old), (_, new))| (old, new, what)).chain([coherence]);
        for (old, new, what) in grown {
            if new < old {
                return damage(format!(
                    "{what} shrank from {old} to {new}, expected them to grow only"
                ));
            }
        }
        Ok(())
    }

    /// Appends the next section. Returns false when there is none.
    fn section(&mut self, tables: &Tables) -> Read<bool> {
        let Sizes { names, tasks, locations, locks, conditions, inputs, .. } = self.sizes;
        if self.meta.as_ref() != Some(&tables.meta) {
            self.meta(&tables.meta)?;
        } else if names < tables.names.len() {
            self.names(tables)?;
        } else if self.handlers != tables.handlers {
            self.handlers(tables)?;
        } else if let Some(new) = next(&tables.tasks, tasks) {
            self.rows(Section::Tasks, new, tables)?;
            self.sizes.tasks += new.len();
        } else if let Some(new) = next(&tables.locations, locations) {
            self.locations(new, tables)?;
        } else if let Some(new) = next(&tables.locks, locks) {
            self.rows(Section::Locks, new, tables)?;
            self.sizes.locks += new.len();
        } else if let Some(new) = next(&tables.conditions, conditions) {
            self.rows(Section::Conditions, new, tables)?;
            self.sizes.conditions += new.len();
        } else if let Some(new) = next(&tables.inputs, inputs) {
            self.rows(Section::Inputs, new, tables)?;
            self.sizes.inputs += new.len();
        } else if let Some(new) = next(&tables.sites, self.sizes.sites) {
            self.rows(Section::Sites, new, tables)?;
            self.sizes.sites += new.len();
        } else {
            return self.section_of_lists(tables);
        }
        Ok(true)
    }

    fn section_of_lists(&mut self, tables: &Tables) -> Read<bool> {
        let (stacks, invocations) = (self.sizes.stacks, self.sizes.invocations);
        if let Some(new) = next(&tables.stacks, stacks) {
            self.stacks(up_to_items(new, Vec::len), tables)?;
        } else if let Some(new) = next(&tables.invocations, invocations) {
            self.invocations(up_to_items(new, |entry| entry.arguments.len()), tables)?;
        } else if let Some(new) = tables.coherence.get(self.coherence) {
            self.coherence(new, tables)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn head(&mut self, section: Section, entries: usize) {
        self.out.push(section as u8);
        put_number(&mut self.out, entries as u64);
    }

    fn meta(&mut self, meta: &Meta) -> Read<()> {
        if meta.origin.len() > NAME_BYTES_MAX {
            return damage(format!("origin of {} bytes, expected fewer", meta.origin.len()));
        }
        self.head(Section::Meta, 1);
        self.out.extend([meta.labels as u8, meta.order as u8]);
        put_number(&mut self.out, meta.origin.len() as u64);
        self.out.extend_from_slice(meta.origin.as_bytes());
        self.meta = Some(meta.clone());
        Ok(())
    }

    fn names(&mut self, tables: &Tables) -> Read<()> {
        let first = self.sizes.names;
        let mut bytes = 0;
        let mut end = first;
        while end < tables.names.len() && end - first < ENTRIES_MAX && bytes < BLOCK_BYTES {
            let length = tables.names.get(NameId::from_index(end)).len();
            if length > NAME_BYTES_MAX {
                return damage(format!(
                    "name of {length} bytes, expected {NAME_BYTES_MAX} at the most"
                ));
            }
            bytes += length;
            end += 1;
        }
        let texts = || (first..end).map(|name| tables.names.get(NameId::from_index(name)));
        self.head(Section::Names, end - first);
        let lengths: Vec<u64> = texts().map(|text| text.len() as u64).collect();
        put_column(&mut self.out, &lengths);
        texts().for_each(|text| self.out.extend_from_slice(text.as_bytes()));
        self.sizes.names = end;
        Ok(())
    }

    /// Writes the changed handlers with their positions, or else the next new ones.
    fn handlers(&mut self, tables: &Tables) -> Read<()> {
        let old = self.handlers.len();
        let changed: Vec<usize> = (0..old)
            .filter(|i| self.handlers[*i] != tables.handlers[*i])
            .take(ENTRIES_MAX)
            .collect();
        if changed.is_empty() {
            let new = next(&tables.handlers, old).unwrap_or_default();
            self.rows(Section::Handlers, new, tables)?;
            self.handlers.extend_from_slice(new);
        } else {
            self.head(Section::HandlersChanged, changed.len());
            put_deltas32(&mut self.out, changed.iter().map(|i| *i as u32));
            let mut rows: Vec<Handler> = changed.iter().map(|i| tables.handlers[*i]).collect();
            Handler::columns(&mut Writing { out: &mut self.out, tables }, &mut rows)?;
            for i in changed {
                self.handlers[i] = tables.handlers[i];
            }
        }
        self.sizes.handlers = self.handlers.len();
        Ok(())
    }

    /// Writes rows that all have the same columns.
    fn rows<R: Row>(&mut self, section: Section, new: &[R], tables: &Tables) -> Read<()> {
        self.head(section, new.len());
        R::columns(&mut Writing { out: &mut self.out, tables }, &mut new.to_vec())
    }

    /// Writes one byte a location for its sort, then the columns of each sort.
    fn locations(&mut self, new: &[Location], tables: &Tables) -> Read<()> {
        self.head(Section::Locations, new.len());
        let (mut objects, mut fields, mut classes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut addresses, mut sizes, mut generations) = (Vec::new(), Vec::new(), Vec::new());
        for location in new {
            let sort = match *location {
                Location::Named(name) => {
                    fields.push(name);
                    0
                }
                Location::Field { object, class, field } => {
                    objects.push(object);
                    classes.push(class);
                    fields.push(field);
                    1
                }
                Location::Static { class, field } => {
                    classes.push(class);
                    fields.push(field);
                    2
                }
                Location::Range { address, size, generation } => {
                    addresses.push(address);
                    sizes.push(u64::from(size));
                    generations.push(generation);
                    3
                }
            };
            self.out.push(sort);
        }
        put_deltas64(&mut self.out, objects.into_iter());
        self.name_deltas(classes.into_iter(), tables)?;
        self.name_deltas(fields.into_iter(), tables)?;
        put_deltas64(&mut self.out, addresses.into_iter());
        put_column(&mut self.out, &sizes);
        put_deltas32(&mut self.out, generations.into_iter());
        self.sizes.locations += new.len();
        Ok(())
    }

    fn stacks(&mut self, new: &[Vec<SiteId>], tables: &Tables) -> Read<()> {
        self.head(Section::Stacks, new.len());
        self.list_lengths(new.iter().map(Vec::len))?;
        for site in new.iter().flatten() {
            known(site.0, tables.sites.len(), "site")?;
        }
        put_deltas32(&mut self.out, new.iter().flatten().map(|site| site.0));
        self.sizes.stacks += new.len();
        Ok(())
    }

    fn invocations(&mut self, new: &[Invocation], tables: &Tables) -> Read<()> {
        self.head(Section::Invocations, new.len());
        self.name_deltas(new.iter().map(|entry| entry.object), tables)?;
        self.name_deltas(new.iter().map(|entry| entry.method), tables)?;
        self.out.extend(new.iter().map(|entry| u8::from(entry.result.is_some())));
        let results: Vec<u64> = new.iter().filter_map(|entry| entry.result).collect();
        put_column(&mut self.out, &results);
        self.list_lengths(new.iter().map(|entry| entry.arguments.len()))?;
        let arguments: Vec<u64> = new.iter().flat_map(|entry| &entry.arguments).copied().collect();
        put_column(&mut self.out, &arguments);
        self.sizes.invocations += new.len();
        Ok(())
    }

    /// Writes one order of writes. A long one takes several sections, where later ones continue it.
    fn coherence(&mut self, new: &Coherence, tables: &Tables) -> Read<()> {
        known(new.location.0, tables.locations.len(), "location")?;
        let parts = new.writes.chunks(SECTION_ITEMS);
        let mut parts: Vec<&[u64]> = parts.collect();
        if parts.is_empty() {
            parts.push(&[]);
        }
        for (i, part) in parts.into_iter().enumerate() {
            let section = if i == 0 { Section::Coherence } else { Section::CoherenceMore };
            self.head(section, part.len());
            if i == 0 {
                put_number(&mut self.out, u64::from(new.location.0));
            }
            put_deltas64(&mut self.out, part.iter().copied());
        }
        self.coherence += 1;
        Ok(())
    }

    fn list_lengths(&mut self, lengths: impl Iterator<Item = usize>) -> Read<()> {
        let lengths: Vec<u64> = lengths.map(|length| length as u64).collect();
        if let Some(length) = lengths.iter().find(|length| **length > LIST_ITEMS_MAX as u64) {
            return damage(format!(
                "list of {length} items, expected {LIST_ITEMS_MAX} at the most"
            ));
        }
        put_column(&mut self.out, &lengths);
        Ok(())
    }

    fn name_deltas(&mut self, names: impl Iterator<Item = NameId>, tables: &Tables) -> Read<()> {
        let names: Vec<NameId> = names.collect();
        for name in &names {
            known(name.0, tables.names.len(), "name")?;
        }
        put_deltas32(&mut self.out, names.iter().map(|name| name.0));
        Ok(())
    }
}

/// Returns the next entries after the first `written`, at most as many as a section may have.
fn next<T>(table: &[T], written: usize) -> Option<&[T]> {
    let new = &table[written.min(table.len())..];
    (!new.is_empty()).then(|| &new[..new.len().min(ENTRIES_MAX)])
}

/// Takes as many lists as have about [`SECTION_ITEMS`] items together, but at least one.
fn up_to_items<T>(lists: &[T], length: impl Fn(&T) -> usize) -> &[T] {
    let mut items = 0usize;
    let end = lists.iter().position(|list| {
        items = items.saturating_add(length(list));
        items > SECTION_ITEMS
    });
    &lists[..end.unwrap_or(lists.len()).max(1)]
}
