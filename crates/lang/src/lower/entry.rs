//! From a tree to a program.

use super::lowerer::{Hints, Lowerer};
use super::{declare, events, functions, symmetry};
use crate::ast::Model;
use crate::check;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{Source, Span};
use anyorder_vm::program::Program;

/// Lowers a model that was parsed and checked without errors.
///
/// Linear in the size of the model, families of events with members that differ counted once for each member.
///
/// # Errors
///
/// Fails when the machine's tables are too small for the model, or (for a model that was not checked) with what the checker
/// would have said.
pub(crate) fn lower_with(
    model: &Model,
    source: &Source<'_>,
    hints: Hints<'_>,
    tables: &check::Program,
) -> Result<Program, Vec<Diagnostic>> {
    let mut low = Lowerer::new(model, source, hints, tables);
    declare::declare(&mut low);
    events::declare(&mut low);
    functions::define(&mut low);
    events::define(&mut low);
    symmetry::declare(&mut low);
    if !low.diagnostics.is_empty() {
        return Err(low.diagnostics);
    }
    low.b.finish().map_err(|e| {
        let span = model.name.as_ref().map_or(Span::default(), |n| n.span);
        vec![Diagnostic::new(Code::TOO_LARGE, span, format!("run this model: {e}"))]
    })
}
