//! `#[anyorder::object]`: the methods of an impl block become calls of an object with a
//! specification.
//!
//! - `block`: the parts of an impl block, and the methods in it;
//! - `rules`: what `#[commutes(...)]` says;
//! - `settings`: what stands in the parentheses of `#[anyorder::object(...)]`;
//! - `own`: the type of calls, and the specification of the rules;
//! - `named`: calls of a specification that is there already.

use crate::tokens::{Error, fill, join};
use block::{Block, Method, Part};
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};
use settings::Settings;

mod block;
mod named;
mod own;
mod rules;
mod settings;

/// Returns the impl block whose methods are calls, and the specification before it.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let settings = Settings::read(options)?;
    let block = Block::read(item)?;
    let methods: Vec<&Method> = block.methods().collect();
    if methods.is_empty() {
        let message = "there is no method that takes `&self`: nothing is a call";
        return Err(Error::new(block.name.span(), message));
    }
    let (before, calls) = match &settings.spec {
        None => own::specification(&block, &methods, &settings)?,
        Some(spec) => named::specification(&block, &methods, spec)?,
    };
    let mut calls = calls.into_iter();
    let body = block.parts.iter().map(|part| match part {
        Part::Other(tokens) => tokens.clone(),
        Part::Method(method) => invoking(method, calls.next().unwrap_or_default(), &settings),
    });
    let mut body = Group::new(Delimiter::Brace, body.collect());
    body.set_span(block.body.span());
    let header = block.header.clone().into_iter();
    Ok(before.into_iter().chain(header).chain([TokenTree::Group(body)]).collect())
}

/// A method whose body is an invocation.
fn invoking(method: &Method, call: TokenStream, settings: &Settings) -> TokenStream {
    let span = method.name.span();
    let invoke = if method.is_opaque { "invoke_opaque" } else { "invoke" };
    let template = format!("{{ self.FIELD.{invoke}(CALL, || OUTPUT {{ BODY }}) }}");
    let body = fill(
        &template,
        span,
        &[
            ("FIELD", settings.field.clone()),
            ("CALL", call),
            ("OUTPUT", method.closure_output()),
            ("BODY", TokenTree::Group(method.body.clone()).into()),
        ],
    );
    join([method.attributes.clone(), method.signature.clone(), body])
}
