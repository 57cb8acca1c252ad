//! The parts of an impl block.

use super::rules::{self, Rule};
use crate::tokens::{Error, is_sign, is_word, parsed, split_types, visible};
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// `impl Trait for Type { ... }`.
pub(super) struct Block {
    /// All before the body.
    pub(super) header: TokenStream,
    pub(super) implemented: Option<TokenStream>,
    pub(super) of: TokenStream,
    /// The name of the type without its path.
    pub(super) name: Ident,
    pub(super) body: Group,
    pub(super) parts: Vec<Part>,
}

/// What stands in an impl block.
pub(super) enum Part {
    /// A call.
    Method(Box<Method>),
    Other(TokenStream),
}

/// A method that takes `&self`.
pub(super) struct Method {
    /// Without those that are for us.
    pub(super) attributes: TokenStream,
    /// All from the visibility to the body.
    pub(super) signature: TokenStream,
    pub(super) name: Ident,
    pub(super) parameters: Vec<Parameter>,
    output: TokenStream,
    pub(super) body: Group,
    pub(super) rules: Vec<Rule>,
    /// Where the first rules are.
    pub(super) commutes_at: Option<Span>,
    pub(super) is_opaque: bool,
    /// `#[call(name)]`: the name of the call in a specification that is there.
    pub(super) call: Option<Ident>,
}

/// A parameter of a call.
pub(super) struct Parameter {
    pub(super) name: Ident,
    /// Without `&`, where there is one.
    pub(super) of: TokenStream,
    pub(super) is_reference: bool,
    /// Whether it is no part of the call.
    pub(super) is_skipped: bool,
}

impl Method {
    /// The parameters that are arguments of the call.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| !parameter.is_skipped)
    }

    /// What the body returns, as a closure says it.
    pub(super) fn closure_output(&self) -> TokenStream {
        // A closure cannot say that it returns some type with a trait.
        match self.output.clone().into_iter().any(|token| is_word(Some(&token), "impl")) {
            true => TokenStream::new(),
            false => self.output.clone(),
        }
    }
}

impl Block {
    pub(super) fn methods(&self) -> impl Iterator<Item = &Method> {
        self.parts.iter().filter_map(|part| match part {
            Part::Method(method) => Some(&**method),
            Part::Other(_) => None,
        })
    }

    pub(super) fn read(item: TokenStream) -> Result<Block, Error> {
        let all: Vec<TokenTree> = visible(item.clone()).into_iter().collect();
        let no_block = || {
            let message = "`#[anyorder::object]` is for impl blocks: its methods are the calls";
            Error::about(&item, Span::call_site(), message)
        };
        let mut at = 0;
        while is_sign(all.get(at), '#') {
            at += 2;
        }
        at += usize::from(is_word(all.get(at), "unsafe"));
        let (true, Some(TokenTree::Group(body))) = (is_word(all.get(at), "impl"), all.last())
        else {
            return Err(no_block());
        };
        if is_sign(all.get(at + 1), '<') {
            let message = "an object with a specification has no generic parameters: name the \
                types, as in `impl Map<u32, u32>`, or write `impl Commutes` by hand";
            return Err(Error::new(all[at + 1].span(), message));
        }
        let header = &all[..all.len() - 1];
        let after = &header[at + 1..];
        let end = after.iter().position(|token| is_word(Some(token), "where"));
        let after = &after[..end.unwrap_or(after.len())];
        let split_at = after.iter().position(|token| is_word(Some(token), "for"));
        let (implemented, of) = match split_at {
            Some(at) => (Some(after[..at].iter().cloned().collect()), &after[at + 1..]),
            None => (None, after),
        };
        let path = of.iter().take_while(|token| !is_sign(Some(token), '<'));
        let name = path.filter_map(|token| match token {
            TokenTree::Ident(name) => Some(name.clone()),
            _ => None,
        });
        Ok(Block {
            header: header.iter().cloned().collect(),
            implemented,
            of: of.iter().cloned().collect(),
            name: name.last().ok_or_else(no_block)?,
            body: body.clone(),
            parts: parts(body.stream())?,
        })
    }
}

