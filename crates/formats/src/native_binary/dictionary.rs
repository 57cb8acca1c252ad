//! The distinct operations of a block, which its events refer to by tokens.
//!
//! **Problem.** Most events repeat the same operation on the same operand at the same site. In a
//! trace of memcached 120,861 events have under 9,000 distinct (kind, mode, operand, site). So a
//! block lists each distinct one once, and an event is a token of one or two bytes.
//!
//! Two levels: *pairs* of (kind, mode) and site, since a site nearly always has one operation; and
//! *entries* of a pair and an operand. An entry stores its operand as a difference to the last
//! entry of the same pair, because a site that walks an array gives one entry for each element.
//!
//! **Cost.** Every id is checked once for each entry, not for each event. If all events differ,
//! entries are as many as events: tokens then say "the next one", and the entries take the space of
//! columns.

use super::bytes::{Input, Number, Read, damage, put_column, put_deltas, put_number};
use super::check::{Loaded, OperandLimits, Sizes, known};
use anyorder_trace::{Block, Columns, EventKind, Mode, Op, OperandKind, SiteId};
use hashbrown::HashMap;

/// The size of a table that 16-bit tokens index, so that a look-up needs no bounds check.
pub(super) const TOKENS_MAX: usize = 1 << 16;

const _: () =
    assert!(Block::EVENTS == TOKENS_MAX, "a token can name as many entries as a block has events");

/// A distinct operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) operand: u32,
    pub(super) site: SiteId,
    pub(super) op: Op,
}

/// The distinct operations of the block being read.
#[derive(Debug)]
pub(super) struct Dictionary {
    /// Only the first `len` belong to this block.
    entries: Box<[Entry; TOKENS_MAX]>,
    len: usize,
    pairs: Vec<Pair>,
    column: Vec<u32>,
    operands: Vec<u32>,
}

/// An operation at a site.
#[derive(Clone, Copy, Debug)]
struct Pair {
    op: Op,
    site: SiteId,
    /// The operand of the last entry with this pair.
    operand: u32,
    /// For a kind unknown to this version, the name that replaces its operand.
    replaced: Option<u32>,
}

