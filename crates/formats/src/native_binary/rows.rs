//! The columns of each table, in the order of the file. One description serves reading and writing.

use super::bytes::{Input, Number, Read, damage, put_column, put_deltas};
use super::check::{FileNames, Sizes, known};
use super::layout::LIST_ITEMS_MAX;
use anyorder_trace::{
    Handler, HandlerId, Input as InputEvent, InputFamily, Invocation, Location, Mailbox, NameId,
    Position, Site, SiteId, TaskDef, TaskKind,
};

/// The entries of a table: rows with the same columns.
pub(super) trait Row: Clone + Default {
    /// Reads or writes the columns, in the order of the file.
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [Self]) -> Read<()>;

    /// Returns the number of items in the lists of the row.
    fn items(&self) -> usize {
        0
    }
}

impl Row for NameId {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [NameId]) -> Read<()> {
        columns.names(rows.iter_mut())
    }
}

impl Row for Handler {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [Handler]) -> Read<()> {
        columns.names(rows.iter_mut().map(|handler| &mut handler.name))?;
        let byte = |handler: &Handler| handler.mailbox as u8 | (u8::from(handler.untracked) << 7);
        columns.bytes("mailboxes", rows, byte, |handler, byte| {
            handler.untracked = byte & 128 != 0;
            match Mailbox::from_number(byte & 127) {
                Some(mailbox) => handler.mailbox = mailbox,
                None => return damage(format!("unknown mailbox {}, expected 0 to 3", byte & 127)),
            }
            Ok(())
        })
    }
}

impl Row for TaskDef {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [TaskDef]) -> Read<()> {
        columns.names(rows.iter_mut().map(|task| &mut task.name))?;
        let byte = |task: &TaskDef| task.kind as u8 | ((task.position as u8) << 7);
        columns.bytes("kinds of tasks", rows, byte, |task, byte| {
            task.position = if byte & 128 == 0 { Position::Back } else { Position::Front };
            let Some(kind) = TaskKind::from_number(byte & 127) else {
                let found = byte & 127;
                return damage(format!("unknown kind of task {found}, expected 0, 1 or 2"));
            };
            task.kind = kind;
            Ok(())
        })?;
        columns.handlers(rows.iter_mut().map(|task| &mut task.handler))?;
        columns.numbers("delays", rows.iter_mut().map(|task| &mut task.delay))
    }
}

impl Row for Location {
    /// One byte a location for its sort, then the columns of the fields that some sorts have.
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [Location]) -> Read<()> {
        columns.bytes("sorts of locations", rows, Location::sort, |location, sort| {
            let Some(empty) = Location::of_sort(sort) else {
                return damage(format!("unknown sort of location {sort}, expected 0 to 3"));
            };
            *location = empty;
            Ok(())
        })?;
        let objects = rows.iter_mut().filter_map(|location| match location {
            Location::Field { object, .. } => Some(object),
            _ => None,
        });
        columns.deltas("objects", objects)?;
        columns.names(rows.iter_mut().filter_map(|location| match location {
            Location::Field { class, .. } | Location::Static { class, .. } => Some(class),
            _ => None,
        }))?;
        columns.names(rows.iter_mut().filter_map(|location| match location {
            Location::Named(field)
            | Location::Field { field, .. }
            | Location::Static { field, .. } => Some(field),
            Location::Range { .. } => None,
        }))?;
        let mut ranges: Vec<_> = rows
            .iter_mut()
            .filter_map(|location| match location {
                Location::Range { address, size, generation } => Some((address, size, generation)),
                _ => None,
            })
            .collect();
        columns.deltas("addresses", ranges.iter_mut().map(|range| &mut *range.0))?;
        columns.numbers("sizes", ranges.iter_mut().map(|range| &mut *range.1))?;
        columns.deltas("generations", ranges.into_iter().map(|range| range.2))
    }
}

impl Row for InputEvent {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [InputEvent]) -> Read<()> {
        let byte = |input: &InputEvent| input.family as u8;
        columns.bytes("families of inputs", rows, byte, |input, byte| {
            let Some(family) = InputFamily::from_number(byte) else {
                return damage(format!("unknown family of inputs {byte}, expected 0 to 6"));
            };
            input.family = family;
            Ok(())
        })?;
        columns.names(rows.iter_mut().map(|input| &mut input.name))?;
        columns.names(rows.iter_mut().map(|input| &mut input.state))?;
        columns.names(rows.iter_mut().map(|input| &mut input.component))?;
        columns.deltas("instances", rows.iter_mut().map(|input| &mut input.instance))?;
        columns.deltas("arguments", rows.iter_mut().map(|input| &mut input.argument))
    }
}

