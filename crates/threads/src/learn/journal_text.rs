//! Journals as text: a word and numbers in each line.

use super::behaviour::NodeId;
use super::journal::{Counts, Entry, Journal, Level, Place, Position};
use crate::execution::Step;
use crate::ids::{ObjectId, ThreadId};
use anyorder_common::hash::Hash128;
use std::fmt::{self, Display, Formatter, Write as _};
use std::str::FromStr;

/// A text that is no journal: the number of the first line that is wrong, from 1; the line after
/// the last one if it is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {0} of the checkpoint is wrong")]
pub struct JournalError(pub usize);

/// The last line.
const END: &str = "end";

impl Display for Journal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            match entry {
                Entry::Run(path) => writeln!(f, "run{}", steps(path))?,
                Entry::Settle(path) => writeln!(f, "settle{}", steps(path))?,
                Entry::Search => writeln!(f, "search")?,
                Entry::Claim(way) => writeln!(f, "claim{}", steps(way))?,
                Entry::Apart(node) => writeln!(f, "apart {}", node.0)?,
            }
        }
        writeln!(f, "known {}", Hash128(self.known))?;
        for (object, reader) in &self.slots {
            // 0 is the last write.
            writeln!(
                f,
                "slot {} {}",
                object.0,
                reader.map_or(0, |reader| u64::from(reader.0) + 1)
            )?;
        }
        match &self.position {
            Position::Start => {}
            Position::Walks { random, in_vain } => writeln!(f, "walks {random} {in_vain}")?,
            Position::Search(place) => {
                let Counts { transitions, patience, in_vain } = place.counts;
                let has_learnt = u8::from(place.has_learnt);
                let (vain, since) = in_vain;
                write!(f, "place {has_learnt} {} {transitions} ", place.states)?;
                writeln!(f, "{patience} {vain} {since}")?;
                for level in &place.frames {
                    let key = level.key.map_or_else(|| "-".to_owned(), |key| key.to_string());
                    let Level { next, executions, .. } = level;
                    writeln!(f, "level {next} {executions} {key}{}", steps(&level.steps))?;
                }
                place.visited.iter().try_for_each(|key| writeln!(f, "visited {key}"))?;
                place.classes.iter().try_for_each(|key| writeln!(f, "class {key}"))?;
            }
        }
        writeln!(f, "{END}")
    }
}

/// Each step as its thread, with the alternative if it is not the first one.
fn steps(steps: &[Step]) -> String {
    let mut text = String::new();
    for Step { thread, alternative } in steps {
        // A string takes what is written.
        let _ = match alternative {
            0 => write!(text, " {}", thread.0),
            _ => write!(text, " {}.{alternative}", thread.0),
        };
    }
    text
}

impl FromStr for Journal {
    type Err = JournalError;

    /// Reads what `Display` prints. Linear.
    fn from_str(text: &str) -> Result<Journal, JournalError> {
        let mut journal = Journal::default();
        let mut count = 0;
        for (at, line) in text.lines().enumerate() {
            count = at + 1;
            if line == END {
                return Ok(journal);
            }
            take(&mut journal, line).ok_or(JournalError(count))?;
        }
        Err(JournalError(count + 1))
    }
}

/// Adds what a line says. `None` if it is wrong.
fn take(journal: &mut Journal, line: &str) -> Option<()> {
    let mut words = line.split(' ');
    let name = words.next()?;
    match name {
        "run" => journal.entries.push(Entry::Run(read_steps(words)?)),
        "settle" => journal.entries.push(Entry::Settle(read_steps(words)?)),
        "search" => journal.entries.push(Entry::Search),
        "claim" => journal.entries.push(Entry::Claim(read_steps(words)?)),
        "apart" => journal.entries.push(Entry::Apart(NodeId(number(&mut words)?))),
        "known" => journal.known = Hash128::parse(words.next()?)?.0,
        "slot" => {
            let (object, reader) = (number(&mut words)?, number::<u32>(&mut words)?);
            journal.slots.push((ObjectId(object), reader.checked_sub(1).map(ThreadId)));
        }
        "walks" => {
            let (random, in_vain) = (number(&mut words)?, number(&mut words)?);
            journal.position = Position::Walks { random, in_vain };
        }
        "place" => {
            let has_learnt = number::<u8>(&mut words)? == 1;
            let states = number(&mut words)?;
            let (transitions, patience) = (number(&mut words)?, number(&mut words)?);
            let in_vain = (number(&mut words)?, number(&mut words)?);
            let counts = Counts { transitions, patience, in_vain };
            let place = Place { has_learnt, states, counts, ..Place::default() };
            journal.position = Position::Search(Box::new(place));
        }
        _ => {
            let Position::Search(place) = &mut journal.position else { return None };
            match name {
                "level" => {
                    let (next, executions) = (number(&mut words)?, number(&mut words)?);
                    let key = match words.next()? {
                        "-" => None,
                        key => Some(Hash128::parse(key)?),
                    };
                    let steps = read_steps(words)?;
                    place.frames.push(Level { steps, next, key, executions });
                }
                "visited" => place.visited.push(Hash128::parse(words.next()?)?),
                "class" => place.classes.push(Hash128::parse(words.next()?)?),
                _ => return None,
            }
        }
    }
    Some(())
}

fn number<T: FromStr>(words: &mut std::str::Split<'_, char>) -> Option<T> {
    words.next()?.parse().ok()
}

fn read_steps(words: std::str::Split<'_, char>) -> Option<Vec<Step>> {
    let step = |word: &str| {
        let (thread, alternative) = word.split_once('.').unwrap_or((word, "0"));
        let thread = ThreadId(thread.parse().ok()?);
        Some(Step { thread, alternative: alternative.parse().ok()? })
    };
    words.map(step).collect()
}
