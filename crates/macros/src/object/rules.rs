//! What `#[commutes(...)]` says: with which calls the one of the method commutes, and when.

use crate::tokens::{Error, is_word, split};
use proc_macro::{Delimiter, Ident, TokenStream, TokenTree};

/// `other(a, _) if guard`: one entry of the list.
pub(super) struct Rule {
    /// The method of the other call.
    pub(super) method: Ident,
    /// Names for the arguments of the other call. `None`: it commutes whatever they are.
    pub(super) arguments: Option<Vec<TokenTree>>,
    /// When it commutes. `None`: always.
    pub(super) guard: Option<TokenStream>,
}

/// Reads the list of one attribute.
pub(super) fn read(list: TokenStream) -> Result<Vec<Rule>, Error> {
    split(list).into_iter().map(rule).collect()
}

fn rule(entry: TokenStream) -> Result<Rule, Error> {
    let span = entry.clone().into_iter().next().map(|token| token.span());
    let mut tokens = entry.into_iter().peekable();
    let Some(TokenTree::Ident(method)) = tokens.next() else {
        let span = span.unwrap_or_else(proc_macro::Span::call_site);
        let message = "expected a method, like `insert` or `insert(other) if key != other`";
        return Err(Error::new(span, message));
    };
    let mut arguments = None;
    if let Some(TokenTree::Group(group)) = tokens.peek()
        && group.delimiter() == Delimiter::Parenthesis
    {
        let names = split(group.stream()).into_iter().map(|name| {
            let whole: Vec<TokenTree> = name.into_iter().collect();
            match &*whole {
                [name @ TokenTree::Ident(_)] => Ok(name.clone()),
                _ => {
                    let span = whole.first().map_or(group.span(), TokenTree::span);
                    Err(Error::new(
                        span,
                        "expected a name for an argument of the other call, or `_`",
                    ))
                }
            }
        });
        arguments = Some(names.collect::<Result<_, _>>()?);
        tokens.next();
    }
    let guard = match tokens.next() {
        None => None,
        word if is_word(word.as_ref(), "if") => {
            let guard: TokenStream = tokens.collect();
            if guard.is_empty() {
                let span = word.map_or(method.span(), |word| word.span());
                return Err(Error::new(span, "`if` has no condition"));
            }
            Some(guard)
        }
        Some(other) => {
            return Err(Error::new(other.span(), "expected `if`, or a comma and another method"));
        }
    };
    Ok(Rule { method, arguments, guard })
}
