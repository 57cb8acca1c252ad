//! `select!`, `join!` and `try_join!`: futures of one task, polled in turns.
//!
//! What they mean is that of tokio's macros of these names, by their documentation.

use crate::tokens::{Error, fill, is_sign, is_word, join as joined, listed, parsed, visible};
use proc_macro::{Delimiter, Ident, Spacing, Span, TokenStream, TokenTree};
use std::iter::Peekable;

type Tokens = Peekable<std::vec::IntoIter<TokenTree>>;

/// `pattern = future, if condition => handler`.
struct Branch {
    pattern: TokenStream,
    future: TokenStream,
    condition: TokenStream,
    handler: TokenStream,
}

/// The branches of a `select!`, and what follows `else`.
struct Select {
    is_biased: bool,
    branches: Vec<Branch>,
    otherwise: Option<TokenStream>,
}

/// Names of ours are not seen by the user's code.
fn span() -> Span {
    Span::mixed_site()
}

fn name(stem: &str, number: usize) -> TokenStream {
    TokenTree::Ident(Ident::new(&format!("{stem}{number}"), span())).into()
}

/// Returns an expression that waits for the first branch whose pattern matches.
pub(crate) fn select(input: TokenStream) -> Result<TokenStream, Error> {
    let Select { is_biased, branches, otherwise } = read_select(input)?;
    if branches.is_empty() {
        let missing = "expected a branch, like `value = receiver.recv() => handle(value)`";
        return otherwise.ok_or_else(|| Error::new(Span::call_site(), missing));
    }
    let every = |template: &str| {
        let one = |(number, branch): (usize, &Branch)| {
            let parts = [
                ("FUTURE", name("future", number)),
                ("BRANCH", name("Branch", number)),
                ("NUMBER", parsed(&format!("{number}usize"), span())),
                ("PATTERN", branch.pattern.clone()),
                ("CLEAN", without_binding_modes(branch.pattern.clone())),
                ("CONDITION", branch.condition.clone()),
                ("HANDLER", branch.handler.clone()),
                ("INIT", branch.future.clone()),
            ];
            fill(template, span(), &parts)
        };
        joined(branches.iter().enumerate().map(one))
    };
    let no_branch = "::core::panic!(\"all branches are disabled and there is no else branch\")";
    let parts = [
        ("NAMES", every("BRANCH,")),
        ("VARIANTS", every("BRANCH(BRANCH),")),
        ("CONDITIONS", every("CONDITION,")),
        (
            "FUTURES",
            every(
                "let mut FUTURE = ::core::pin::pin!(::core::future::IntoFuture::into_future(INIT));",
            ),
        ),
        ("POLLS", every(POLL)),
        ("HANDLERS", every("Selected::BRANCH(PATTERN) => HANDLER,")),
        ("COUNT", parsed(&format!("{}usize", branches.len()), span())),
        ("IS_BIASED", parsed(if is_biased { "true" } else { "false" }, span())),
        ("OTHERWISE", otherwise.unwrap_or_else(|| parsed(no_branch, span()))),
    ];
    Ok(fill(SELECT, span(), &parts))
}

/// Futures and conditions are evaluated outside of the closure, so that they may return.
const SELECT: &str = "{
    enum Selected<NAMES> { VARIANTS Disabled }
    let selected = {
        #[allow(unused_parens)]
        let mut is_enabled = [CONDITIONS];
        FUTURES
        ::core::future::poll_fn(|context| {
            let first = ::anyorder::future::first_branch(IS_BIASED, &is_enabled);
            let mut is_pending = false;
            for turn in 0..COUNT {
                match ::anyorder::future::branch_in_turn(first + turn, COUNT) { POLLS _ => {} }
            }
            match is_pending {
                true => ::core::task::Poll::Pending,
                false => ::core::task::Poll::Ready(Selected::Disabled),
            }
        })
        .await
    };
    #[allow(unreachable_patterns)]
    match selected {
        HANDLERS
        Selected::Disabled => OTHERWISE,
        _ => ::core::unreachable!(\"the pattern matched\"),
    }
}";

const POLL: &str = "
    NUMBER if is_enabled[NUMBER] => {
        match ::core::future::Future::poll(::core::pin::Pin::as_mut(&mut FUTURE), context) {
            ::core::task::Poll::Pending => is_pending = true,
            ::core::task::Poll::Ready(value) => {
                is_enabled[NUMBER] = false;
                #[allow(unused_variables, unreachable_patterns)]
                let is_match = match &value { CLEAN => true, _ => false };
                if is_match {
                    return ::core::task::Poll::Ready(Selected::BRANCH(value));
                }
            }
        }
    }
