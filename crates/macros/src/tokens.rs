//! Reading and writing of tokens.

use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

/// What is wrong, and where.
pub(crate) struct Error {
    from: Span,
    to: Span,
    message: String,
}

impl Error {
    pub(crate) fn new(at: Span, message: impl Into<String>) -> Error {
        Error { from: at, to: at, message: message.into() }
    }

    /// An error about all of some tokens; at `default` if there are none.
    pub(crate) fn about(tokens: &TokenStream, default: Span, message: impl Into<String>) -> Error {
        let mut spans = tokens.clone().into_iter().map(|token| token.span());
        let from = spans.next().unwrap_or(default);
        Error { from, to: spans.last().unwrap_or(from), message: message.into() }
    }

    /// Returns the tokens with which the compiler shows the error.
    pub(crate) fn into_tokens(self) -> TokenStream {
        let text = TokenTree::Literal(Literal::string(&self.message));
        let mut inner = Group::new(Delimiter::Brace, TokenStream::from(text.at(self.to)));
        inner.set_span(self.to);
        let mut tokens: Vec<TokenTree> = path(&["core", "compile_error"], self.from);
        tokens.push(TokenTree::Punct(Punct::new('!', Spacing::Alone)).at(self.from));
        tokens.push(TokenTree::Group(inner));
        tokens.into_iter().collect()
    }
}

/// A token elsewhere.
pub(crate) trait At {
    fn at(self, span: Span) -> Self;
}

impl At for TokenTree {
    fn at(mut self, span: Span) -> TokenTree {
        self.set_span(span);
        self
    }
}

/// `::a::b`.
pub(crate) fn path(names: &[&str], span: Span) -> Vec<TokenTree> {
    let colon = |spacing| TokenTree::Punct(Punct::new(':', spacing)).at(span);
    let segment = |name: &&str| {
        let name = TokenTree::Ident(Ident::new(name, span));
        [colon(Spacing::Joint), colon(Spacing::Alone), name]
    };
    names.iter().flat_map(segment).collect()
}

/// Returns the tokens of a text of ours, all at one place.
pub(crate) fn parsed(text: &str, span: Span) -> TokenStream {
    let tokens: TokenStream = text.parse().unwrap_or_default();
    moved(tokens, span)
}

fn moved(tokens: TokenStream, span: Span) -> TokenStream {
    let to = |token: TokenTree| match token {
        TokenTree::Group(group) => {
            let inner = moved(group.stream(), span);
            TokenTree::Group(Group::new(group.delimiter(), inner)).at(span)
        }
        token => token.at(span),
    };
    tokens.into_iter().map(to).collect()
}

/// Whether a token is this sign.
pub(crate) fn is_sign(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

/// Whether a token is this word.
pub(crate) fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident.to_string() == word)
}

/// Tokens one after another.
pub(crate) fn join(all: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    all.into_iter().flatten().collect()
}

/// Tokens with commas between them.
pub(crate) fn listed(all: impl IntoIterator<Item = TokenStream>, span: Span) -> TokenStream {
    let mut tokens = TokenStream::new();
    for one in all {
        if !tokens.is_empty() {
            tokens.extend(parsed(",", span));
        }
        tokens.extend(one);
    }
    tokens
}

/// Tokens of ours with those of the user in the place of names.
pub(crate) fn fill(template: &str, span: Span, parts: &[(&str, TokenStream)]) -> TokenStream {
    replaced(parsed(template, span), &|token| {
        let TokenTree::Ident(name) = token else { return None };
        let name = name.to_string();
        parts.iter().find(|part| part.0 == name).map(|part| part.1.clone())
    })
}

/// Tokens of which some are replaced, in groups, too. What replaces them stays as it is.
pub(crate) fn replaced(
    tokens: TokenStream,
    by: &impl Fn(&TokenTree) -> Option<TokenStream>,
) -> TokenStream {
    let one = |token: TokenTree| match (by(&token), token) {
        (Some(other), _) => other,
        (None, TokenTree::Group(group)) => {
            let mut inner = Group::new(group.delimiter(), replaced(group.stream(), by));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        (None, token) => token.into(),
    };
    tokens.into_iter().flat_map(one).collect()
}

/// Tokens without the invisible brackets around what a macro was given.
pub(crate) fn visible(tokens: TokenStream) -> TokenStream {
    let one = |token: TokenTree| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => visible(group.stream()),
        token => token.into(),
    };
    tokens.into_iter().flat_map(one).collect()
}

/// Splits at the commas that are in no brackets.
pub(crate) fn split(tokens: TokenStream) -> Vec<TokenStream> {
    split_unless(tokens, |_| false)
}

/// Splits at the commas that are in no brackets, those of generic types included.
pub(crate) fn split_types(tokens: TokenStream) -> Vec<TokenStream> {
    let (mut depth, mut before) = (0_u32, ' ');
    split_unless(tokens, move |token| {
        let sign = match token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        match sign {
            '<' => depth += 1,
            // That of `->` closes nothing.
            '>' if before != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = sign;
        depth > 0
    })
}

fn split_unless(
    tokens: TokenStream,
    mut is_inside: impl FnMut(&TokenTree) -> bool,
) -> Vec<TokenStream> {
    let mut all = vec![TokenStream::new()];
    for token in tokens {
        if !is_inside(&token) && is_sign(Some(&token), ',') {
            all.push(TokenStream::new());
        } else if let Some(last) = all.last_mut() {
            last.extend([token]);
        }
    }
    all.retain(|one| !one.is_empty());
    all
}
