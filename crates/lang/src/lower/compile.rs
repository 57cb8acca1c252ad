//! One call from a text to a program.

use super::entry::lower_with;
use super::hints::hint;
use crate::ast;
use crate::check;
use crate::diagnostic::Diagnostic;
use crate::load::{Loaded, load};
use crate::source::Source;
use anyorder_vm::Machine;
use anyorder_vm::program::{Program, ProgramError};

/// A model made into a program.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// For the machine.
    pub program: Program,
    /// What the names and expressions of the model mean.
    pub tables: check::Program,
    /// The tree.
    pub model: ast::Model,
    /// Warnings, in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

impl Compiled {
    /// Makes the program ready to run, as a state system for full search.
    ///
    /// # Errors
    ///
    /// Fails when the machine refuses the program, which is then a mistake of this crate.
    pub fn into_machine(self) -> Result<Machine, ProgramError> {
        Machine::new(self.program)
    }
}

/// Parses, checks and lowers a model. `name` is what positions in reports call the file.
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
/// Fails with all diagnostics, warnings too, when there is an error among them.
pub fn compile(text: &str, name: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let loaded = load(text);
    let sound = loaded.is_sound();
    let Loaded { model, program: tables, diagnostics: mut warnings, .. } = loaded;
    if !sound {
        return Err(warnings);
    }
    match lower(&model, &tables, &Source::new(name, text)) {
        Ok(program) => Ok(Compiled { program, tables, model, warnings }),
        Err(errors) => {
            warnings.extend(errors);
            Err(warnings)
        }
    }
}

/// Lowers a model that was parsed and checked without errors. Linear in its size, families of events whose members differ
/// counted once for each member.
///
/// # Errors
///
/// Fails when the machine's tables are too small for the model.
pub fn lower(
    model: &ast::Model,
    checked: &check::Program,
    source: &Source<'_>,
) -> Result<Program, Vec<Diagnostic>> {
    lower_with(model, source, &|_, id| hint(checked, id), checked)
}
