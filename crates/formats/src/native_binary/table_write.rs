//! Packs the new entries of tables, in sections: a tag, a number of entries, columns.
//!
//! A section never refers to a later entry, so a reader can check each id at once. Sections are
//! small, so a block of tables stays far below the limit, however large the tables are.

use super::bytes::{Read, damage, put_column, put_deltas, put_number};
use super::check::{FileNames, Sizes, known, same_labels};
use super::layout::{ENTRIES_MAX, NAME_BYTES_MAX, Section};
use super::rows::{Columns, Data, Row};
use anyorder_trace::{Coherence, Handler, Meta, NameId, Tables};
use std::io;

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
    pub(super) fn encode(
        &mut self,
        tables: &Tables,
        events: u64,
        mut emit: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
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
        macro_rules! next_rows {
            ($($table:ident $section:ident,)*) => {
                $(if let Some(new) = next(&tables.$table, self.sizes.$table) {
                    self.rows(Section::$section, new, tables)?;
                    self.sizes.$table += new.len();
                    return Ok(true);
                })*
            };
        }
        if self.meta.as_ref() != Some(&tables.meta) {
            self.meta(&tables.meta)?;
            return Ok(true);
        }
        if self.sizes.names < tables.names.len() {
            self.names(tables)?;
            return Ok(true);
        }
        if self.handlers != tables.handlers {
            self.handlers(tables)?;
            return Ok(true);
        }
        next_rows! {
            tasks Tasks, locations Locations, locks Locks, conditions Conditions, inputs Inputs,
            sites Sites, stacks Stacks, invocations Invocations,
        }
        let Some(new) = tables.coherence.get(self.coherence) else { return Ok(false) };
        self.coherence(new, tables)?;
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
            put_deltas(&mut self.out, changed.iter().map(|i| *i as u32));
            self.columns(changed.iter().map(|i| tables.handlers[*i]).collect(), tables)?;
            for i in changed {
                self.handlers[i] = tables.handlers[i];
            }
        }
        self.sizes.handlers = self.handlers.len();
        Ok(())
    }

    fn rows<R: Row>(&mut self, section: Section, new: &[R], tables: &Tables) -> Read<()> {
        self.head(section, new.len());
        self.columns(new.to_vec(), tables)
    }

    fn columns<R: Row>(&mut self, mut rows: Vec<R>, tables: &Tables) -> Read<()> {
        let names = &FileNames::identity(tables.names.len());
        let data = Data::Out(&mut self.out);
        R::columns(&mut Columns { data, names, sizes: Sizes::of(tables) }, &mut rows)
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
            put_deltas(&mut self.out, part.iter().copied());
        }
        self.coherence += 1;
        Ok(())
    }
}

/// Returns the next entries after the first `written`: as many as a section may have, or as lists
/// with about [`SECTION_ITEMS`] items together.
fn next<R: Row>(table: &[R], written: usize) -> Option<&[R]> {
    let new = &table[written.min(table.len())..];
    let new = &new[..new.len().min(ENTRIES_MAX)];
    let mut items = 0usize;
    let end = new.iter().position(|row| {
        items = items.saturating_add(row.items());
        items > SECTION_ITEMS
    });
    (!new.is_empty()).then(|| &new[..end.unwrap_or(new.len()).max(1)])
}
