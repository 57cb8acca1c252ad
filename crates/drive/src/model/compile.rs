//! From the text of a model to its program. Nothing else here knows the language of models.

use super::program::Model;
use crate::failure::{Failure, Mistake, ModelMistakes, ModelWarning, Unusable};
use anyorder_lang::diagnostic::{Diagnostic, render};
use anyorder_lang::format::format;
use anyorder_lang::lower::compile;
use anyorder_lang::source::{SOURCE_BYTES_MAX, Source};
use anyorder_system::{Hash128, ProgramIdentity};
use std::path::Path;

/// The maximum size of the text of a model, in bytes.
pub const MODEL_BYTES_MAX: usize = SOURCE_BYTES_MAX;

/// The maximum number of mistakes listed for one file; the rest is counted.
const MISTAKES_SHOWN_MAX: usize = 20;

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
        let program = ProgramIdentity {
            name: name.to_owned(),
            version: String::new(),
            hash: Some(Hash128::of(text.as_bytes())),
        };
        let source = Source::new(name, text);
        let warnings = compiled.warnings.iter().map(|warning| mistake(&source, warning));
        let warnings = warnings.map(ModelWarning::Compiler).collect();
        Model::from_program(compiled.program, program, warnings)
    }
}

/// Returns bytes as the text of a model.
///
/// # Errors
///
/// Fails when there are too many, and when they are not UTF-8.
pub fn model_text(path: &Path, bytes: Vec<u8>) -> Result<String, Failure> {
    if bytes.len() > MODEL_BYTES_MAX {
        return Err(Failure::input(path, Unusable::TooLarge { bytes_max: MODEL_BYTES_MAX }));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        let why = Unusable::NotUtf8 { line: Some(line), expected: "the text of a model" };
        Failure::input(path, why)
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
    let list = errors().take(MISTAKES_SHOWN_MAX).map(|error| mistake(&source, error)).collect();
    let more = errors().count().saturating_sub(MISTAKES_SHOWN_MAX) as u64;
    Failure::Model(ModelMistakes { name: name.to_owned(), list, more })
}

fn mistake(source: &Source<'_>, diagnostic: &Diagnostic) -> Mistake {
    let place = source.position(diagnostic.primary.span.start);
    Mistake {
        code: diagnostic.code.as_str(),
        message: diagnostic.message.clone(),
        line: place.line,
        column: place.column,
        plain: render(source, diagnostic, false),
        coloured: render(source, diagnostic, true),
    }
}
