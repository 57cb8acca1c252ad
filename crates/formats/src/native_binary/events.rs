//! Unpacks the columns of a block of events.
//!
//! The contents, in this order: the [dictionary](super::dictionary), a token an event in sorted
//! order, the [lanes](super::lanes), the tasks in sorted order as runs, the numbers in trace order,
//! and the four [sparse] columns: values, times, stacks, refers.

use super::bytes::{Input, Number, Read, damage};
use super::check::{Loaded, known};
use super::dictionary::{Dictionary, Entry, TOKENS_MAX};
use super::lanes::{Interleaving, LANES_MAX, Lanes};
use super::sparse::{self, SparseScratch};
use anyorder_trace::{Block, Columns, LabelScheme, Op, SiteId, StackId, TaskId};

/// Tokens take two bytes, not one.
pub(super) const TOKENS_WIDE: u8 = 1;
/// Token 0 is the first entry not yet used; token x + 1 is entry x.
pub(super) const TOKENS_NEW: u8 = 2;

/// There are no numbers.
pub(super) const NUMBERS_NONE: u8 = 0;
/// Each number is a difference to the previous number plus one.
pub(super) const NUMBERS_ONE: u8 = 1;
/// The same, separately for accesses and for all other events.
pub(super) const NUMBERS_BY_ACCESS: u8 = 2;

/// Unpacks blocks, and reuses its memory.
#[derive(Debug)]
pub(super) struct EventDecoder {
    dictionary: Dictionary,
    /// Tokens in sorted order; all are below the dictionary's length.
    tokens: Box<[u16; TOKENS_MAX]>,
    lanes: Lanes,
    task_runs: Vec<u32>,
    run_lengths: Vec<u32>,
    /// Tasks in sorted order.
    tasks: Vec<TaskId>,
    sparse: SparseScratch,
}

impl EventDecoder {
    /// Makes one; takes about 1.5 MiB.
    pub(super) fn new() -> EventDecoder {
        EventDecoder {
            dictionary: Dictionary::new(),
            tokens: Box::new([0; TOKENS_MAX]),
            lanes: Lanes::new(),
            task_runs: Vec::new(),
            run_lengths: Vec::new(),
            tasks: Vec::new(),
            sparse: SparseScratch::default(),
        }
    }

    /// Replaces `block` by the events of `contents`. `block.first` and `count` come from the
    /// block's head.
    pub(super) fn decode(
        &mut self,
        contents: &[u8],
        count: usize,
        loaded: &mut Loaded,
        block: &mut Block,
    ) -> Read<()> {
        assert!(count <= TOKENS_MAX, "the head of the block was checked");
        let input = &mut Input::new(contents);
        self.dictionary.read(input, count, loaded)?;
        self.read_tokens(input, count)?;
        self.lanes.read(input, count)?;
        let columns = &mut block.columns;
        columns.ops.resize(count, Op::from(anyorder_trace::EventKind::Other));
        columns.operands.resize(count, 0);
        columns.sites.resize(count, SiteId::UNKNOWN);
        columns.tasks.resize(count, TaskId::NONE);
        self.read_tasks(input, count, loaded.tables.tasks.len())?;
        match self.lanes.interleaving {
            Interleaving::None => self.place_in_order(columns),
            Interleaving::Runs => self.place_runs(columns),
            Interleaving::Each => self.place_each(columns)?,
        }
        read_numbers(input, loaded, columns)?;
        self.read_sparse(input, block, loaded.tables.stacks.len())?;
        if !input.is_empty() {
            return damage(
                "bytes behind the last column, expected the end of the block".to_owned(),
            );
        }
        Ok(())
    }

