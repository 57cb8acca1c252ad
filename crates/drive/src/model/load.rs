//! Compiles a model, or reports its errors with the lines.

use crate::{Failure, FailureMessage, Level};
use anyorder_common::text::escape;
use anyorder_lang::diagnostic::{Diagnostic, render};
use anyorder_lang::format::format;
use anyorder_lang::lower::compile;
use anyorder_lang::source::{SOURCE_BYTES_MAX, Source};
use anyorder_system::{Hash128, ProgramIdentity, Schedule};
use anyorder_vm::Machine;
use anyorder_vm::program::{Granularity, Program, ProgramError};
use std::path::Path;
use std::sync::Arc;

/// The maximum size of the text of a model, in bytes.
pub const MODEL_BYTES_MAX: usize = SOURCE_BYTES_MAX;

/// The maximum number of diagnostics printed for one file; the rest is counted.
const DIAGNOSTICS_SHOWN_MAX: usize = 20;

/// A compiled model.
#[derive(Debug)]
pub struct Model {
    pub(crate) machine: Arc<Machine>,
    /// The identity of the program in schedules: the path and a hash of the text.
    pub(crate) program: ProgramIdentity,
    warnings: Vec<FailureMessage>,
    /// Whether the text asks for steps at shared accesses.
    access_steps: bool,
}

/// The option of a schedule whose steps are those of another granularity than the model asks for.
pub(crate) const GRANULARITY: &str = "granularity";

impl Model {
    /// Compiles the text of a model. `name` identifies the model in messages and schedules: a path
    /// as given.
    ///
    /// # Errors
    ///
    /// Fails with the errors of the text.
    ///
    /// ```
    /// use anyorder_drive::model::Model;
    /// let text = "model click\nvar x = 0;\nevent press { x = 1; }\n";
    /// let model = Model::compile("click.any", text)?;
    /// assert_eq!(model.responses(), 0);
    /// assert!(Model::compile("bad.any", "model bad\nvar x = y;\n").is_err());
    /// # Ok::<(), anyorder_drive::Failure>(())
    /// ```
    pub fn compile(name: &str, text: &str) -> Result<Model, Failure> {
        let compiled =
            compile(text, name).map_err(|diagnostics| refused(name, text, &diagnostics))?;
        let source = Source::new(name, text);
        let rendered = |warning| FailureMessage {
            line: render(&source, warning, true),
            rendered: true,
            ..FailureMessage::new(Level::Warning, String::new())
        };
        let program = ProgramIdentity {
            name: name.to_owned(),
            version: String::new(),
            hash: Some(Hash128::of(text.as_bytes())),
        };
        let access_steps = compiled.program.settings.granularity == Granularity::Access;
        let machine = Machine::new(compiled.program)
            .map_err(|error| Failure::at(name, escape(&error.to_string())))?;
        let machine = Arc::new(machine);
        let warnings = compiled.warnings.iter().map(rendered).collect();
        Ok(Model { machine, program, warnings, access_steps })
    }

    /// Returns the model with steps at shared accesses, whatever its setting.
    ///
    /// # Errors
    ///
    /// None for a compiled model.
    pub(crate) fn by_access(&self) -> Result<Model, Failure> {
        self.changed(|program| program.settings.granularity = Granularity::Access)
    }

    /// Returns the model with a step at each shared access and without its components: for whom a
    /// task works is no part of its states.
    pub(crate) fn by_access_for_nobody(&self) -> Result<Model, Failure> {
        self.changed(|program| {
            program.settings.granularity = Granularity::Access;
            program.components.clear();
        })
    }

    fn changed(&self, change: impl FnOnce(&mut Program)) -> Result<Model, Failure> {
        let mut program = self.machine.source_program();
        change(&mut program);
        let refused =
            |error: ProgramError| Failure::at(&self.program.name, escape(&error.to_string()));
        let machine = Arc::new(Machine::new(program).map_err(refused)?);
        let (program, access_steps) = (self.program.clone(), self.access_steps);
        Ok(Model { machine, program, warnings: Vec::new(), access_steps })
    }

    /// Returns whether the text of the model asks for steps at shared accesses.
    pub(crate) fn has_access_steps(&self) -> bool {
        self.access_steps
    }

    /// Returns the model with the steps of a schedule, if these are not its own.
    ///
    /// # Errors
    ///
    /// None for a compiled model.
    pub(crate) fn with_steps_of(&self, schedule: &Schedule) -> Result<Option<Model>, Failure> {
        let asked = schedule.options.get(GRANULARITY);
        let access = asked.is_some_and(|asked| asked == "access") && !self.access_steps;
        access.then(|| self.by_access()).transpose()
    }

    /// Returns the warnings of the compiler.
    #[must_use]
    pub fn warnings(&self) -> &[FailureMessage] {
        &self.warnings
    }

    /// Returns the number of response properties, which only full search checks.
    #[must_use]
    pub fn responses(&self) -> usize {
        self.machine.program().responses.len()
    }
}

/// Returns bytes as the text of a model.
///
/// # Errors
///
/// Fails when there are too many, and when they are not UTF-8.
pub fn model_text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    if bytes.len() > MODEL_BYTES_MAX {
        return Err(Failure::at(path, format!("larger than {MODEL_BYTES_MAX} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Failure::at(path, format!("line {line}: not UTF-8, expected the text of a model"))
    })
}

/// Returns the text of a model in canonical form.
///
/// # Errors
///
/// Fails with the errors of a text that cannot be parsed.
pub fn format_model(name: &str, text: &str) -> Result<String, Failure> {
    format(text).map_err(|diagnostics| refused(name, text, &diagnostics))
}

/// Makes the failure of a model that cannot run.
fn refused(name: &str, text: &str, diagnostics: &[Diagnostic]) -> Failure {
    let source = Source::new(name, text);
    let errors = || diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
    let rendered = errors().take(DIAGNOSTICS_SHOWN_MAX).map(|error| render(&source, error, true));
    let more = errors().count().saturating_sub(DIAGNOSTICS_SHOWN_MAX);
    Failure::rendered(rendered.collect()).and_more(Path::new(name), more as u64)
}
