//! A picture of handler activity over the trace: one lane a handler, drawn with as many columns as
//! fit.

use anyorder_common::numbers::count;
use anyorder_common::text::shorten;
use std::io::{self, Write};

/// The number of buckets; when they are full, neighbours are merged.
const BUCKETS_MAX: usize = 1024;

/// The number of handlers with a lane; further ones are only counted. Together with the buckets,
/// this limits memory to 2 MiB for a trace of any length.
const LANES_MAX: usize = 256;

/// The number of lanes drawn: the busiest.
const DRAWN_MAX: usize = 24;

const UNICODE: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 8] = ['.', ':', '-', '=', '+', '*', '#', '@'];

/// The number of events of each handler in each part of the trace.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    events_per_bucket: u64,
    lanes: Vec<Vec<Cell>>,
    events: u64,
}

#[derive(Clone, Copy, Default, Debug)]
struct Cell {
    events: u32,
    tasks: u32,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes { events_per_bucket: 1, lanes: Vec::new(), events: 0 }
    }
}

impl Lanes {
    /// Adds the next event of the trace.
    pub(super) fn add(&mut self, handler: usize, begins_task: bool) {
        let mut bucket = self.events / self.events_per_bucket;
        if bucket >= BUCKETS_MAX as u64 {
            self.merge();
            bucket = self.events / self.events_per_bucket;
        }
        self.events += 1;
        if handler >= LANES_MAX {
            return;
        }
        if handler >= self.lanes.len() {
            self.lanes.resize(handler + 1, Vec::new());
        }
        let (lane, bucket) = (&mut self.lanes[handler], bucket as usize);
        if bucket >= lane.len() {
            lane.resize(bucket + 1, Cell::default());
        }
        lane[bucket].events = lane[bucket].events.saturating_add(1);
        lane[bucket].tasks = lane[bucket].tasks.saturating_add(u32::from(begins_task));
    }

    fn merge(&mut self) {
        self.events_per_bucket *= 2;
        for lane in &mut self.lanes {
            *lane =
                lane.chunks(2).map(|pair| pair.iter().fold(Cell::default(), Cell::plus)).collect();
        }
    }

    /// Draws the picture `width` columns wide. `names` has the names of the handlers, in the order
    /// of their ids.
    pub(super) fn draw(
        &self,
        names: &[String],
        width: usize,
        ascii: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        const NAME_WIDTH_MAX: usize = 24;
        let drawn = self.busiest();
        if drawn.is_empty() {
            return Ok(());
        }
        let name = |lane: usize| names.get(lane).map_or("?", String::as_str);
        let name_width = drawn.iter().map(|lane| name(*lane).chars().count()).max().unwrap_or(0);
        let name_width = name_width.min(NAME_WIDTH_MAX);
        let columns = width.saturating_sub(name_width + 6).max(10) as u64;
        let buckets = self.events.div_ceil(self.events_per_bucket);
        let buckets_per_column = buckets.div_ceil(columns).max(1);
        let per_column = buckets_per_column * self.events_per_bucket;
        let columns = self.events.div_ceil(per_column) as usize;
        let rows: Vec<Vec<Cell>> = drawn
            .iter()
            .map(|lane| self.row(*lane, buckets_per_column as usize, columns))
            .collect();
        let top = rows.iter().flatten().map(|cell| cell.events).max().unwrap_or(1).max(1);
        let (left, right) = if ascii { ('|', '|') } else { ('│', '│') };
        for (lane, row) in drawn.iter().zip(&rows) {
            let picture: String =
                row.iter().map(|cell| cell.glyph(per_column, top, ascii)).collect();
            let label = shorten(name(*lane), name_width);
            writeln!(out, "  {label:<name_width$} {left}{picture}{right}")?;
        }
        let more = self.lanes.iter().filter(|lane| !lane.is_empty()).count() - drawn.len();
        if more > 0 {
            writeln!(out, "  and {} more", count(more as u64))?;
        }
        writeln!(out, "  {:<name_width$}  {}", "", legend(per_column, ascii))
    }