impl Row for Site {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [Site]) -> Read<()> {
        columns.names(rows.iter_mut().map(|site| &mut site.label))?;
        columns.names(rows.iter_mut().map(|site| &mut site.function))?;
        columns.names(rows.iter_mut().map(|site| &mut site.file))?;
        columns.deltas("lines", rows.iter_mut().map(|site| &mut site.line))?;
        columns.deltas("columns", rows.iter_mut().map(|site| &mut site.column))
    }
}

impl Row for Vec<SiteId> {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [Vec<SiteId>]) -> Read<()> {
        columns.lengths(SiteId::UNKNOWN, rows.iter_mut())?;
        let sites = columns.sizes.sites;
        let check = |site: u32| known(site, sites, "site").map(|()| site);
        columns.ids("sites of stacks", rows.iter_mut().flatten().map(|site| &mut site.0), check)
    }

    fn items(&self) -> usize {
        self.len()
    }
}

impl Row for Invocation {
    fn columns(columns: &mut Columns<'_, '_>, rows: &mut [Invocation]) -> Read<()> {
        columns.names(rows.iter_mut().map(|call| &mut call.object))?;
        columns.names(rows.iter_mut().map(|call| &mut call.method))?;
        let byte = |call: &Invocation| u8::from(call.result.is_some());
        columns.bytes("whether invocations returned", rows, byte, |call, byte| {
            if byte > 1 {
                return damage(format!("whether an invocation returned: {byte}, expected 0 or 1"));
            }
            call.result = (byte == 1).then_some(0);
            Ok(())
        })?;
        columns.numbers("results", rows.iter_mut().filter_map(|call| call.result.as_mut()))?;
        columns.lengths(0, rows.iter_mut().map(|call| &mut call.arguments))?;
        columns.numbers("arguments", rows.iter_mut().flat_map(|call| &mut call.arguments))
    }

    fn items(&self) -> usize {
        self.arguments.len()
    }
}

/// Where columns come from or go to.
pub(super) enum Data<'d, 'i> {
    /// They are read. The second part is the memory that lists may take.
    In(&'d mut Input<'i>, &'d mut Memory),
    /// They are appended.
    Out(&'d mut Vec<u8>),
}

/// The memory that the tables being read may take, and take, roughly.
#[derive(Debug)]
pub(super) struct Memory {
    pub(super) bytes_max: usize,
    pub(super) bytes: usize,
}

impl Memory {
    /// Accounts for new entries, and refuses too much.
    pub(super) fn take(&mut self, count: usize, each: usize) -> Read<()> {
        self.bytes = self.bytes.saturating_add(count.saturating_mul(each));
        if self.bytes > self.bytes_max {
            return damage(format!("tables of more than {} bytes, the limit set", self.bytes_max));
        }
        Ok(())
    }
}

/// Reads columns into existing rows, or writes those of the rows.
pub(super) struct Columns<'d, 'i> {
    pub(super) data: Data<'d, 'i>,
    pub(super) names: &'d FileNames,
    /// The sizes of the tables that ids are checked against.
    pub(super) sizes: Sizes,
}

impl Columns<'_, '_> {
    /// Reads or writes plain numbers.
    fn numbers<'r, N: Number + 'r>(
        &mut self,
        what: &str,
        parts: impl Iterator<Item = &'r mut N>,
    ) -> Read<()> {
        match &mut self.data {
            Data::In(input, _) => fill(parts, |count, column| input.column(count, what, column)),
            Data::Out(out) => {
                let column: Vec<u64> = parts.map(|part| (*part).into()).collect();
                put_column(out, &column);
                Ok(())
            }
        }
    }

    /// Reads or writes numbers as differences.
    fn deltas<'r, N: Number + 'r>(
        &mut self,
        what: &str,
        parts: impl Iterator<Item = &'r mut N>,
    ) -> Read<()> {
        match &mut self.data {
            Data::In(input, _) => fill(parts, |count, column| input.deltas(count, what, column)),
            Data::Out(out) => {
                put_deltas(out, parts.map(|part| *part));
                Ok(())
            }
        }
    }

    /// Reads or writes ids. `check` checks one, and translates it when it is read.
    fn ids<'r>(
        &mut self,
        what: &str,
        parts: impl Iterator<Item = &'r mut u32>,
        check: impl Fn(u32) -> Read<u32>,
    ) -> Read<()> {
        let mut ids: Vec<&mut u32> = parts.collect();
        if matches!(self.data, Data::Out(_)) {
            ids.iter().try_for_each(|id| check(**id).map(|_| ()))?;
            return self.deltas(what, ids.into_iter());
        }
        self.deltas(what, ids.iter_mut().map(|id| &mut **id))?;
        ids.into_iter().try_for_each(|id| {
            *id = check(*id)?;
            Ok(())
        })
    }

    fn names<'r>(&mut self, parts: impl Iterator<Item = &'r mut NameId>) -> Read<()> {
        let names = self.names;
        self.ids("names", parts.map(|name| &mut name.0), |id| names.name(id).map(|name| name.0))
    }