impl Dictionary {
    /// Makes an empty one.
    pub(super) fn new() -> Dictionary {
        let empty = Entry { operand: 0, site: SiteId::UNKNOWN, op: Op::from(EventKind::Other) };
        let entries: Box<[Entry]> = vec![empty; TOKENS_MAX].into_boxed_slice();
        let entries = entries.try_into().unwrap_or_else(|_| unreachable!("made with this length"));
        Dictionary { entries, len: 0, pairs: Vec::new(), column: Vec::new(), operands: Vec::new() }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns all slots. Those from [`len`](Self::len) on do not belong to this block.
    pub(super) fn entries(&self) -> &[Entry; TOKENS_MAX] {
        &self.entries
    }

    /// Reads the dictionary of a block of `events_count` events, checking every id in it.
    pub(super) fn read(
        &mut self,
        input: &mut Input<'_>,
        events_count: usize,
        loaded: &mut Loaded,
    ) -> Read<()> {
        self.read_pairs(input, events_count, loaded)?;
        self.len = input.count(events_count, "distinct operations")?;
        input.column(self.len, "operations", &mut self.column)?;
        input.column(self.len, "operands", &mut self.operands)?;
        let names = &loaded.names;
        let sizes = Sizes { names: names.count, ..Sizes::of(&loaded.tables) };
        let limits = sizes.operand_limits();
        let rows = self.column.iter().zip(&self.operands);
        for (entry, (pair, delta)) in self.entries.iter_mut().zip(rows) {
            let pairs_count = self.pairs.len();
            let Some(pair) = self.pairs.get_mut(*pair as usize) else {
                return damage(format!("operation {pair}, expected one of {pairs_count}"));
            };
            pair.operand = pair.operand.plus(*delta);
            *entry = Entry { operand: pair.operand, site: pair.site, op: pair.op };
            let kind = pair.op.kind();
            if let Some(replaced) = pair.replaced {
                entry.operand = replaced;
            } else if u64::from(pair.operand) >= limits.of(kind) {
                return sizes.operand(kind, pair.operand);
            } else if kind.operand() == OperandKind::Name && !names.is_identity() {
                entry.operand = names.name(pair.operand)?.0;
            }
        }
        Ok(())
    }

    fn read_pairs(
        &mut self,
        input: &mut Input<'_>,
        events_count: usize,
        loaded: &mut Loaded,
    ) -> Read<()> {
        let count = input.count(events_count, "distinct kinds and sites")?;
        let kinds = input.take(count, "kinds")?;
        let modes = input.take(count, "modes")?;
        input.deltas(count, "sites", &mut self.column)?;
        self.pairs.clear();
        for ((kind, mode), site) in kinds.iter().zip(modes).zip(&self.column) {
            known(*site, loaded.tables.sites.len(), "site")?;
            let site = SiteId(*site);
            let pair = match EventKind::from_number(*kind) {
                Some(_) if *mode > 7 => {
                    return damage(format!("mode {mode}, expected 7 at the most"));
                }
                Some(kind) => {
                    let op = Op::new(kind, Mode::from_bits(*mode));
                    if op.mode().bits() != *mode {
                        return damage(format!(
                            "mode {mode} of `{}`, expected 3 at the most",
                            kind.word()
                        ));
                    }
                    Pair { op, site, operand: 0, replaced: None }
                }
                None => {
                    let (op, name) = loaded.names.unknown_kind(*kind, &mut loaded.tables)?;
                    Pair { op, site, operand: 0, replaced: Some(name) }
                }
            };
            self.pairs.push(pair);
        }
        Ok(())
    }
}

/// Collects the distinct operations of the block being written.
#[derive(Debug, Default)]
pub(super) struct DictionaryBuilder {
    limits: OperandLimits,
    /// The token of each entry, by operation and site in one number, and operand.
    entries: HashMap<(u64, u32), u32>,
    /// The number of each pair, by operation and site in one number.
    pairs: HashMap<u64, u32>,
    pair_rows: Vec<(Op, SiteId, u32)>,
    entry_pairs: Vec<u64>,
    entry_operands: Vec<u64>,
}

impl DictionaryBuilder {
    /// Forgets the block before; ids are checked against `sizes` from now on.
    pub(super) fn clear(&mut self, sizes: &Sizes) {
        self.limits = sizes.operand_limits();
        self.pairs.clear();
        self.entries.clear();
        self.pair_rows.clear();
        self.entry_pairs.clear();
        self.entry_operands.clear();
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entry_pairs.len()
    }

    /// Returns the token of the event in a row, checking its ids when it is new.
    pub(super) fn token(&mut self, columns: &Columns, row: usize, sizes: &Sizes) -> Read<u32> {
        let (op, site, operand) = (columns.ops[row], columns.sites[row], columns.operands[row]);
        let key = u64::from(site.0) << 8 | u64::from(op.byte());
        let next = self.entries.len() as u32;
        let token = *self.entries.entry((key, operand)).or_insert(next);
        if token == next {
            known(site.0, sizes.sites, "site")?;
            if u64::from(operand) >= self.limits.of(op.kind()) {
                sizes.operand(op.kind(), operand)?;
            }
            let pair = *self.pairs.entry(key).or_insert_with(|| {
                self.pair_rows.push((op, site, 0));
                self.pair_rows.len() as u32 - 1
            });
            let last = &mut self.pair_rows[pair as usize].2;
            self.entry_pairs.push(u64::from(pair));
            self.entry_operands.push(u64::from(operand.difference(*last)));
            *last = operand;
        }
        Ok(token)
    }

    /// Writes the dictionary.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        put_number(out, self.pair_rows.len() as u64);
        out.extend(self.pair_rows.iter().map(|(op, ..)| op.kind() as u8));
        out.extend(self.pair_rows.iter().map(|(op, ..)| op.mode().bits()));
        put_deltas(out, self.pair_rows.iter().map(|(_, site, _)| site.0));
        put_number(out, self.entry_pairs.len() as u64);
        put_column(out, &self.entry_pairs);
        put_column(out, &self.entry_operands);
    }
}
