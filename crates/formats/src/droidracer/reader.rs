//! The streaming reader of DroidRacer's logs.

use super::fields::Fields;
use super::line::{Shape, shape};
use super::operations::{Out, Translator};
use crate::fault::{Fault, LineError};
use crate::lines::{LINE_BYTES_MAX, Line};
use crate::text_input::{TextInput, too_long};
use anyorder_trace::{
    Block, LabelScheme, Place, Problem, Problems, ReadError, Tables, TraceOrder, TraceSource,
};
use std::io::Read;

/// The name of the format.
const FORMAT: &str = "droidracer";

/// Reads a log of DroidRacer's runtime. Memory grows with threads, messages, classes and objects,
/// not with the number of accesses.
#[derive(Debug)]
pub struct DroidRacerReader<R> {
    input: TextInput<R>,
    translator: Translator,
}

impl<R: Read> DroidRacerReader<R> {
    /// Makes a reader; it reads nothing yet.
    pub fn new(input: R) -> DroidRacerReader<R> {
        let mut translator = Translator::default();
        let meta = &mut translator.interner.tables.meta;
        meta.labels = LabelScheme::AccessOrOperation;
        meta.order = TraceOrder::Observed;
        meta.origin = FORMAT.to_owned();
        DroidRacerReader { input: TextInput::new(input), translator }
    }
}

/// Reads a line into `block`; returns false at the end of the operations.
fn read_line(
    translator: &mut Translator,
    line: Line<'_>,
    number: u64,
    block: &mut Block,
    problems: &mut Problems,
) -> Result<bool, LineError> {
    let place = Place::line(number);
    let line = match line {
        Line::Text(line) => line,
        Line::TooLong(line) => {
            problems.push(Problem::error(place, too_long(LINE_BYTES_MAX)).with_text(line));
            return Ok(true);
        }
        Line::End => return Ok(false),
    };
    let translated = match shape(line) {
        Shape::Nothing => Ok(None),
        Shape::Results => return Ok(false),
        Shape::Note => {
            Ok(Some("the recorder broke off or reports a failure of its own".to_owned().into()))
        }
        Shape::Operation { access, number, word, fields } => {
            let fields = Fields::parse(line, fields);
            let mut out = Out { columns: &mut block.columns, first: block.first, number };
            if access {
                translator.access(word, &fields, &mut out)
            } else {
                translator.operation(word, &fields, &mut out)
            }
        }
        Shape::Wrong { offset, message } => Err(Fault::new(offset, message).into()),
    };
    match translated {
        Ok(None) => {}
        Ok(Some(warning)) => {
            let problem = Problem::warning(place, warning.message).with_text(line);
            problems.push(problem.treated_as(warning.unknown));
        }
        Err(LineError::Fault(fault)) => problems.push(fault.problem(number, line)),
        Err(full) => return Err(full),
    }
    Ok(true)
}

impl<R: Read> TraceSource for DroidRacerReader<R> {
    fn tables(&self) -> &Tables {
        &self.translator.interner.tables
    }

    fn next_block(&mut self, block: &mut Block) -> Result<bool, ReadError> {
        let translator = &mut self.translator;
        self.input.next_block(FORMAT, block, |line, number, block, problems| {
            read_line(translator, line, number, block, problems)
        })
    }

    fn problems(&self) -> &Problems {
        &self.input.problems
    }

    fn take_tables(&mut self) -> Tables {
        std::mem::take(&mut self.translator.interner.tables)
    }
}