    /// Reads or writes optional handlers. The file has the id plus one, and 0 for none.
    fn handlers<'r>(&mut self, parts: impl Iterator<Item = &'r mut HandlerId>) -> Read<()> {
        let mut handlers: Vec<&mut HandlerId> = parts.collect();
        let mut coded: Vec<u32> = handlers.iter().map(|id| id.0.wrapping_add(1)).collect();
        self.deltas("handlers of tasks", coded.iter_mut())?;
        for (handler, coded) in handlers.iter_mut().zip(coded) {
            **handler = HandlerId(coded.wrapping_sub(1));
            if !handler.is_none() {
                known(handler.0, self.sizes.handlers, "handler")?;
            }
        }
        Ok(())
    }

    fn bytes<R>(
        &mut self,
        what: &str,
        rows: &mut [R],
        byte: fn(&R) -> u8,
        set: fn(&mut R, u8) -> Read<()>,
    ) -> Read<()> {
        match &mut self.data {
            Data::In(input, _) => {
                let bytes = input.take(rows.len(), what)?;
                rows.iter_mut().zip(bytes).try_for_each(|(row, byte)| set(row, *byte))
            }
            Data::Out(out) => {
                out.extend(rows.iter().map(byte));
                Ok(())
            }
        }
    }

    /// Reads or writes the lengths of lists; fills lists that are read with `item`. The sum of the
    /// lengths is limited, because columns of zeros take no space in the file.
    fn lengths<'r, T: Clone + 'r>(
        &mut self,
        item: T,
        lists: impl Iterator<Item = &'r mut Vec<T>>,
    ) -> Read<()> {
        let lists: Vec<&mut Vec<T>> = lists.collect();
        if let Some(list) = lists.iter().find(|list| list.len() > LIST_ITEMS_MAX) {
            let length = list.len();
            return damage(format!(
                "list of {length} items, expected {LIST_ITEMS_MAX} at the most"
            ));
        }
        let mut lengths: Vec<u32> = lists.iter().map(|list| list.len() as u32).collect();
        self.numbers("lengths of lists", lengths.iter_mut())?;
        let Data::In(_, memory) = &mut self.data else { return Ok(()) };
        let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        if total > LIST_ITEMS_MAX as u64 {
            return damage(format!(
                "lists of {total} items, expected {LIST_ITEMS_MAX} at the most"
            ));
        }
        memory.take(total as usize, size_of::<T>())?;
        for (list, length) in lists.into_iter().zip(lengths) {
            list.resize(length as usize, item.clone());
        }
        Ok(())
    }
}

/// Sets the parts of rows from a column.
fn fill<'r, N: Number + 'r>(
    parts: impl Iterator<Item = &'r mut N>,
    read: impl FnOnce(usize, &mut Vec<N>) -> Read<()>,
) -> Read<()> {
    let (parts, mut column) = (parts.collect::<Vec<&mut N>>(), Vec::new());
    read(parts.len(), &mut column)?;
    parts.into_iter().zip(column).for_each(|(part, value)| *part = value);
    Ok(())
}