fn parts(body: TokenStream) -> Result<Vec<Part>, Error> {
    let mut parts = Vec::new();
    let mut item = Vec::new();
    for token in visible(body) {
        let is_brace =
            matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let is_end = is_brace || is_sign(Some(&token), ';');
        item.push(token);
        if is_end {
            parts.push(part(std::mem::take(&mut item))?);
        }
    }
    if !item.is_empty() {
        parts.push(Part::Other(item.into_iter().collect()));
    }
    Ok(parts)
}

/// One item of the block.
fn part(item: Vec<TokenTree>) -> Result<Part, Error> {
    let mut at = 0;
    while is_sign(item.get(at), '#') && item.len() > at + 1 {
        at += 2;
    }
    let attributes = &item[..at];
    let Some(fn_at) = fn_at(&item, at) else { return Ok(Part::Other(item.into_iter().collect())) };
    let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
        (item.get(fn_at + 1), item.last())
    else {
        return Ok(Part::Other(item.into_iter().collect()));
    };
    let parameters = item.iter().skip(fn_at).position(|token| {
        matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis)
    });
    let parameters_at = parameters.map_or(item.len(), |at| at + fn_at);
    let Some(TokenTree::Group(parameters)) = item.get(parameters_at) else {
        return Ok(Part::Other(item.into_iter().collect()));
    };
    let mut all = split_types(visible(parameters.stream())).into_iter();
    let own = OwnAttributes::read(attributes)?;
    if !takes_shared_self(all.next())? {
        own.refuse(name)?;
        return Ok(Part::Other(item.into_iter().collect()));
    }
    for word in ["async", "const", "extern"] {
        if let Some(word) = item[at..fn_at].iter().find(|token| is_word(Some(token), word)) {
            let message = format!("a call is no `{word}` function: put it into another impl block");
            return Err(Error::new(word.span(), message));
        }
    }
    if is_sign(item.get(fn_at + 2), '<') {
        let message = "a call has no generic parameters: put it into another impl block";
        return Err(Error::new(item[fn_at + 2].span(), message));
    }
    let (parameters, without) =
        all.try_fold((Vec::new(), Vec::new()), |(mut known, mut without), one| {
            let (parameter, tokens) = parameter(one, parameters.span())?;
            known.push(parameter);
            without.push(tokens);
            Ok::<_, Error>((known, without))
        })?;
    let mut signature = item[at..item.len() - 1].to_vec();
    signature[parameters_at - at] = with_self(parameters_at, &item, without);
    let output = item[parameters_at + 1..item.len() - 1].iter();
    let output = output.take_while(|token| !is_word(Some(token), "where")).cloned().collect();
    Ok(Part::Method(Box::new(Method {
        attributes: own.others,
        signature: signature.into_iter().collect(),
        name: name.clone(),
        parameters,
        output,
        body: body.clone(),
        rules: own.rules,
        commutes_at: own.commutes_at,
        is_opaque: own.is_opaque,
        call: own.call,
    })))
}

/// Where `fn` is: behind a visibility and words.
fn fn_at(item: &[TokenTree], from: usize) -> Option<usize> {
    let is_before = |token: &&TokenTree| match token {
        TokenTree::Ident(word) => {
            let word = word.to_string();
            ["pub", "const", "async", "unsafe", "extern", "default"].contains(&&*word)
        }
        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis,
        TokenTree::Literal(_) => true,
        TokenTree::Punct(_) => false,
    };
    let count = item[from..].iter().take_while(is_before).count();
    is_word(item.get(from + count), "fn").then_some(from + count)
}

/// Whether a function takes `&self`. What takes `self` otherwise, or not, is no call.
fn takes_shared_self(first: Option<TokenStream>) -> Result<bool, Error> {
    let all: Vec<TokenTree> = first.into_iter().flatten().collect();
    let is_self = |at: usize| is_word(all.get(at), "self");
    if is_self(0) && is_sign(all.get(1), ':') {
        let message = "a call takes `&self`: put this into another impl block";
        return Err(Error::new(all[0].span(), message));
    }
    let is_reference = is_sign(all.first(), '&');
    // `&self` or `&'a self`.
    let is_call = is_reference && (is_self(1) || is_sign(all.get(1), '\'') && is_self(3));
    Ok(is_call && all.len() <= 4)
}

