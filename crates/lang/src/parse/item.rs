//! Declarations.

use super::parser::Parser;
use super::recovery::{ITEM_STARTS, starts_item};
use crate::ast::{
    BinaryOp, ExprKind, Family, FnDecl, HandlerDecl, Ident, IndexDecl, Item, ItemKind, Mailbox,
    Model, ResponseDecl, SettingDecl, SettingValue, SizedName, VarDecl,
};
use crate::diagnostic::{Code, Diagnostic, foreign_word_hint, most_similar};
use crate::lex::Token;
use crate::lex::TokenKind::{self, *};
use crate::source::Span;

/// The words before a declaration.
pub(super) struct Modifiers(Vec<Token>);

impl Modifiers {
    pub(super) fn has(&self, word: TokenKind) -> bool {
        self.place(word).is_some()
    }

    /// The place of a word; the last one of a repeated word.
    fn place(&self, word: TokenKind) -> Option<Span> {
        self.0.iter().rfind(|token| token.kind == word).map(|token| token.span)
    }
}

/// Each modifier, and the words of the declarations that it goes with.
const MODIFIERS: &[(TokenKind, &[TokenKind])] = &[
    (Symmetric, &[Handler, Thread]),
    (Once, &[Event]),
    (Disabled, &[Event]),
    (Unfair, &[Handler, Thread, Event]),
    (Daemon, &[Handler, Thread, Event, Task, Procedure, Fn]),
];