    /// The lanes to draw, in the order of their handlers.
    fn busiest(&self) -> Vec<usize> {
        let total = |lane: usize| self.lanes[lane].iter().map(|c| u64::from(c.events)).sum::<u64>();
        let mut lanes: Vec<usize> = (0..self.lanes.len()).filter(|lane| total(*lane) > 0).collect();
        lanes.sort_by_key(|lane| std::cmp::Reverse(total(*lane)));
        lanes.truncate(DRAWN_MAX);
        lanes.sort_unstable();
        lanes
    }

    fn row(&self, lane: usize, buckets_per_column: usize, columns: usize) -> Vec<Cell> {
        let mut row: Vec<Cell> = self.lanes[lane]
            .chunks(buckets_per_column)
            .map(|cells| cells.iter().fold(Cell::default(), Cell::plus))
            .collect();
        row.resize(columns, Cell::default());
        row
    }
}

impl Cell {
    fn plus(self, other: &Cell) -> Cell {
        Cell {
            events: self.events.saturating_add(other.events),
            tasks: self.tasks.saturating_add(other.tasks),
        }
    }

    /// One column: the kind of event if a column is one event, otherwise the activity of the
    /// handler.
    fn glyph(self, per_column: u64, top: u32, ascii: bool) -> char {
        let scale = if ascii { ASCII } else { UNICODE };
        match self.events {
            0 => ' ',
            _ if per_column == 1 => {
                let (begin, event) = event_signs(ascii);
                if self.tasks > 0 { begin } else { event }
            }
            events => {
                scale[((u64::from(events) * 8).div_ceil(u64::from(top)) as usize).clamp(1, 8) - 1]
            }
        }
    }
}

/// Returns the signs of an event that begins a task, and of any other.
fn event_signs(ascii: bool) -> (char, char) {
    if ascii { ('[', '=') } else { ('▐', '━') }
}

fn legend(per_column: u64, ascii: bool) -> String {
    let (begin, event) = event_signs(ascii);
    let (low, high) = if ascii { (ASCII[0], ASCII[7]) } else { (UNICODE[0], UNICODE[7]) };
    if per_column == 1 {
        format!("a column is one event: {begin} begins a task, {event} any other")
    } else {
        format!("a column is {} events: {low} few to {high} many of them", count(per_column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(lanes: &Lanes, width: usize) -> String {
        let mut out = Vec::new();
        lanes.draw(&["ui".to_owned(), "net\u{1b}".to_owned()], width, true, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn short_traces_show_every_event() {
        let mut lanes = Lanes::default();
        for (handler, begins) in [(0, true), (0, false), (1, true), (0, true)] {
            lanes.add(handler, begins);
        }
        let expected = "  ui   |[= [|\n  net… |  [ |\n        a column is one event: [ begins a task, = any other\n";
        assert_eq!(draw(&lanes, 80), expected);
    }

    #[test]
    fn long_traces_show_density_and_keep_every_event() {
        let mut lanes = Lanes::default();
        for i in 0..100_000u64 {
            lanes.add(usize::from(i >= 50_000), false);
        }
        let kept: u64 = lanes.lanes.iter().flatten().map(|cell| u64::from(cell.events)).sum();
        assert_eq!(kept, 100_000);
        assert!(lanes.lanes.iter().all(|lane| lane.len() <= BUCKETS_MAX));
        let text = draw(&lanes, 50);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 3);
        assert!(rows[0].starts_with("  ui   |@@@@") && rows[0].ends_with("  |"), "{text}");
        assert!(rows[1].starts_with("  net… |    ") && rows[1].contains("@@@@"), "{text}");
        assert!(rows[..2].iter().all(|row| row.chars().count() <= 50), "{text}");
    }

    #[test]
    fn an_empty_trace_draws_nothing() {
        assert_eq!(draw(&Lanes::default(), 80), "");
    }
}
