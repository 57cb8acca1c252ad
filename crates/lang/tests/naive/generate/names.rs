//! Words of the language in place of the names of a model.

use anyorder_lang::lex::{CONTEXTUAL, Lexed, TokenKind, lex};
use std::collections::{BTreeMap, BTreeSet};

/// Words of clauses and mailboxes, which are no tokens of their own.
const PLAIN: &[&str] =
    &["on", "to", "when", "after", "front", "index", "fifo", "delayed", "access"];

/// `text` with words for about half of its declared names, and how many. A name that stands behind
/// a dot, too, stays: it may be a built-in method.
pub fn with_words(text: &str, mut random: impl FnMut(usize) -> usize) -> (String, u64) {
    let lexed = lex(text);
    let mut free: Vec<&str> = CONTEXTUAL.iter().chain(PLAIN).copied().collect();
    let mut words: BTreeMap<&str, &str> = BTreeMap::new();
    let declared = declared(text, &lexed);
    for (at, (_, name)) in declared.iter().enumerate() {
        if random(2) == 0 || declared[..at].iter().any(|(_, before)| before == name) {
            continue;
        }
        let at = random(free.len());
        if declared.iter().all(|(kind, other)| other != name || fits(*kind, free[at])) {
            words.insert(name, free.swap_remove(at));
        }
    }
    let (mut out, mut at) = (String::new(), 0);
    for token in &lexed.tokens {
        if let Some(word) = words.get(token.span.of(text)) {
            out.push_str(&text[at..token.span.start as usize]);
            out.push_str(word);
            at = token.span.end as usize;
        }
    }
    (out + &text[at..], words.len() as u64)
}

/// The names that stand behind a declaring word and nowhere behind a dot, with that word.
fn declared<'t>(text: &'t str, lexed: &Lexed) -> Vec<(TokenKind, &'t str)> {
    use TokenKind::*;
    let pairs = || lexed.tokens.windows(2).filter(|pair| pair[1].kind == Name);
    let name = |pair: &[anyorder_lang::lex::Token]| pair[1].span.of(text);
    let members: BTreeSet<&str> = pairs().filter(|p| p[0].kind == Dot).map(name).collect();
    // Parameters are values behind `(` or `,`.
    let declares = |kind: TokenKind| {
        matches!(
            kind,
            Const
                | Var
                | Let
                | Lock
                | Cond
                | Handler
                | Fn
                | Task
                | Procedure
                | Event
                | Thread
                | Invariant
                | Response
                | Component
                | Class
                | Enum
                | Record
                | For
        )
    };
    let declared: BTreeSet<&str> = pairs().filter(|p| declares(p[0].kind)).map(name).collect();
    pairs()
        .filter(|p| declares(p[0].kind) || matches!(p[0].kind, LParen | Comma))
        .filter(|p| declared.contains(name(p)) && !members.contains(name(p)))
        .map(|p| (if declares(p[0].kind) { p[0].kind } else { Var }, name(p)))
        .filter(|(_, name)| *name != "main" && !PLAIN.contains(name) && *name != "bag")
        .collect()
}

fn fits(declared: TokenKind, word: &str) -> bool {
    use TokenKind::*;
    match declared {
        // A value may be called: `cancel(1);` is the statement, `enabled(e)` asks of an event. The
        // tests say `init` for the first step.
        Const | Var | Let | For => !matches!(
            word,
            "cancel" | "join" | "call" | "fail" | "enabled" | "set" | "map" | "async" | "init"
        ),
        Event | Thread => word != "init",
        Fn | Procedure => word != "enabled",
        Class | Enum | Record => !matches!(word, "set" | "map" | "task" | "thread"),
        _ => true,
    }
}
