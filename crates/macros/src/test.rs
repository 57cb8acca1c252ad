//! The function under `#[anyorder::test]`.

use crate::options;
use crate::tokens::{Error, is_sign, is_word, parsed};
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// The parts of a function without parameters.
struct Function {
    /// Its attributes and its visibility.
    before: Vec<TokenTree>,
    is_async: bool,
    name: Ident,
    /// From `->` to the body.
    output: Vec<TokenTree>,
    body: Group,
}

/// Returns a test that runs the function in all of its executions.
///
/// The function becomes an inner one, with its own name, so that its errors are where it is.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let calls = options::calls(options)?;
    let Function { before, is_async, name, output, body } = function(item)?;
    // Where a failure is reported.
    let span = Span::call_site().located_at(name.span());
    let run = if is_async { "::anyorder::future::block_on(NAME())" } else { "NAME()" };
    let run = match output.is_empty() {
        true => run.to_owned(),
        false => format!("::core::result::Result::expect({run}, \"the test failed\");"),
    };
    let check = format!("::anyorder::Builder::new(){calls}.check(|| {{ {run} }});");
    let mut inner: Vec<TokenTree> = Vec::new();
    inner.extend(is_async.then(|| TokenTree::Ident(Ident::new("async", span))));
    inner.extend(parsed("fn", span));
    inner.push(TokenTree::Ident(name.clone()));
    inner.extend(parsed("()", span));
    inner.extend(output);
    inner.push(TokenTree::Group(body));
    inner.extend(parsed(&check.replace("NAME", &name.to_string()), span));
    let mut outer: Vec<TokenTree> =
        parsed("#[::core::prelude::v1::test]", span).into_iter().collect();
    outer.extend(before);
    outer.extend(parsed("fn", span));
    outer.push(TokenTree::Ident(name));
    outer.extend(parsed("()", span));
    let inner = inner.into_iter().collect();
    outer.push(TokenTree::Group(Group::new(Delimiter::Brace, inner)));
    Ok(outer.into_iter().collect())
}

fn function(item: TokenStream) -> Result<Function, Error> {
    let start = Span::call_site();
    let all: Vec<TokenTree> = item.clone().into_iter().collect();
    let no_function = || Error::about(&item, start, "`#[anyorder::test]` is for functions");
    let mut at = 0;
    let mut before = Vec::new();
    // Attributes: `#[...]`. A visibility: `pub`, `pub(crate)`.
    while is_sign(all.get(at), '#') {
        before.extend(all.get(at..at + 2).unwrap_or_default().iter().cloned());
        at += 2;
    }
    if is_word(all.get(at), "pub") {
        before.push(all[at].clone());
        at += 1;
        if let Some(TokenTree::Group(group)) = all.get(at)
            && group.delimiter() == Delimiter::Parenthesis
        {
            before.push(all[at].clone());
            at += 1;
        }
    }
    let is_async = is_word(all.get(at), "async");
    at += usize::from(is_async);
    for word in ["const", "unsafe", "extern"] {
        if is_word(all.get(at), word) {
            let message = format!("a test is no `{word}` function");
            return Err(Error::new(all[at].span(), message));
        }
    }
    if !is_word(all.get(at), "fn") {
        return Err(no_function());
    }
    let Some(TokenTree::Ident(name)) = all.get(at + 1) else { return Err(no_function()) };
    if is_sign(all.get(at + 2), '<') {
        return Err(Error::new(all[at + 2].span(), "a test has no generic parameters"));
    }
    match all.get(at + 2) {
        Some(TokenTree::Group(parameters)) if parameters.stream().is_empty() => {}
        Some(TokenTree::Group(parameters)) => {
            let message = "a test has no parameters: what its threads share is made in it";
            return Err(Error::about(&parameters.stream(), parameters.span(), message));
        }
        _ => return Err(no_function()),
    }
    let (Some(TokenTree::Group(body)), output) = (all.last(), all.get(at + 3..all.len() - 1))
    else {
        return Err(no_function());
    };
    Ok(Function {
        before,
        is_async,
        name: name.clone(),
        output: output.unwrap_or_default().to_vec(),
        body: body.clone(),
    })
}
