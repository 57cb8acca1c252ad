//! Declarations.

use super::parser::Parser;
use super::recovery::starts_item;
use crate::ast::{
    BinaryOp, ExprKind, Family, FnDecl, HandlerDecl, Ident, IndexDecl, Item, ItemKind, Mailbox,
    Model, ResponseDecl, SettingDecl, SettingValue, SizedName, VarDecl,
};
use crate::diagnostic::{Code, Diagnostic, foreign_word_hint, most_similar};
use crate::lex::TokenKind;
use crate::source::Span;

/// The words before a declaration, with their places.
#[derive(Default)]
pub(super) struct Modifiers {
    pub(super) symmetric: Option<Span>,
    pub(super) once: Option<Span>,
    pub(super) disabled: Option<Span>,
    pub(super) unfair: Option<Span>,
    pub(super) daemon: Option<Span>,
}

impl Parser<'_> {
    /// Parses the whole file.
    pub(super) fn model(&mut self) -> Model {
        let name = self.header();
        let mut items = Vec::new();
        while !self.at(TokenKind::End) {
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
            if !self.at(TokenKind::Unknown) {
                let message = format!("expected `model NAME`, found {}", self.found());
                let place = Span::new(self.span().start, self.span().start);
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
        self.eat(TokenKind::Semi);
        Some(name)
    }

    fn item(&mut self) -> Item {
        let start = self.span();
        let modifiers = self.modifiers();
        let word = self.kind();
        let kind = self.item_kind(&modifiers);
        self.check_modifiers(&modifiers, word);
        if let Some(symmetric) = modifiers.symmetric {
            self.say_index(symmetric, &kind);
        }
        Item { id: self.id(), span: self.since(start), kind }
    }

    fn modifiers(&mut self) -> Modifiers {
        let mut out = Modifiers::default();
        loop {
            let slot = match self.kind() {
                TokenKind::Symmetric => &mut out.symmetric,
                TokenKind::Once => &mut out.once,
                TokenKind::Disabled => &mut out.disabled,
                TokenKind::Unfair => &mut out.unfair,
                TokenKind::Daemon => &mut out.daemon,
                _ => return out,
            };
            *slot = Some(self.bump().span);
        }
    }

    fn check_modifiers(&mut self, modifiers: &Modifiers, word: TokenKind) {
        use TokenKind::{Event, Fn, Handler, Procedure, Task, Thread};
        let allowed: [(Option<Span>, &str, &[TokenKind]); 5] = [
            (modifiers.symmetric, "symmetric", &[Handler, Thread]),
            (modifiers.once, "once", &[Event]),
            (modifiers.disabled, "disabled", &[Event]),
            (modifiers.unfair, "unfair", &[Handler, Thread, Event]),
            (modifiers.daemon, "daemon", &[Handler, Thread, Event, Task, Procedure, Fn]),
        ];
        if !starts_item(word) {
            return;
        }
        for (span, text, kinds) in allowed {
            if let Some(span) = span.filter(|_| !kinds.contains(&word)) {
                let names: Vec<String> = kinds.iter().map(|k| format!("`{}`", k.text())).collect();
                let message = format!("`{text}` does not go with `{}`", word.text());
                self.report_always(
                    Diagnostic::new(Code::MODIFIER, span, message)
                        .note(format!("`{text}` goes with {}", names.join(", "))),
                );
            }
        }
    }

    /// Shows how to use an index type in place of `symmetric`, an older way to declare such parts.
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

    fn index_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of an index type");
        self.expect(TokenKind::Eq);
        let size = self.expr();
        self.semi("the index type");
        ItemKind::Index(IndexDecl { name, size })
    }

    fn item_kind(&mut self, modifiers: &Modifiers) -> ItemKind {
        match self.kind() {
            TokenKind::Const => self.const_item(),
            TokenKind::Enum => self.enum_item(),
            TokenKind::Record => self.record_item(),
            TokenKind::Class => self.class_item(),
            TokenKind::Var => {
                self.bump();
                ItemKind::Var(self.var_list())
            }
            TokenKind::Lock => ItemKind::Lock(self.sized_names("the name of a lock")),
            TokenKind::Cond => ItemKind::Cond(self.sized_names("the name of a condition")),
            TokenKind::Handler => self.handler_item(modifiers),
            TokenKind::Fn => {
                let daemon = modifiers.daemon.is_some();
                ItemKind::Fn(FnDecl { daemon, ..self.function() })
            }
            TokenKind::Task | TokenKind::Procedure => self.task_item(modifiers),
            TokenKind::Event => self.event_item(modifiers),
            TokenKind::Thread => self.thread_item(modifiers),
            TokenKind::Init => {
                self.bump();
                ItemKind::Init(self.block())
            }
            TokenKind::Driver => self.driver_item(),
            TokenKind::Component => self.component_item(),
            TokenKind::Invariant => {
                self.bump();
                let name = self.invariant_name();
                self.always_in_invariant();
                let expr = self.expr();
                self.semi("the invariant");
                ItemKind::Invariant { name, expr }
            }
            TokenKind::Response => self.response_item(),
            TokenKind::Final => {
                self.bump();
                self.expect(TokenKind::Colon);
                let expr = self.expr();
                self.semi("the condition");
                ItemKind::Final(expr)
            }
            TokenKind::Spec => self.spec_item(),
            TokenKind::Setting => self.setting_item(),
            TokenKind::Name if self.at_word("index") => self.index_item(),
            _ => self.wrong_item(modifiers),
        }
    }

    /// Parses `small:`, or reports that the name is missing.
    fn invariant_name(&mut self) -> Ident {
        let named = self.ahead(1) == TokenKind::Colon || self.ahead(1) == TokenKind::Name;
        if named || !self.begins_expression() {
            let name = self.name("the name of the invariant");
            self.expect(TokenKind::Colon);
            return name;
        }
        let place = Span::new(self.span().start, self.span().start);
        let message = format!("expected the name of the invariant and `:`, found {}", self.found());
        let label = "expected a name and `:` before what holds";
        self.report(
            Diagnostic::new(Code::EXPECTED, self.span(), message)
                .label(label)
                .suggest("name it", place, "small: "),
        );
        self.missing_name()
    }

    fn wrong_item(&mut self, modifiers: &Modifiers) -> ItemKind {
        if self.at(TokenKind::RBrace) {
            let message = "this `}` closes nothing";
            self.report(Diagnostic::new(Code::UNCLOSED, self.span(), message));
            self.bump();
            return ItemKind::Error;
        }
        let text = self.span().of(self.text);
        const WORDS: &[&str] = &[
            "const",
            "enum",
            "record",
            "class",
            "var",
            "lock",
            "cond",
            "handler",
            "fn",
            "task",
            "procedure",
            "event",
            "thread",
            "init",
            "driver",
            "component",
            "invariant",
            "response",
            "final",
            "spec",
            "setting",
            "index",
            "once",
            "disabled",
            "unfair",
            "daemon",
        ];
        let similar = most_similar(text, WORDS.iter().copied());
        let is_event = modifiers.once.is_some() || modifiers.disabled.is_some();
        if self.at(TokenKind::Name) && is_event {
            let place = Span::new(self.span().start, self.span().start);
            let message = format!("expected `event`, found {}", self.found());
            let diagnostic = Diagnostic::new(Code::EXPECTED, self.span(), message);
            self.report(diagnostic.suggest("an event is declared", place, "event "));
        } else if self.at(TokenKind::Name)
            && let Some(written) = foreign_word_hint(text)
        {
            let message = format!("expected a declaration, found {}", self.found());
            let diagnostic = Diagnostic::new(Code::EXPECTED, self.span(), message);
            self.report(diagnostic.label("expected a declaration").note(written));
        } else if self.at(TokenKind::Name) && similar.is_some() {
            let word = similar.unwrap_or_default();
            let message = format!("expected a declaration, found {}", self.found());
            self.report(Diagnostic::new(Code::EXPECTED, self.span(), message).suggest(
                "a similar word exists",
                self.span(),
                word,
            ));
        } else {
            self.expected("a declaration");
        }
        self.skip_item();
        ItemKind::Error
    }

    // ---- globals --------------------------------------------------------------------------------

    /// Parses `x = 0, y: int = 0;`.
    pub(super) fn var_list(&mut self) -> Vec<VarDecl> {
        let mut out = Vec::new();
        loop {
            let name = self.name("the name of a variable");
            let ty = self.eat(TokenKind::Colon).then(|| self.declared_ty());
            let init = self.eat(TokenKind::Eq).then(|| self.expr());
            out.push(VarDecl { name, ty, init });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.semi("the declaration");
        out
    }

    /// Parses `m, ms[3];`.
    fn sized_names(&mut self, what: &str) -> Vec<SizedName> {
        self.bump();
        let mut out = Vec::new();
        loop {
            out.push(self.sized_name(what));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.semi("the declaration");
        out
    }

    fn sized_name(&mut self, what: &str) -> SizedName {
        let name = self.name(what);
        let size = self.at(TokenKind::LBracket).then(|| self.bracketed_expr());
        SizedName { name, size }
    }

    // ---- handlers -------------------------------------------------------------------------------

    fn handler_item(&mut self, modifiers: &Modifiers) -> ItemKind {
        self.bump();
        let name = self.sized_name("the name of a handler");
        let mut mailbox = Mailbox::Fifo;
        if self.at(TokenKind::Semi) && !self.failed_here() {
            let place = self.before().after();
            let message = "expected `:` and the order of the mailbox, found `;`";
            self.report(
                Diagnostic::new(Code::EXPECTED, self.span(), message)
                    .label("expected `:` and the order of the mailbox")
                    .note("it is `fifo` (in the order of the posts), `bag` (in any) or `delayed` (by due time)")
                    .suggest("for the usual one, write", place, ": fifo"),
            );
        } else if self.expect(TokenKind::Colon) {
            let span = self.span();
            let text = span.of(self.text);
            match text {
                "fifo" => mailbox = Mailbox::Fifo,
                "bag" => mailbox = Mailbox::Bag,
                "delayed" => mailbox = Mailbox::Delayed,
                _ => {
                    let message =
                        format!("expected `fifo`, `bag` or `delayed`, found {}", self.found());
                    let mut diagnostic = Diagnostic::new(Code::EXPECTED, span, message)
                        .label("expected the order of the mailbox");
                    if let Some(word) = most_similar(text, ["fifo", "bag", "delayed"]) {
                        diagnostic = diagnostic.suggest("a similar word exists", span, word);
                    }
                    self.report(diagnostic);
                }
            }
            if self.at(TokenKind::Name) {
                self.bump();
            }
        }
        self.semi("the declaration");
        ItemKind::Handler(HandlerDecl {
            unfair: modifiers.unfair.is_some(),
            daemon: modifiers.daemon.is_some(),
            name,
            mailbox,
        })
    }

    /// Parses `[i in 0..N]` if it is present.
    pub(super) fn family(&mut self) -> Option<Family> {
        if !self.at(TokenKind::LBracket) {
            return None;
        }
        let open = self.bump().span;
        let var = self.name("the parameter of the family");
        self.expect(TokenKind::In);
        let range = self.with_records(Self::expr);
        self.close(TokenKind::RBracket, open);
        Some(Family { var, range })
    }

    // ---- properties and settings ----------------------------------------------------------------

    fn driver_item(&mut self) -> ItemKind {
        self.bump();
        let mut events = Vec::new();
        loop {
            events.push(self.reference("the name of an event"));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.semi("the driver");
        ItemKind::Driver(events)
    }

    fn component_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the component");
        self.expect(TokenKind::Colon);
        let mut members = Vec::new();
        loop {
            members.push(self.name("the name of an event, task, function or thread"));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.semi("the component");
        ItemKind::Component { name, members }
    }

    fn response_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of the property");
        self.expect(TokenKind::Colon);
        let trigger = self.expr();
        self.expect(TokenKind::LeadsTo);
        let reaction = self.expr();
        self.semi("the property");
        ItemKind::Response(ResponseDecl { name, trigger, reaction })
    }

    fn setting_item(&mut self) -> ItemKind {
        self.bump();
        let name = self.name("the name of a setting");
        self.expect(TokenKind::Eq);
        let value = match self.kind() {
            TokenKind::Int => {
                let span = self.span();
                SettingValue::Int(self.int_literal(false), span)
            }
            // `task` is also a value of `granularity`.
            TokenKind::Name | TokenKind::Task => {
                let span = self.bump().span;
                SettingValue::Word(self.ident(span))
            }
            _ => {
                self.expected("a number or a word");
                SettingValue::Error
            }
        };
        self.semi("the setting");
        ItemKind::Setting(SettingDecl { name, value })
    }
}