/// Reads a parameter. Returns it, and its tokens without our attribute.
fn parameter(tokens: TokenStream, default: Span) -> Result<(Parameter, TokenStream), Error> {
    let mut all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut is_skipped = false;
    let mut at = 0;
    while is_sign(all.get(at), '#') && all.len() > at + 1 {
        if matches!(&all[at + 1], TokenTree::Group(one) if one.stream().to_string() == "skip") {
            is_skipped = true;
            all.drain(at..at + 2);
        } else {
            at += 2;
        }
    }
    let rest = &all[at..];
    let rest = &rest[usize::from(is_word(rest.first(), "mut"))..];
    let [TokenTree::Ident(name), colon, of @ ..] = rest else {
        let message = "a parameter of a call is a name and a type";
        return Err(Error::about(&tokens, default, message));
    };
    if !is_sign(Some(colon), ':') {
        let message = "a parameter of a call is a name and a type";
        return Err(Error::about(&tokens, default, message));
    }
    let is_reference = is_sign(of.first(), '&');
    let mut of = &of[usize::from(is_reference)..];
    if is_reference && is_sign(of.first(), '\'') {
        of = &of[2..];
    }
    if !is_skipped {
        for word in ["impl", "mut", "dyn"] {
            if is_word(of.first(), word) {
                let message = format!("no argument of a call is `{word}`: see `#[skip]`");
                return Err(Error::about(&tokens, default, message));
            }
        }
    }
    let of = of.iter().cloned().collect();
    let parameter = Parameter { name: name.clone(), of, is_reference, is_skipped };
    Ok((parameter, all.into_iter().collect()))
}

/// The parameters of a method, of which the first one is as it was.
fn with_self(at: usize, item: &[TokenTree], parameters: Vec<TokenStream>) -> TokenTree {
    let TokenTree::Group(group) = &item[at] else { return item[at].clone() };
    let first = split_types(visible(group.stream())).into_iter().next().unwrap_or_default();
    let mut tokens: Vec<TokenTree> = first.into_iter().collect();
    for parameter in parameters {
        tokens.extend(parsed(",", group.span()));
        tokens.extend(parameter);
    }
    let mut with = Group::new(Delimiter::Parenthesis, tokens.into_iter().collect());
    with.set_span(group.span());
    TokenTree::Group(with)
}

/// The attributes of a method.
#[derive(Default)]
struct OwnAttributes {
    others: TokenStream,
    rules: Vec<Rule>,
    commutes_at: Option<Span>,
    is_opaque: bool,
    call: Option<Ident>,
}

impl OwnAttributes {
    fn read(attributes: &[TokenTree]) -> Result<OwnAttributes, Error> {
        let mut own = OwnAttributes::default();
        for pair in attributes.chunks(2) {
            let [_, TokenTree::Group(group)] = pair else { continue };
            let inner: Vec<TokenTree> = visible(group.stream()).into_iter().collect();
            match &*inner {
                [TokenTree::Ident(name), TokenTree::Group(list)]
                    if name.to_string() == "commutes" =>
                {
                    own.commutes_at.get_or_insert(name.span());
                    own.rules.extend(rules::read(list.stream())?);
                }
                [TokenTree::Ident(name), ..] if name.to_string() == "commutes" => {
                    let message = "expected the calls, like `#[commutes(get, add)]`";
                    return Err(Error::new(name.span(), message));
                }
                [TokenTree::Ident(name)] if name.to_string() == "opaque" => own.is_opaque = true,
                [TokenTree::Ident(name), rest @ ..] if name.to_string() == "call" => {
                    let [TokenTree::Group(list)] = rest else {
                        let message = "expected the name of the call, like `#[call(add)]`";
                        return Err(Error::new(name.span(), message));
                    };
                    match list.stream().into_iter().next() {
                        Some(TokenTree::Ident(call)) => own.call = Some(call),
                        _ => return Err(Error::new(list.span(), "expected a name")),
                    }
                }
                _ => own.others.extend(pair.iter().cloned()),
            }
        }
        Ok(own)
    }

    /// What is no call has no attribute of a call.
    fn refuse(&self, name: &Ident) -> Result<(), Error> {
        let at = self.commutes_at.or(self.call.as_ref().map(Ident::span));
        match at {
            Some(at) => {
                Err(Error::new(at, format!("`{name}` does not take `&self`, so it is no call")))
            }
            None => Ok(()),
        }
    }
}
