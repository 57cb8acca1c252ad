//! Reads a model and makes it ready to run, or says what is wrong with it, with the lines.

use super::is_model;
use crate::failure::Failure;
use crate::input::{end_terminal, note_terminal, title};
use anyorder_common::text::escape;
use anyorder_common::text::shown;
use anyorder_lang::diagnostic::{Diagnostic, render};
use anyorder_lang::lower::compile;
use anyorder_lang::source::{SOURCE_BYTES_MAX, Source};
use anyorder_system::{Hash128, Program};
use anyorder_trace::detect::{DetectError, detect};
use anyorder_vm::Machine;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How many diagnostics of one file are printed; the rest is counted.
const DIAGNOSTICS_SHOWN_MAX: usize = 20;

/// A model that can run.
pub(crate) struct Model {
    pub(crate) machine: Arc<Machine>,
    /// Which program it is, for schedules: the path, the name of the model, a hash of the text.
    pub(crate) program: Program,
    /// Warnings, as text for a terminal.
    pub(crate) warnings: Vec<String>,
}

/// Reads and compiles a model; `-` is standard input.
pub(crate) fn load(path: &Path) -> Result<Model, Failure> {
    let text = read(path)?;
    expect_model(path, text.as_bytes())?;
    load_text(path, &text)
}

/// Refuses what is plainly something else than a model, and says what reads it.
fn expect_model(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_model(bytes) {
        return Ok(());
    }
    match detect(bytes) {
        Ok(format) => {
            let what = format!("a trace ({}), expected a model", title(format));
            let failure = Failure::new(format!("{}: {what}", shown(path)));
            Err(failure.with_hint(
                "`anyorder check`, `predict` and `info` read traces; a model begins with `model NAME`",
            ))
        }
        Err(DetectError::Foreign(foreign)) => {
            let what = format!("{}, expected a model", foreign.what);
            Err(Failure::new(format!("{}: {what}", shown(path))).with_hint(foreign.advice))
        }
        Err(_) => Ok(()),
    }
}

/// Reads the text of a model.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    let failed = |error: &io::Error| Failure::reading(path, error);
    let mut bytes = Vec::new();
    let most = SOURCE_BYTES_MAX as u64 + 1;
    if path == Path::new("-") {
        note_terminal();
        io::stdin().lock().take(most).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
        end_terminal();
    } else {
        let file = File::open(path).map_err(|e| failed(&e))?;
        file.take(most).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    }
    if std::str::from_utf8(&bytes).is_err() {
        expect_model(path, &bytes)?;
    }
    text_of(path, bytes)
}

/// Returns bytes as the text of a model.
pub(crate) fn text_of(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    if bytes.len() > SOURCE_BYTES_MAX {
        let message = format!("{}: larger than {SOURCE_BYTES_MAX} bytes", shown(path));
        return Err(Failure::new(message));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::new(format!(
            "{}: line {line}: not UTF-8, expected the text of a model",
            shown(path)
        ))
    })
}

/// Compiles a model.
pub(crate) fn load_text(path: &Path, text: &str) -> Result<Model, Failure> {
    let name = path.to_string_lossy();
    let compiled =
        compile(text, &name).map_err(|diagnostics| refused(&name, text, &diagnostics))?;
    let source = Source::new(&name, text);
    let warnings = compiled.warnings.iter().map(|warning| render(&source, warning, true)).collect();
    let program = Program {
        name: name.clone().into_owned(),
        version: String::new(),
        hash: Some(Hash128::of(text.as_bytes())),
    };
    let machine = Machine::new(compiled.program).map(Arc::new).map_err(|error| {
        Failure::new(format!("{}: {}", shown(path), escape(&error.to_string())))
    })?;
    Ok(Model { machine, program, warnings })
}

/// Makes the failure of a model that cannot run.
pub(crate) fn refused(name: &str, text: &str, diagnostics: &[Diagnostic]) -> Failure {
    let source = Source::new(name, text);
    let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let rendered = errors().take(DIAGNOSTICS_SHOWN_MAX).map(|error| render(&source, error, true));
    let failure = Failure::rendered(rendered.collect());
    let more = errors().count().saturating_sub(DIAGNOSTICS_SHOWN_MAX);
    if more > 0 { failure.and_more(Path::new(name), more as u64) } else { failure }
}