    fn read_tokens(&mut self, input: &mut Input<'_>, count: usize) -> Read<()> {
        let encoding = input.byte("tokens")?;
        if encoding > (TOKENS_WIDE | TOKENS_NEW) {
            return damage(format!("way {encoding} of writing tokens, expected 0 to 3"));
        }
        let tokens = &mut self.tokens[..count];
        if encoding & TOKENS_WIDE == 0 {
            let bytes = input.take(count, "tokens")?;
            tokens.iter_mut().zip(bytes).for_each(|(token, byte)| *token = u16::from(*byte));
        } else {
            let bytes = input.take(2 * count, "tokens")?;
            for (token, two) in tokens.iter_mut().zip(bytes.chunks_exact(2)) {
                *token = u16::from_le_bytes([two[0], two[1]]);
            }
        }
        if encoding & TOKENS_NEW != 0 {
            let mut next = 0u32;
            for token in tokens.iter_mut() {
                let new = *token == 0;
                *token = if new { next as u16 } else { *token - 1 };
                next += u32::from(new);
            }
            if next as usize > self.dictionary.len() {
                let known = self.dictionary.len();
                return damage(format!("{next} new operations, expected {known} at the most"));
            }
        }
        let last = tokens.iter().copied().max().unwrap_or(0);
        if usize::from(last) >= self.dictionary.len() {
            let known = self.dictionary.len();
            return damage(format!("token {last}, expected one of {known} operations"));
        }
        Ok(())
    }

    /// Reads the tasks in sorted order.
    fn read_tasks(&mut self, input: &mut Input<'_>, count: usize, tasks_count: usize) -> Read<()> {
        let runs = input.count(count, "runs of tasks")?;
        input.deltas(runs, "tasks", &mut self.task_runs)?;
        input.column(runs, "lengths of runs", &mut self.run_lengths)?;
        self.tasks.resize(count, TaskId::NONE);
        let mut rest = &mut self.tasks[..];
        for (task, events) in self.task_runs.iter().zip(&self.run_lengths) {
            known(*task, tasks_count, "task")?;
            let left = rest.len();
            let Some((run, behind)) = rest.split_at_mut_checked(*events as usize) else {
                return damage(format!(
                    "run of {events} events of a task, expected {left} at the most"
                ));
            };
            run.fill(TaskId(*task));
            rest = behind;
        }
        if !rest.is_empty() {
            return damage(format!("tasks end {} events before the block", rest.len()));
        }
        Ok(())
    }

    fn place_in_order(&self, columns: &mut Columns) {
        columns.tasks.copy_from_slice(&self.tasks);
        look_up(self.dictionary.entries(), &self.tokens[..self.tasks.len()], 0, columns);
    }

    fn place_runs(&self, columns: &mut Columns) {
        let mut cursors = [0u32; LANES_MAX];
        cursors[..self.lanes.count()].copy_from_slice(&self.lanes.starts[..self.lanes.count()]);
        let mut row = 0;
        for (lane, events) in &self.lanes.runs {
            let cursor = &mut cursors[usize::from(*lane)];
            let from = *cursor as usize..(*cursor + *events) as usize;
            *cursor += *events;
            let to = row..row + *events as usize;
            row = to.end;
            columns.tasks[to.clone()].copy_from_slice(&self.tasks[from.clone()]);
            look_up(self.dictionary.entries(), &self.tokens[from], to.start, columns);
        }
    }