";

/// A pattern for a reference to what it is for: `ref` and `mut` of its names do not count.
fn without_binding_modes(pattern: TokenStream) -> TokenStream {
    let mut clean = TokenStream::new();
    let mut is_after_and = false;
    for token in pattern {
        let is_mode = is_word(Some(&token), "ref") || is_word(Some(&token), "mut") && !is_after_and;
        is_after_and = is_sign(Some(&token), '&');
        match token {
            _ if is_mode => {}
            TokenTree::Group(group) => {
                let inner = without_binding_modes(group.stream());
                let mut inner = proc_macro::Group::new(group.delimiter(), inner);
                inner.set_span(group.span());
                clean.extend([TokenTree::Group(inner)]);
            }
            token => clean.extend([token]),
        }
    }
    clean
}

fn read_select(input: TokenStream) -> Result<Select, Error> {
    let (is_biased, mut tokens) = biased(input);
    let mut select = Select { is_biased, branches: Vec::new(), otherwise: None };
    while let Some(first) = tokens.peek() {
        let at = first.span();
        if is_word(Some(first), "else") {
            tokens.next();
            let arrow = until_arrow(&mut tokens, at)?;
            if let Some(token) = arrow.into_iter().next() {
                return Err(Error::new(token.span(), "expected `=>` behind `else`"));
            }
            select.otherwise = Some(handler(&mut tokens, at)?);
            if let Some(more) = tokens.next() {
                return Err(Error::new(more.span(), "the `else` branch is the last one"));
            }
            break;
        }
        select.branches.push(branch(&mut tokens, at)?);
    }
    Ok(select)
}

/// Whether `biased;` comes first, and the rest.
fn biased(input: TokenStream) -> (bool, Tokens) {
    let mut all: Vec<TokenTree> = visible(input).into_iter().collect();
    let is_biased = is_word(all.first(), "biased") && is_sign(all.get(1), ';');
    if is_biased {
        all.drain(..2);
    }
    (is_biased, all.into_iter().peekable())
}

