//! The type of the calls of an impl block, and the specification that its rules are.

use super::block::{Block, Method, Parameter};
use super::rules::Rule;
use super::settings::Settings;
use crate::tokens::{Error, fill, is_word, join, listed, parsed, replaced};
use proc_macro::{Ident, Span, TokenStream, TokenTree};

/// The items before the block.
const ITEMS: &str = "
    #[doc = DOC]
    #[derive(
        ::core::clone::Clone, ::core::cmp::PartialEq, ::core::cmp::Eq, ::core::hash::Hash,
        ::core::fmt::Debug,
    )]
    #[allow(missing_docs, unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
    pub enum CALLS { VARIANTS }

    impl ::anyorder::object::Commutes for OF {
        type Call = CALLS;
        #[allow(unused_variables, unreachable_patterns, clippy::all, clippy::pedantic)]
        fn commute(call: &CALLS, other: &CALLS) -> bool {
            fn holds(call: &CALLS, other: &CALLS) -> bool {
                match (call, other) { ARMS _ => false }
            }
            holds(call, other) || holds(other, call)
        }
    }
";

/// How calls are made one by one: for comparison of the specification with the type.
const CALLABLE: &str = "
    impl ::anyorder::object::Callable for OF {
        #[allow(unused_imports, clippy::all, clippy::pedantic)]
        fn make(&self, call: &CALLS) -> ::core::option::Option<::std::string::String> {
            use ::anyorder::object::{AnswerInWords as _, AnswerWithoutWords as _};
            match call { MAKES }
        }
    }
";

/// Returns the items, and for each method its call.
pub(super) fn specification(
    block: &Block,
    methods: &[&Method],
    settings: &Settings,
) -> Result<(TokenStream, Vec<TokenStream>), Error> {
    let span = block.name.span();
    if let Some(call) = methods.iter().find_map(|method| method.call.as_ref()) {
        let message = "`#[call(...)]` names a call of a specification that is there: give that as \
            `#[anyorder::object(spec = ...)]`";
        return Err(Error::new(call.span(), message));
    }
    let name = format!("{}Call", block.name);
    let calls: TokenStream = match &settings.calls {
        Some(calls) => calls.clone().into(),
        None => TokenTree::Ident(Ident::new(&name, span)).into(),
    };
    let mut arms = Vec::new();
    for method in methods {
        for rule in &method.rules {
            arms.push(arm(method, rule, methods, &calls)?);
        }
    }
    let doc = format!("\"The calls of [`{}`].\"", block.name);
    let parts = [
        ("DOC", parsed(&doc, span)),
        ("CALLS", calls.clone()),
        ("OF", block.of.clone()),
        ("VARIANTS", join(methods.iter().map(|method| variant(method, block)))),
        ("ARMS", join(arms)),
        ("MAKES", join(methods.iter().map(|method| make(method, block, &calls)))),
    ];
    let mut items = fill(ITEMS, span, &parts);
    // Without all arguments no call can be made.
    let is_callable = |method: &&Method| method.parameters.iter().all(|one| !one.is_skipped);
    if methods.iter().all(is_callable) {
        items.extend(fill(CALLABLE, span, &parts));
    }
    Ok((items, methods.iter().map(|method| call(method, &calls)).collect()))
}

/// `Insert(u32),`
fn variant(method: &Method, block: &Block) -> TokenStream {
    let of = |argument: &Parameter| {
        // In the type of calls, `Self` is that.
        let of = replaced(argument.of.clone(), &|token| {
            is_word(Some(token), "Self").then(|| block.of.clone())
        });
        match argument.is_reference {
            false => of,
            true => {
                let span = argument.name.span();
                fill("<OF as ::std::borrow::ToOwned>::Owned", span, &[("OF", of)])
            }
        }
    };
    let types = listed(method.arguments().map(of), method.name.span());
    let parts = [("NAME", variant_name(&method.name)), ("TYPES", types)];
    fill(
        if method.arguments().next().is_some() { "NAME(TYPES)," } else { "NAME," },
        method.name.span(),
        &parts,
    )
}

/// `MapCall::Insert(key.clone())`
fn call(method: &Method, calls: &TokenStream) -> TokenStream {
    let span = method.name.span();
    let own = "<OF as ::std::borrow::ToOwned>::to_owned(NAME)";
    let copy = "<OF as ::core::clone::Clone>::clone(&NAME)";
    let arguments = method.arguments().map(|one| value(one, own, copy, span)).collect();
    pattern(method, calls, arguments)
}