    fn place_each(&self, columns: &mut Columns) -> Read<()> {
        let mut cursors = [0u32; LANES_MAX];
        cursors[..self.lanes.count()].copy_from_slice(&self.lanes.starts[..self.lanes.count()]);
        let each_lane_one_task = self.task_runs.len() == self.lanes.count()
            && self
                .lanes
                .starts
                .windows(2)
                .map(|ends| ends[1] - ends[0])
                .eq(self.run_lengths.iter().copied());
        let mut lane_tasks = [TaskId::NONE; LANES_MAX];
        let count = columns.ops.len();
        let out = (
            &mut columns.ops[..count],
            &mut columns.operands[..count],
            &mut columns.sites[..count],
        );
        let (ops, operands, sites) = out;
        let tasks = &mut columns.tasks[..count];
        let lanes = &self.lanes.each[..count];
        let entries = self.dictionary.entries();
        // Sorted rows are taken modulo 2^16. This costs nothing and stays inside the arrays even if
        // the lanes of a damaged block have more events than declared; see below.
        if each_lane_one_task {
            for (lane, task) in lane_tasks.iter_mut().zip(&self.task_runs) {
                *lane = TaskId(*task);
            }
            for row in 0..count {
                let lane = usize::from(lanes[row]);
                let at = usize::from(cursors[lane] as u16);
                cursors[lane] += 1;
                let entry = entries[usize::from(self.tokens[at])];
                ops[row] = entry.op;
                operands[row] = entry.operand;
                sites[row] = entry.site;
                tasks[row] = lane_tasks[lane];
            }
        } else {
            let sorted = &self.tasks[..count];
            for row in 0..count {
                let lane = usize::from(lanes[row]);
                let at = usize::from(cursors[lane] as u16);
                cursors[lane] += 1;
                let entry = entries[usize::from(self.tokens[at])];
                ops[row] = entry.op;
                operands[row] = entry.operand;
                sites[row] = entry.site;
                tasks[row] = sorted[at.min(count - 1)];
            }
        }
        if cursors[..self.lanes.count()] != self.lanes.starts[1..] {
            return damage("lanes have other numbers of events than the block says".to_owned());
        }
        Ok(())
    }

    fn read_sparse(&mut self, input: &mut Input<'_>, block: &mut Block, stacks: usize) -> Read<()> {
        let shape = (block.first, block.columns.len());
        let scratch = &mut self.sparse;
        let columns = &mut block.columns;
        sparse::read(input, scratch, shape, "values", Ok, &mut columns.values)?;
        sparse::read(input, scratch, shape, "times", Ok, &mut columns.times)?;
        let stack = |value: u64| {
            let id = u32::try_from(value).unwrap_or(u32::MAX);
            known(id, stacks, "stack")?;
            Ok(StackId(id))
        };
        sparse::read(input, scratch, shape, "stacks", stack, &mut columns.stacks)?;
        sparse::read(input, scratch, shape, "references to events", Ok, &mut columns.refers)
    }
}

/// Looks tokens up and puts the operations into the columns, from `row` on.
fn look_up(entries: &[Entry; TOKENS_MAX], tokens: &[u16], row: usize, columns: &mut Columns) {
    let rows = row..row + tokens.len();
    let ops = &mut columns.ops[rows.clone()];
    let operands = &mut columns.operands[rows.clone()];
    let sites = &mut columns.sites[rows];
    for (((token, op), operand), site) in tokens.iter().zip(ops).zip(operands).zip(sites) {
        let entry = &entries[usize::from(*token)];
        *op = entry.op;
        *operand = entry.operand;
        *site = entry.site;
    }
}

fn read_numbers(
    input: &mut Input<'_>,
    Loaded { tables, names }: &Loaded,
    columns: &mut Columns,
) -> Read<()> {
    let encoding = input.byte("numbers of events")?;
    let numbers = &mut columns.numbers;
    match encoding {
        NUMBERS_NONE => numbers.clear(),
        NUMBERS_ONE => {
            input.column(columns.ops.len(), "numbers of events", numbers)?;
            let mut next = 0u32;
            for number in numbers.iter_mut() {
                *number = next.plus(*number);
                next = number.wrapping_add(1);
            }
        }
        NUMBERS_BY_ACCESS => {
            input.column(columns.ops.len(), "numbers of events", numbers)?;
            let mut next = [0u32; 2];
            for (number, op) in numbers.iter_mut().zip(&columns.ops) {
                let next = &mut next[usize::from(op.kind().is_access())];
                *number = next.plus(*number);
                *next = number.wrapping_add(1);
            }
        }
        _ => return damage(format!("way {encoding} of writing numbers, expected 0, 1 or 2")),
    }
    if tables.meta.labels == LabelScheme::Name {
        let last = numbers.iter().copied().max().unwrap_or(0);
        known(last, names.count, "name of an event:")?;
        if !names.is_identity() {
            for number in numbers.iter_mut() {
                *number = names.name(*number)?.0;
            }
        }
    }
    Ok(())
}