fn branch(tokens: &mut Tokens, at: Span) -> Result<Branch, Error> {
    let mut pattern = TokenStream::new();
    let mut is_joint = false;
    loop {
        let Some(token) = tokens.next() else {
            return Err(Error::new(at, "expected `pattern = future => handler`"));
        };
        let is_equal = is_sign(Some(&token), '=') && !is_joint;
        if is_equal && is_sign(tokens.peek(), '>') {
            return Err(Error::new(at, "expected `= future` behind the pattern"));
        }
        if is_equal {
            break;
        }
        is_joint = matches!(&token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
        pattern.extend([token]);
    }
    let mut future = TokenStream::new();
    let mut condition = parsed("true", span());
    loop {
        let Some(token) = tokens.next() else {
            return Err(Error::new(at, "expected `=> handler` behind the future"));
        };
        if is_sign(Some(&token), '=') && is_sign(tokens.peek(), '>') {
            tokens.next();
            break;
        }
        if is_sign(Some(&token), ',') && is_word(tokens.peek(), "if") {
            tokens.next();
            condition = until_arrow(tokens, token.span())?;
            break;
        }
        future.extend([token]);
    }
    if future.is_empty() {
        return Err(Error::new(at, "there is no future behind `=`"));
    }
    Ok(Branch { pattern, future, condition, handler: handler(tokens, at)? })
}

/// Returns what comes before `=>`.
fn until_arrow(tokens: &mut Tokens, at: Span) -> Result<TokenStream, Error> {
    let mut before = TokenStream::new();
    while let Some(token) = tokens.next() {
        if is_sign(Some(&token), '=') && is_sign(tokens.peek(), '>') {
            tokens.next();
            return Ok(before);
        }
        before.extend([token]);
    }
    Err(Error::new(at, "expected `=>`"))
}

/// A block, or an expression up to a comma.
fn handler(tokens: &mut Tokens, at: Span) -> Result<TokenStream, Error> {
    if let Some(TokenTree::Group(group)) = tokens.peek()
        && group.delimiter() == Delimiter::Brace
    {
        let block = tokens.next();
        tokens.next_if(|token| is_sign(Some(token), ','));
        return Ok(block.into_iter().collect());
    }
    let handler = until_comma(tokens);
    match handler.is_empty() {
        true => Err(Error::new(at, "there is no handler behind `=>`")),
        false => Ok(handler),
    }
}

/// An expression up to a comma that is not in `::<...>`.
fn until_comma(tokens: &mut Tokens) -> TokenStream {
    let mut expression = TokenStream::new();
    let (mut depth, mut before) = (0_u32, ' ');
    for token in tokens.by_ref() {
        let sign = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match sign {
            ',' if depth == 0 => break,
            '<' if before == ':' || depth > 0 => depth += 1,
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = sign;
        expression.extend([token]);
    }
    expression
}

/// Returns an expression that waits for all futures; with `is_try`, or for the first error.
pub(crate) fn join(input: TokenStream, is_try: bool) -> Result<TokenStream, Error> {
    let (is_biased, mut tokens) = biased(input);
    let mut futures = Vec::new();
    while tokens.peek().is_some() {
        futures.push(until_comma(&mut tokens));
    }
    if let Some(at) = futures.iter().position(TokenStream::is_empty) {
        let message = format!("future {} is empty", at + 1);
        return Err(Error::new(Span::call_site(), message));
    }
    let each = |template: &str| -> Vec<TokenStream> {
        let one = |(number, future): (usize, &TokenStream)| {
            let parts = [
                ("FUTURE", name("future", number)),
                ("OUTPUT", name("output", number)),
                ("NUMBER", parsed(&format!("{number}usize"), span())),
                ("INIT", future.clone()),
            ];
            fill(template, span(), &parts)
        };
        futures.iter().enumerate().map(one).collect()
    };
    let ready = if is_try { TRY_READY } else { "OUTPUT = ::core::option::Option::Some(value)" };
    let poll = JOIN_POLL.replace("READY", ready);
    let output = "::core::option::Option::expect(\
        ::core::option::Option::take(&mut OUTPUT), \"it is ready\"),";
    let all = fill("(OUTPUTS)", span(), &[("OUTPUTS", joined(each(output)))]);
    let wrapped = if is_try { "::core::result::Result::Ok(ALL)" } else { "ALL" };
    let parts = [
        (
            "FUTURES",
            joined(each(
                "let mut FUTURE = ::core::option::Option::Some(::std::boxed::Box::pin(\
             ::core::future::IntoFuture::into_future(INIT)));\
             let mut OUTPUT = ::core::option::Option::None;",
            )),
        ),
        ("POLLS", joined(each(&poll))),
        ("IS_WAITING", listed(each("::core::option::Option::is_some(&FUTURE)"), span())),
        ("COUNT", parsed(&format!("{}usize", futures.len().max(1)), span())),
        ("IS_BIASED", parsed(if is_biased { "true" } else { "false" }, span())),
        ("ALL", fill(wrapped, span(), &[("ALL", all)])),
    ];
    Ok(fill(JOIN, span(), &parts))
}

/// A future is dropped when it is ready. The first poll is in the order of the futures.
const JOIN: &str = "{
    FUTURES
    let mut is_first = true;
    #[allow(unused_variables, clippy::unused_unit)]
    ::core::future::poll_fn(move |context| {
        let is_fixed = ::core::mem::replace(&mut is_first, false) || IS_BIASED;
        let first = ::anyorder::future::first_branch(is_fixed, &[IS_WAITING]);
        for turn in 0..COUNT {
            match ::anyorder::future::branch_in_turn(first + turn, COUNT) { POLLS _ => {} }
        }
        match [IS_WAITING].contains(&true) {
            true => ::core::task::Poll::Pending,
            false => ::core::task::Poll::Ready(ALL),
        }
    })
    .await
}";

const JOIN_POLL: &str = "
    NUMBER => {
        if let ::core::option::Option::Some(future) = &mut FUTURE {
            let polled = ::core::future::Future::poll(future.as_mut(), context);
            if let ::core::task::Poll::Ready(value) = polled {
                FUTURE = ::core::option::Option::None;
                READY;
            }
        }
    }
";

const TRY_READY: &str = "
    match value {
        ::core::result::Result::Ok(value) => OUTPUT = ::core::option::Option::Some(value),
        ::core::result::Result::Err(error) => {
            return ::core::task::Poll::Ready(::core::result::Result::Err(error));
        }
    }
";
