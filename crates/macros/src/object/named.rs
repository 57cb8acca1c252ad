//! Calls of a specification that is there already.

use super::block::{Block, Method};
use crate::tokens::{Error, fill, listed, parsed};
use proc_macro::{TokenStream, TokenTree};

/// Returns what is checked when the program is compiled, and for each method its call.
pub(super) fn specification(
    block: &Block,
    methods: &[&Method],
    spec: &TokenStream,
) -> Result<(TokenStream, Vec<TokenStream>), Error> {
    let mut items = TokenStream::new();
    let mut calls = Vec::new();
    for method in methods {
        if let Some(at) = method.commutes_at {
            let message = "the specification says which calls commute: `#[commutes(...)]` is for \
                types without `spec = ...`";
            return Err(Error::new(at, message));
        }
        let name = method.call.as_ref().unwrap_or(&method.name);
        let span = name.span();
        let count = method.arguments().count();
        let parts = [
            ("SPEC", spec.clone()),
            ("NAME", parsed(&format!("{:?}", name.to_string()), span)),
            ("COUNT", parsed(&format!("{count}usize"), span)),
            ("OF", block.of.clone()),
            (
                "ARGUMENTS",
                listed(
                    method.arguments().map(|argument| {
                        let name = TokenTree::Ident(argument.name.clone());
                        let by = if argument.is_reference { "" } else { "&" };
                        let text =
                            format!("::anyorder::object::ready::Argument::as_argument({by}NAME)");
                        fill(&text, argument.name.span(), &[("NAME", name.into())])
                    }),
                    span,
                ),
            ),
        ];
        let check = "const _: () = ::anyorder::object::ready::assert_has_call(
            <SPEC as ::anyorder::object::ready::Ready>::CALLS, NAME, COUNT);";
        items.extend(fill(check, span, &parts));
        calls.push(fill("::anyorder::object::ready::Call::new(NAME, &[ARGUMENTS])", span, &parts));
    }
    Ok((items, calls))
}
