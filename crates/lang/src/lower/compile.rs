//! One call from a text to a program.

use super::lowerer::Lowerer;
use super::{declare, events, functions, spec, symmetry};
use crate::ast;
use crate::check;
use crate::diagnostic::{Code, Diagnostic};
use crate::load::{Loaded, load};
use crate::source::{Source, Span};
use anyorder_program::{Program, ProgramError};

/// A model compiled to a program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program for the machine.
    pub program: Program,
    /// What the names and expressions of the model mean.
    pub tables: check::CheckedModel,
    /// The tree.
    pub model: ast::Model,
    /// Warnings, in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

/// Parses, checks and lowers a model. Positions in reports name the file `name`. Lowering is linear
/// in the size of the model; a family of events whose members differ counts once for each member.
///
/// ```
/// let text = "model counter\nvar x = 0;\nevent up when x < 3 { x += 1; }\n";
/// let compiled = anyorder_lang::lower::compile(text, "counter.any").map_err(|_| "bad model")?;
/// assert_eq!(compiled.program.events.len(), 1);
/// # Ok::<(), &str>(())
/// ```
///
/// # Errors
///
/// Fails with all diagnostics, including warnings, if one of them is an error. A model that the
/// checker accepts fails only if it is too large: the machine's tables count in 16 bits.
pub fn compile(text: &str, name: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let loaded = load(text);
    let sound = loaded.is_valid();
    let Loaded { model, program: tables, diagnostics: mut warnings, .. } = loaded;
    if !sound {
        return Err(warnings);
    }
    match lower(&model, &tables, &Source::new(name, text)) {
        Ok(program) => Ok(Compiled { program, tables, model, warnings }),
        Err(error) => {
            let span = model.name.as_ref().map_or(Span::default(), |n| n.span);
            let message = format!("run this model: {error}");
            warnings.push(Diagnostic::new(Code::TOO_LARGE, span, message));
            Err(warnings)
        }
    }
}

/// Lowers a parsed and checked model.
///
/// # Errors
///
/// Fails if the machine's tables are too small for the model.
pub fn lower(
    model: &ast::Model,
    tables: &check::CheckedModel,
    source: &Source<'_>,
) -> Result<Program, ProgramError> {
    let mut low = Lowerer::new(model, tables, source);
    declare::declare(&mut low);
    events::declare(&mut low);
    functions::define(&mut low);
    events::define(&mut low);
    spec::define(&mut low);
    symmetry::declare(&mut low);
    low.b.finish()
}
