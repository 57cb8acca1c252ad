//! `post`, `fork`, `choose`, and references to handlers, locks, conditions and events.

use super::checker::{Checker, types_of, unknown, wrong_kind};
use super::model::{HandlerId, HandlerInfo, Meaning};
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Expr, Fork, ItemKind, Mailbox, Post, PostTarget, Ref};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    pub(super) fn post(&mut self, expr: &'a Expr, post: &'a Post) -> Type {
        self.changes_state(expr.span, "`post`");
        let mut on = None;
        match self.find_global(&post.task, "task") {
            Some((Meaning::Task(id), declared)) => {
                let info = &self.program.tasks[id.index()];
                let params = types_of(&info.params);
                if let (PostTarget::Default, ItemKind::Task(decl)) =
                    (&post.target, &self.model.items[info.item].kind)
                {
                    match &decl.on {
                        Some(handler) => on = Some(handler.name.name.as_str()),
                        None => self.no_handler(post, declared),
                    }
                }
                self.arguments("argument", &params, &post.args, post.task.span, Some(declared));
            }
            found => {
                self.report(found.map(|found| wrong_kind(&post.task, found, "a task")));
                self.exprs(&post.args);
            }
        }
        if let PostTarget::Handler(handler) = &post.target {
            self.handler_ref(handler);
            on = Some(handler.name.name.as_str());
        }
        let mailbox = on.and_then(|name| self.mailbox_of(name));
        if let Some(after) = &post.after {
            self.expect(after, &Type::Int);
            let any = matches!(post.target, PostTarget::Any);
            if any || mailbox.is_some_and(|mailbox| mailbox != Mailbox::Delayed) {
                self.delay_of_no_delayed(after.span, on.filter(|_| !any));
            }
        }
        Type::Task
    }

    /// Reports a delay of a post to the handler `on`, whose mailbox is not delayed.
    fn delay_of_no_delayed(&mut self, span: Span, on: Option<&str>) {
        let message = "a delay needs a handler with a delayed mailbox";
        let mut diagnostic = Diagnostic::new(Code::CONTEXT, span, message);
        diagnostic = match on.and_then(|name| Some((name, *self.names.get(name)?))) {
            Some((name, (Meaning::Handler(id), declared))) => {
                let info = &self.program.handlers[id.index()];
                let size = info.item.and_then(|item| match &self.model.items[item].kind {
                    ItemKind::Handler(decl) => decl.name.size.as_ref(),
                    _ => None,
                });
                let size = size.map(|size| format!("[{}]", size.span.of(self.text)));
                let name = format!("{name}{}", size.unwrap_or_default());
                if info.item.is_some() {
                    let mailbox = format!("its mailbox is `{}`", info.mailbox.word());
                    diagnostic = diagnostic.also(declared, mailbox);
                }
                diagnostic.note(format!("declare it as `handler {name}: delayed;`"))
            }
            _ => diagnostic.note(
                "post to a handler with such a mailbox: `handler h: delayed;` and `post t() to h after 5`",
            ),
        };
        self.report(diagnostic);
    }

    fn mailbox_of(&self, name: &str) -> Option<Mailbox> {
        match self.names.get(name) {
            Some((Meaning::Handler(id), _)) => Some(self.program.handlers[id.index()].mailbox),
            _ => None,
        }
    }

    fn no_handler(&mut self, post: &Post, declared: Span) {
        let name = &post.task.name;
        self.report(
            Diagnostic::new(Code::NO_HANDLER, post.task.span, format!("no handler for `{name}`"))
                .also(declared, "declared without `on`")
                .note(format!("say where it runs: `post {name}(..) to h;`, or `post any {name}(..);` for a fresh thread")),
        );
    }

    pub(super) fn fork(&mut self, expr: &'a Expr, fork: &'a Fork) -> Type {
        self.changes_state(expr.span, "`fork`");
        match self.find_global(&fork.function, "function") {
            Some((Meaning::Function(id), declared)) => {
                let params = types_of(&self.program.functions[id.index()].params);
                self.arguments("argument", &params, &fork.args, fork.function.span, Some(declared));
            }
            found => {
                self.report(found.map(|found| {
                    let diagnostic = wrong_kind(&fork.function, found, "a function");
                    match found.0 {
                        Meaning::Task(_) => {
                            diagnostic.note("a task runs in a fresh thread with `post any`")
                        }
                        _ => diagnostic,
                    }
                }));
                self.exprs(&fork.args);
            }
        }
        Type::Thread
    }

    pub(super) fn choose_from(&mut self, expr: &'a Expr, from: &'a Expr) -> Type {
        self.changes_state(expr.span, "`choose`");
        let ty = self.expr(from);
        match self.solid(&ty) {
            Type::List(element) | Type::Set(element) | Type::Array(_, element) => *element,
            Type::Any | Type::Unknown(_) | Type::Never => Type::Any,
            other => {
                let message =
                    format!("`choose` takes a list, a set or a range, not `{}`", self.show(&other));
                let mut diagnostic = Diagnostic::new(Code::OPERAND, from.span, message);
                if other == Type::Int {
                    let before = from.span.before();
                    diagnostic = diagnostic.suggest("a number below it", before, "0..");
                }
                self.report(diagnostic);
                Type::Any
            }
        }
    }

    /// The global declaration of a name that must be a `what`.
    pub(super) fn find_global(
        &mut self,
        ident: &'a crate::ast::Ident,
        what: &str,
    ) -> Option<(Meaning, Span)> {
        if ident.name.is_empty() {
            return None;
        }
        let found = self.global_name(&ident.name);
        match found {
            Some((meaning, _)) => self.set_meaning(ident.id, meaning),
            None => {
                let wanted =
                    self.names.iter().filter(|(_, found)| what_is(found.0).ends_with(what));
                let known = wanted.map(|(name, _)| *name);
                let place = (ident.name.as_str(), ident.span);
                self.report(unknown(Code::UNKNOWN_NAME, what, place, known));
            }
        }
        found
    }

    fn reference(&mut self, reference: &'a Ref, what: &str) -> Option<(Meaning, Span)> {
        let found = self.find_global(&reference.name, what);
        let right = found.filter(|(meaning, _)| what_is(*meaning).ends_with(what));
        if right.is_none() {
            let wrong = |found| wrong_kind(&reference.name, found, &article_of(what));
            self.report(found.map(wrong));
            reference.index.iter().for_each(|index| drop(self.expr(index)));
        }
        right
    }

    /// A reference to a handler, lock or condition, or to an event or one member of a family.
    /// Checks the index against the bounds of an array or family, or against its index type.
    pub(super) fn element_ref(&mut self, reference: &'a Ref, what: &str) {
        let Some((meaning, declared)) = self.reference(reference, what) else { return };
        let p = &self.program;
        let array = |size: Option<u32>| size.map(|size| (0, i64::from(size)));
        // From the first bound up to, not including, the second.
        let (bounds, over) = match meaning {
            Meaning::Handler(id) => {
                (array(p.handlers[id.index()].size), p.handlers[id.index()].index)
            }
            Meaning::Lock(id) => (array(p.locks[id.index()].size), p.locks[id.index()].index),
            Meaning::Cond(id) => (array(p.conds[id.index()].size), p.conds[id.index()].index),
            Meaning::Event(id) => (p.events[id.index()].family, p.events[id.index()].index),
            _ => return,
        };
        let name = &reference.name.name;
        match (&reference.index, bounds) {
            (None, None) => {}
            (Some(index), Some((from, to))) => {
                if let Some(over) = over {
                    self.expect_for(index, &Type::Index(over), (declared, "declared here"));
                    return;
                }
                self.expect(index, &Type::Int);
                if let Some(at) = self.known_int(index)
                    && !(from..to).contains(&at)
                {
                    let message = format!("`{name}` has no element {at}");
                    self.report(
                        Diagnostic::new(Code::OUT_OF_RANGE, index.span, message)
                            .label(format!("from {from} up to, not including, {to}"))
                            .also(declared, "declared here"),
                    );
                }
            }
            (Some(index), None) => {
                self.expr(index);
                let message = format!("`{name}` is a single thing and takes no index");
                self.report(
                    Diagnostic::new(Code::INDEX_NEEDED, index.span, message)
                        .also(declared, "declared here"),
                );
            }
            (None, Some(_)) => {
                let message = format!("`{name}` is an array: which element?");
                self.report(
                    Diagnostic::new(Code::INDEX_NEEDED, reference.span, message)
                        .also(declared, "declared here")
                        .suggest("add an index", reference.span.after(), "[0]"),
                );
            }
        }
    }

    pub(super) fn handler_ref(&mut self, reference: &'a Ref) {
        if reference.name.name == "main" && !self.names.contains_key("main") {
            self.imply_main();
        }
        self.element_ref(reference, "handler");
    }

    /// Declares `main` if it is used but not declared.
    fn imply_main(&mut self) {
        let id = HandlerId(self.program.handlers.len() as u32);
        let info = HandlerInfo {
            name: "main".into(),
            item: None,
            size: None,
            index: None,
            mailbox: Mailbox::Bag,
        };
        self.program.handlers.push(info);
        self.names.insert("main", (Meaning::Handler(id), Span::new(0, 0)));
    }

    /// An event, a member of a family, or, without an index, all members of a family (rules E1, E3,
    /// E4).
    pub(super) fn events_ref(&mut self, reference: &'a Ref) {
        if reference.index.is_some() {
            self.element_ref(reference, "event");
        } else {
            self.reference(reference, "event");
        }
    }
}

fn article_of(what: &str) -> String {
    if what.starts_with("event") { format!("an {what}") } else { format!("a {what}") }
}