/// An argument by one of two texts: of a reference, or of a value.
fn value(argument: &Parameter, reference: &str, copy: &str, span: Span) -> TokenStream {
    let name = TokenTree::Ident(argument.name.clone());
    let parts = [("OF", argument.of.clone()), ("NAME", name.into())];
    fill(if argument.is_reference { reference } else { copy }, span, &parts)
}

/// `MapCall::Insert(a, b) => ...,`: makes the call.
fn make(method: &Method, block: &Block, calls: &TokenStream) -> TokenStream {
    let span = method.name.span();
    let borrow = "::core::borrow::Borrow::<OF>::borrow(NAME)";
    let copy = "<OF as ::core::clone::Clone>::clone(NAME)";
    let parts = [
        ("CALL", pattern(method, calls, names(method))),
        ("OF", block.of.clone()),
        ("TRAIT", block.implemented.clone().unwrap_or_default()),
        ("METHOD", TokenTree::Ident(method.name.clone()).into()),
        ("VALUES", listed(method.arguments().map(|one| value(one, borrow, copy, span)), span)),
    ];
    let of = if block.implemented.is_some() { "<OF as TRAIT>" } else { "<OF>" };
    let template = format!(
        "CALL => {{ let answer = {of}::METHOD(self, VALUES); \
         (&::anyorder::object::Answered(&answer)).words() }}"
    );
    fill(&template, span, &parts)
}

fn names(method: &Method) -> Vec<TokenStream> {
    method.arguments().map(|one| TokenTree::Ident(one.name.clone()).into()).collect()
}

fn pattern(method: &Method, calls: &TokenStream, arguments: Vec<TokenStream>) -> TokenStream {
    let span = method.name.span();
    let has_arguments = !arguments.is_empty();
    let parts = [
        ("CALLS", calls.clone()),
        ("NAME", variant_name(&method.name)),
        ("ARGUMENTS", listed(arguments, span)),
    ];
    fill(if has_arguments { "CALLS::NAME(ARGUMENTS)" } else { "CALLS::NAME" }, span, &parts)
}

/// `(MapCall::Insert(a, b), MapCall::Get(c)) if a != c => true,`
fn arm(
    method: &Method,
    rule: &Rule,
    methods: &[&Method],
    calls: &TokenStream,
) -> Result<TokenStream, Error> {
    let span = rule.method.span();
    let name = rule.method.to_string();
    let other = methods.iter().find(|other| other.name.to_string() == name).ok_or_else(|| {
        let known: Vec<String> =
            methods.iter().map(|method| format!("`{}`", method.name)).collect();
        let message = format!("there is no call `{name}` here, but {}", known.join(", "));
        Error::new(span, message)
    })?;
    let count = other.arguments().count();
    let arguments = match &rule.arguments {
        Some(arguments) if arguments.len() != count => {
            let message =
                format!("the call `{name}` has {count} arguments, not {}", arguments.len());
            return Err(Error::new(span, message));
        }
        Some(arguments) => arguments.clone(),
        None => vec![TokenTree::Ident(Ident::new("_", span)); count],
    };
    let is_own = |token: &&TokenTree| {
        method.arguments().any(|own| own.name.to_string() == token.to_string())
    };
    if let Some(twice) = arguments.iter().find(is_own) {
        let message = format!(
            "`{twice}` is an argument of `{}`: give that of `{name}` another name",
            method.name
        );
        return Err(Error::new(twice.span(), message));
    }
    let guard = rule.guard.clone();
    let parts = [
        ("OWN", pattern(method, calls, names(method))),
        ("OTHER", pattern(other, calls, arguments.into_iter().map(TokenStream::from).collect())),
        ("GUARD", guard.clone().unwrap_or_default()),
    ];
    let template =
        if guard.is_some() { "(OWN, OTHER) if GUARD => true," } else { "(OWN, OTHER) => true," };
    Ok(fill(template, span, &parts))
}

/// `fetch_add` is `FetchAdd`.
fn variant_name(method: &Ident) -> TokenStream {
    let text = method.to_string();
    let words = text.trim_start_matches("r#").split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    });
    let name: String = words.collect();
    let span: Span = method.span();
    TokenTree::Ident(Ident::new(&name, span)).into()
}