impl Parser<'_> {
    /// Parses the whole file.
    pub(super) fn model(&mut self) -> Model {
        let name = self.header();
        let mut items = Vec::new();
        while !self.at(End) {
            let here = self.here();
            items.push(self.item());
            if here == self.here() {
                self.bump();
            }
        }
        Model { name, items, node_count: self.nodes_count() }
    }

    fn header(&mut self) -> Option<Ident> {
        if !self.at(TokenKind::Model) {
            if !self.at(Unknown) {
                let message = format!("expected `model NAME`, found {}", self.found());
                let place = self.span().before();
                self.report_always(
                    Diagnostic::new(Code::HEADER, self.span(), message)
                        .note("a file begins with the name of its model")
                        .suggest("name the model", place, "model example\n\n"),
                );
            }
            return None;
        }
        self.bump();
        let name = self.name("the name of the model");
        self.eat(Semi);
        Some(name)
    }

    fn item(&mut self) -> Item {
        let start = self.span();
        let modifiers = self.modifiers();
        let word = self.kind();
        let kind = self.item_kind(&modifiers);
        self.check_modifiers(&modifiers, word);
        if let Some(symmetric) = modifiers.place(Symmetric) {
            self.say_index(symmetric, &kind);
        }
        Item { id: self.id(), span: self.since(start), kind }
    }

    fn modifiers(&mut self) -> Modifiers {
        let mut words = Vec::new();
        while MODIFIERS.iter().any(|(word, _)| self.at(*word)) {
            words.push(self.bump());
        }
        Modifiers(words)
    }

    fn check_modifiers(&mut self, modifiers: &Modifiers, word: TokenKind) {
        if !starts_item(word) {
            return;
        }
        for (modifier, kinds) in MODIFIERS {
            if let Some(span) = modifiers.place(*modifier).filter(|_| !kinds.contains(&word)) {
                let names: Vec<String> = kinds.iter().map(|k| format!("`{}`", k.text())).collect();
                let text = modifier.text();
                let message = format!("`{text}` does not go with `{}`", word.text());
                self.report_always(
                    Diagnostic::new(Code::MODIFIER, span, message)
                        .note(format!("`{text}` goes with {}", names.join(", "))),
                );
            }
        }
    }

    /// Older models declare parts `symmetric`. Shows how to write that with an index type.
    fn say_index(&mut self, symmetric: Span, kind: &ItemKind) {
        let (name, size) = match kind {
            ItemKind::Handler(decl) => (&decl.name.name, decl.name.size.as_ref()),
            ItemKind::Thread(decl) => (&decl.name, decl.family.as_ref().map(|f| &f.range)),
            _ => return,
        };
        let mut diagnostic = Diagnostic::new(
            Code::SYMMETRY,
            symmetric,
            "`symmetric` is not needed: parts over an index type may be exchanged",
        );
        let mut letters = name.name.chars();
        if let (Some(first), Some(size)) = (letters.next(), size) {
            let index = format!("{}{}", first.to_uppercase(), letters.as_str());
            let count = match &size.kind {
                ExprKind::Binary { op: BinaryOp::Range, right, .. } => right.span,
                _ => size.span,
            };
            let rest = self.text.get(size.span.end as usize..).unwrap_or_default();
            let bracket = rest.find(']').map_or(rest.len(), |at| at + 1);
            let end = size.span.end + bracket as u32;
            let head = Span::new(symmetric.end, size.span.start).of(self.text).trim_start();
            diagnostic = diagnostic.suggest(
                "declare an index type, and the parts over it",
                Span::new(symmetric.start, end),
                format!("index {index} = {}; {head}{index}]", count.of(self.text)),
            );
        }
        self.report_always(diagnostic);
    }

    fn item_kind(&mut self, modifiers: &Modifiers) -> ItemKind {
        let word = self.kind();
        if matches!(word, Fn | Procedure) {
            self.refuse_enabled();
        }
        if word == Fn {
            return ItemKind::Fn(FnDecl { daemon: modifiers.has(Daemon), ..self.function() });
        }
        if !starts_item(word) && !self.at_word("index") {
            return self.wrong_item(modifiers);
        }
        self.bump();
        match word {
            Const => self.const_item(),
            Enum => self.enum_item(),
            Record => self.record_item(),
            Class => self.class_item(),
            Var => ItemKind::Var(self.var_list(Self::value_name)),
            Lock => ItemKind::Lock(self.sized_names("the name of a lock")),
            Cond => ItemKind::Cond(self.sized_names("the name of a condition")),
            Handler => self.handler_item(modifiers),
            Task | Procedure => self.task_item(word == Procedure, modifiers),
            Event => self.event_item(modifiers),
            Thread => self.thread_item(modifiers),
            Init => ItemKind::Init(self.block()),
            Driver => ItemKind::Driver(
                self.separated_to_semi(|p| p.reference("the name of an event"), "the driver"),
            ),
            Component => {
                let name = self.name_and("the name of the component", Colon);
                let member = "the name of an event, task, function or thread";
                ItemKind::Component {
                    name,
                    members: self.separated_to_semi(|p| p.name(member), "the component"),
                }
            }
            Invariant => {
                let name = self.invariant_name();
                self.always_in_invariant();
                let expr = self.expr();
                self.semi("the invariant");
                ItemKind::Invariant { name, expr }
            }
            Response => {
                let name = self.name_and("the name of the property", Colon);
                let trigger = self.expr();
                self.expect(LeadsTo);
                let reaction = self.expr();
                self.semi("the property");
                ItemKind::Response(ResponseDecl { name, trigger, reaction })
            }
            Final => {
                self.expect(Colon);
                let expr = self.expr();
                self.semi("the condition");
                ItemKind::Final(expr)
            }
            Spec => self.spec_item(),
            Setting => self.setting_item(),
            _ => {
                let name = self.name_and("the name of an index type", Eq);
                let size = self.expr();
                self.semi("the index type");
                ItemKind::Index(IndexDecl { name, size })
            }
        }
    }

    /// Parses `small:`, or reports that the name is missing.
    fn invariant_name(&mut self) -> Ident {
        let named = self.ahead(1) == Colon || self.ahead(1).is_name();
        if named || !self.begins_expression() {
            return self.name_and("the name of the invariant", Colon);
        }
        let place = self.span().before();
        let diagnostic = self.other_than("the name of the invariant and `:`");
        self.report(
            diagnostic
                .label("expected a name and `:` before what holds")
                .suggest("name it", place, "small: "),
        );
        self.missing_name()
    }

    fn wrong_item(&mut self, modifiers: &Modifiers) -> ItemKind {
        if self.at(RBrace) {
            let message = "this `}` closes nothing";
            self.report(Diagnostic::new(Code::UNCLOSED, self.span(), message));
            self.bump();
            return ItemKind::Error;
        }
        let (span, other) = (self.span(), self.other_than("a declaration"));
        let text = span.of(self.text);
        let words = ITEM_STARTS.iter().filter(|word| **word != Symmetric).map(|word| word.text());
        if self.at_name() && (modifiers.has(Once) || modifiers.has(Disabled)) {
            let place = span.before();
            let diagnostic = self.other_than("`event`");
            self.report(diagnostic.suggest("an event is declared", place, "event "));
        } else if !self.at(Name) {
            self.expected("a declaration");
        } else if let Some(written) = foreign_word_hint(text) {
            self.report(other.label("expected a declaration").note(written));
        } else if let Some(near) = most_similar(text, words.chain(["index"])) {
            self.report(other.suggest("a similar word exists", span, near));
        } else {
            self.expected("a declaration");
        }
        self.skip_item();
        ItemKind::Error
    }

    // ---- globals --------------------------------------------------------------------------------

    /// Parses `x = 0, y: int = 0;`. `name` parses a name.
    pub(super) fn var_list(&mut self, name: fn(&mut Self, &str) -> Ident) -> Vec<VarDecl> {
        let var = |p: &mut Self| VarDecl {
            name: name(p, "the name of a variable"),
            ty: p.eat(Colon).then(|| p.declared_ty()),
            init: p.eat(Eq).then(|| p.expr()),
        };
        self.separated_to_semi(var, "the declaration")
    }

    /// Parses `m, ms[3];`.
    fn sized_names(&mut self, what: &str) -> Vec<SizedName> {
        self.separated_to_semi(|p| p.sized_name(what), "the declaration")
    }

    fn sized_name(&mut self, what: &str) -> SizedName {
        let name = self.name(what);
        let size = self.at(LBracket).then(|| self.bracketed_expr());
        SizedName { name, size }
    }

    // ---- handlers -------------------------------------------------------------------------------

    fn handler_item(&mut self, modifiers: &Modifiers) -> ItemKind {
        let name = self.sized_name("the name of a handler");
        let mailbox = self.mailbox();
        self.semi("the declaration");
        ItemKind::Handler(HandlerDecl {
            unfair: modifiers.has(Unfair),
            daemon: modifiers.has(Daemon),
            name,
            mailbox: mailbox.unwrap_or(Mailbox::Fifo),
        })
    }

    /// `: fifo`, or a message.
    fn mailbox(&mut self) -> Option<Mailbox> {
        if self.at(Semi) && !self.failed_here() {
            let place = self.before().after();
            let diagnostic = self.other_than("`:` and the order of the mailbox");
            self.report(
                diagnostic
                    .label("expected `:` and the order of the mailbox")
                    .note("it is `fifo` (in the order of the posts), `bag` (in any) or `delayed` (by due time)")
                    .suggest("for the usual one, write", place, ": fifo"),
            );
            return None;
        }
        if !self.expect(Colon) {
            return None;
        }
        let text = self.span().of(self.text);
        let mailbox = Mailbox::named(text);
        if mailbox.is_none() {
            let diagnostic = self
                .other_than("`fifo`, `bag` or `delayed`")
                .label("expected the order of the mailbox")
                .similar("word", self.span(), text, Mailbox::WORDS);
            self.report(diagnostic);
        }
        self.eat(Name);
        mailbox
    }

    /// Parses `[i in 0..N]` if it is present.
    pub(super) fn family(&mut self) -> Option<Family> {
        if !self.at(LBracket) {
            return None;
        }
        let open = self.bump().span;
        let var = self.value_name("the parameter of the family");
        self.expect(In);
        let range = self.with_records(Self::expr);
        self.close(RBracket, open);
        Some(Family { var, range })
    }

    // ---- settings -------------------------------------------------------------------------------

    fn setting_item(&mut self) -> ItemKind {
        let name = self.name_and("the name of a setting", Eq);
        let value = match self.kind() {
            Int => {
                let span = self.span();
                SettingValue::Int(self.int_literal(false), span)
            }
            kind if kind.is_name() => SettingValue::Word(self.bump_ident()),
            _ => {
                self.expected("a number or a word");
                SettingValue::Error
            }
        };
        self.semi("the setting");
        ItemKind::Setting(SettingDecl { name, value })
    }
}
