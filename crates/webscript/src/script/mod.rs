//! Rewriting of scripts.
//!
//! **Problem.** Given a script, a text that computes the same and calls the runtime (`js/`) at each
//! access to a location that other events may access.
//!
//! **Deviations** from an instrumentation of the engine, as EventRacer and R4 have it: natives are
//! known only as far as the runtime patches them.
//!
//! The script is parsed and its scopes are resolved; then one walk over the tree inserts texts.
//! Nothing is removed or printed anew, so all that is not logged stays as it was, and lines keep
//! their numbers. The forms:
//!
//! | source | becomes |
//! | --- | --- |
//! | `a.b` | `__aoR(a,"b",site).b`: only the object is wrapped, so `this` of a call stays |
//! | `a.b = v`, `a.b += v`, `delete a.b` | the same with `__aoW`, `__aoB`, `__aoD` |
//! | `a[k]` | `__aoO(a,site)[__aoK(k,site,1)]`; `__aoR(a,k,site)[k]` where `k` is a plain local |
//! | `a?.b.c` | `__aoZ(__aoC(__aoP(a,"b",site)?.b,"c",site)?.c)` |
//! | global `x` | `__aoQ(__aoG("x",site),x)` |
//! | `f(v)` in a handler | `__aoQ(__aoT(this,"f",site),f(v))` |
//! | global `x = v` | `__aoQ(__aoH("x",site,2),x = v)` |
//! | captured `x` that changes | `__aoV(scope,i,site,x)` |
//! | `x = v`, `x++` of such an `x` | `__aoS(scope,i,site,2,x = v)`, `__aoU(scope,i,site,1,x++)` |
//!
//! **Cost.** Parsing and walking take time linear in the text, but for scopes nested in scopes:
//! each reference climbs to the scope of its variable.

mod access;
mod bindings;
mod patterns;
mod stack;
mod suspend;
mod walk;

use crate::edits::Edits;
use crate::lines::Lines;
use crate::original::Move;
use crate::sites::{Origin, Sites};
use oxc_allocator::Allocator;
use oxc_parser::{ParseOptions, Parser};
use oxc_semantic::SemanticBuilder;
use oxc_span::SourceType;

/// What a script is to the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A classic script: its variables are global.
    Classic,
    /// A module.
    Module,
    /// The body of a function whose scopes are the element, its form, the document and the globals:
    /// an attribute such as `onclick`.
    Handler,
    /// A text for `eval`, a timer, or the body that `new Function` makes.
    Eval,
}

/// Why a script is not rewritten. The browser gets it as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// The script does not parse.
    #[error("{line}:{column}: {message}")]
    Parse {
        /// The line, counted from 1.
        line: u32,
        /// The column in UTF-16 code units, counted from 1.
        column: u32,
        /// What the parser says.
        message: String,
    },
    /// The script could be nested so deeply that parsing it might need more stack than there is.
    #[error("too much syntax to be parsed safely: it might need {0} bytes of stack")]
    Deep(u64),
    /// The text is longer than 1 GiB.
    #[error("the script has more than 1 GiB")]
    Long,
}

/// Returns a script with calls of the runtime. Its sites are added to the table.
///
/// # Errors
///
/// The script does not parse, or it is too large or might be too deeply nested. No site is added
/// then; the browser gets the script as it is, and fails in the same way.
pub fn rewrite_script(
    text: &str,
    kind: Kind,
    origin: Origin,
    sites: &mut Sites,
) -> Result<String, SyntaxError> {
    sites.begin(origin, text);
    let (text, moves) = rewrite_with_moves(text, kind, origin, sites)?;
    sites.add_moves(origin.source, &moves);
    Ok(text)
}

/// Like [`rewrite_script`]; returns what was inserted, too, and notes it nowhere.
pub(crate) fn rewrite_with_moves(
    text: &str,
    kind: Kind,
    origin: Origin,
    sites: &mut Sites,
) -> Result<(String, Vec<Move>), SyntaxError> {
    if text.len() >= 1 << 30 {
        return Err(SyntaxError::Long);
    }
    let before = sites.len();
    let result = stack::with_enough(text, || rewrite(text, kind, origin, sites))?;
    if result.is_err() {
        sites.truncate(before);
    }
    result
}

fn rewrite(
    text: &str,
    kind: Kind,
    origin: Origin,
    sites: &mut Sites,
) -> Result<(String, Vec<Move>), SyntaxError> {
    let allocator = Allocator::default();
    let source_type = match kind {
        Kind::Module => SourceType::mjs(),
        Kind::Classic | Kind::Handler | Kind::Eval => SourceType::script(),
    };
    let options = ParseOptions {
        allow_return_outside_function: kind == Kind::Handler,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(&allocator, text, source_type).with_options(options).parse();
    let lines = Lines::new(text, origin);
    if let Some(first) = parsed.diagnostics.first() {
        let offset = first
            .labels
            .first()
            .map_or(0, |label| usize::try_from(label.span().start).unwrap_or(0));
        let place = lines.place(offset);
        let message = first.message.to_string();
        return Err(SyntaxError::Parse { line: place.line, column: place.column, message });
    }
    if kind != Kind::Module && parsed.module_record.has_module_syntax {
        let message = "import or export outside of a module".to_owned();
        return Err(SyntaxError::Parse { line: origin.line, column: origin.column, message });
    }
    let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
    let bindings = bindings::Bindings::new(&parsed.program, semantic.scoping(), kind);
    let mut edits = Edits::new();
    let scoping = semantic.scoping();
    walk::Walk::new(text, kind, scoping, &bindings, &lines, sites, &mut edits)
        .program(&parsed.program);
    Ok(edits.apply(text, &lines))
}
