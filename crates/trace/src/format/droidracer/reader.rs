//! The streaming reader of DroidRacer's logs.

use super::fields::{FieldError, Fields};
use super::inputs::Fault;
use super::line::{Shape, shape};
use super::operations::{Out, Translator};
use crate::columns::Block;
use crate::error::{Place, Problem, Problems, ReadError};
use crate::format::lines::{LINE_BYTES_MAX, Line, Lines};
use crate::stream::TraceSource;
use crate::tables::{LabelScheme, Tables, TraceOrder};
use std::io::Read;

/// The name of the format.
const FORMAT: &str = "droidracer";

/// Reads a log of DroidRacer's runtime. Memory grows with threads, messages, classes and objects,
/// not with the number of accesses.
#[derive(Debug)]
pub struct DroidRacerReader<R> {
    lines: Lines<R>,
    translator: Translator,
    problems: Problems,
    events: u64,
    ended: bool,
}

impl<R: Read> DroidRacerReader<R> {
    /// Makes a reader; it reads nothing yet.
    pub fn new(input: R) -> DroidRacerReader<R> {
        let mut translator = Translator::default();
        let meta = &mut translator.interner.tables.meta;
        meta.labels = LabelScheme::AccessOrOperation;
        meta.order = TraceOrder::Observed;
        meta.origin = FORMAT.to_owned();
        DroidRacerReader {
            lines: Lines::new(input),
            translator,
            problems: Problems::default(),
            events: 0,
            ended: false,
        }
    }

    /// Reads the next line into `block`; returns false at the end of the operations.
    fn line(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let place = Place::line(self.lines.number() + 1);
        let line = match self.lines.next()? {
            Line::Text(line) => line,
            Line::TooLong(line) => {
                let message = format!("expected a line of at most {LINE_BYTES_MAX} bytes");
                self.problems.push(Problem::error(place, message).with_text(line));
                return Ok(true);
            }
            Line::End => return Ok(false),
        };
        let fault = match shape(line) {
            Shape::Nothing => return Ok(true),
            Shape::Results => return Ok(false),
            Shape::Note => {
                let message = "the recorder broke off or reports a failure of its own";
                self.problems.push(Problem::warning(place, message).with_text(line));
                return Ok(true);
            }
            Shape::Operation { access, number, word, fields } => {
                let fields = Fields::parse(line, fields);
                let mut out = Out { columns: &mut block.columns, first: block.first, number };
                let odd = if access {
                    self.translator.access(word, &fields, &mut out)
                } else {
                    self.translator.operation(word, &fields, &mut out)
                };
                match odd {
                    Ok(None) => return Ok(true),
                    Ok(Some(odd)) => {
                        let problem = Problem::warning(place, odd.message).with_text(line);
                        self.problems.push(problem.treated_as(odd.unknown));
                        return Ok(true);
                    }
                    Err(Fault::Full(full)) => return Err(full.into()),
                    Err(Fault::Field(fault)) => fault,
                }
            }
            Shape::BadNumber { offset } => FieldError {
                offset,
                message: "expected a number from 0 to 4294967294 in front of the operation".into(),
            },
            Shape::NoWord { offset } => FieldError {
                offset,
                message: "expected the name of an operation behind its number".into(),
            },
            Shape::Other => FieldError {
                offset: 0,
                message: "expected an operation: `<number> OPERATION key:value ...`".into(),
            },
        };
        let column = u32::try_from(fault.offset + 1).unwrap_or(u32::MAX);
        let place = Place { column: Some(column), ..place };
        self.problems.push(Problem::error(place, fault.message).with_text(line));
        Ok(true)
    }
}

impl<R: Read> TraceSource for DroidRacerReader<R> {
    fn tables(&self) -> &Tables {
        &self.translator.interner.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        block.columns.clear();
        block.first = self.events;
        while !self.ended && block.columns.len() < Block::EVENTS {
            self.ended = !self.line(block)?;
            if self.problems.errors_total > 0 && block.columns.len() == Block::EVENTS {
                // The caller will not use these events. Reading continues only to find the other
                // problems.
                self.events += block.columns.len() as u64;
                block.columns.clear();
                block.first = self.events;
            }
        }
        if self.problems.errors_total > 0 {
            block.columns.clear();
            return Err(ReadError::Malformed { format: FORMAT, problems: self.problems.clone() });
        }
        self.events += block.columns.len() as u64;
        Ok(!block.columns.is_empty())
    }

    fn problems(&self) -> &Problems {
        &self.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.translator.interner.tables)
    }
}
