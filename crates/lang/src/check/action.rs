//! `post`, `fork`, `choose`, and references to handlers, locks, conditions and events.

use super::checker::Checker;
use super::program::{HandlerId, HandlerInfo, IndexId, Meaning};
use super::type_expr::what_is;
use super::types::Type;
use crate::ast::{Expr, Fork, ItemKind, Mailbox, Post, PostTarget, Ref};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

impl<'a> Checker<'a> {
    pub(super) fn post(&mut self, expr: &'a Expr, post: &'a Post) -> Type {
        self.changes_state(expr.span, "`post`");
        let mut mailbox = None;
        let found = self.find_global(&post.task, "task");
        let mut params = None;
        match found {
            Some((Meaning::Task(id), declared)) => {
                let info = self.program.tasks[id.index()].clone();
                params = Some((info.params, declared));
                if let (PostTarget::Default, ItemKind::Task(decl)) =
                    (&post.target, &self.model.items[info.item].kind)
                {
                    mailbox = decl.on.as_ref().and_then(|on| self.mailbox_of(&on.name.name));
                    if decl.on.is_none() {
                        self.no_handler(post, declared);
                    }
                }
            }
            Some((other, declared)) => {
                let message = format!("`{}` is {}, not a task", post.task.name, what_is(other));
                self.report(
                    Diagnostic::new(Code::WRONG_KIND, post.task.span, message)
                        .also(declared, "declared here"),
                );
            }
            None => {}
        }
        match params {
            Some((params, declared)) => {
                let params: Vec<Type> = params.into_iter().map(|(_, ty)| ty).collect();
                self.arguments("argument", &params, &post.args, post.task.span, Some(declared));
            }
            None => post.args.iter().for_each(|arg| drop(self.expr(arg))),
        }
        if let PostTarget::Handler(handler) = &post.target {
            self.handler_ref(handler);
            mailbox = self.mailbox_of(&handler.name.name);
        }
        if let Some(after) = &post.after {
            self.expect(after, &Type::Int);
            let any = matches!(post.target, PostTarget::Any);
            if any || mailbox.is_some_and(|mailbox| mailbox != Mailbox::Delayed) {
                self.report(
                    Diagnostic::new(
                        Code::CONTEXT,
                        after.span,
                        "a delay needs a handler with a delayed mailbox",
                    )
                    .note("declare the handler as `handler h: delayed;`"),
                );
            }
        }
        Type::Task
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
                let info = self.program.functions[id.index()].clone();
                let params: Vec<Type> = info.params.into_iter().map(|(_, ty)| ty).collect();
                self.arguments("argument", &params, &fork.args, fork.function.span, Some(declared));
            }
            Some((other, declared)) => {
                let message =
                    format!("`{}` is {}, not a function", fork.function.name, what_is(other));
                let mut diagnostic = Diagnostic::new(Code::WRONG_KIND, fork.function.span, message)
                    .also(declared, "declared here");
                if matches!(other, Meaning::Task(_)) {
                    diagnostic = diagnostic.note("a task runs in a fresh thread with `post any`");
                }
                self.report(diagnostic);
                fork.args.iter().for_each(|arg| drop(self.expr(arg)));
            }
            None => fork.args.iter().for_each(|arg| drop(self.expr(arg))),
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
                    diagnostic = diagnostic.suggest(
                        "a number below it",
                        Span::new(from.span.start, from.span.start),
                        "0..",
                    );
                }
                self.report(diagnostic);
                Type::Any
            }
        }
    }

    /// Returns the declaration of a name outside of bodies. The declaration must be a `what`.
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
            Some((meaning, _)) => self.ident_means(ident, meaning),
            None => {
                let wanted = |meaning: Meaning| what_is(meaning).ends_with(what);
                let mut known: Vec<&'a str> = self
                    .names
                    .iter()
                    .filter(|(_, (meaning, _))| wanted(*meaning))
                    .map(|(name, _)| *name)
                    .collect();
                known.sort_unstable();
                self.unknown(Code::UNKNOWN_NAME, what, &ident.name, ident.span, known);
            }
        }
        found
    }

    fn reference(&mut self, reference: &'a Ref, what: &str) -> Option<(Meaning, Span)> {
        let found = self.find_global(&reference.name, what);
        if let Some((meaning, declared)) = found
            && !what_is(meaning).ends_with(what)
        {
            let name = &reference.name.name;
            let message = format!("`{name}` is {}, not {}", what_is(meaning), article_of(what));
            self.report(
                Diagnostic::new(Code::WRONG_KIND, reference.name.span, message)
                    .also(declared, "declared here"),
            );
            reference.index.iter().for_each(|index| drop(self.expr(index)));
            return None;
        }
        if found.is_none() {
            reference.index.iter().for_each(|index| drop(self.expr(index)));
        }
        found
    }

    /// Checks the index against the bounds of an array, from `from` up to, not including, `to`, or
    /// against its index type.
    fn element(
        &mut self,
        reference: &'a Ref,
        bounds: Option<(i64, i64)>,
        over: Option<IndexId>,
        declared: Span,
    ) {
        let name = &reference.name.name;
        match (&reference.index, bounds) {
            (None, None) => {}
            (Some(index), Some(_)) if over.is_some() => {
                let want = over.map_or(Type::Int, Type::Index);
                self.expect_for(index, &want, (declared, "declared here"));
            }
            (Some(index), Some((from, to))) => {
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
        if let Some((Meaning::Handler(id), declared)) = self.reference(reference, "handler") {
            let info = &self.program.handlers[id.index()];
            let bounds = info.size.map(|size| (0, i64::from(size)));
            self.element(reference, bounds, info.index, declared);
        }
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

    pub(super) fn lock_ref(&mut self, reference: &'a Ref) {
        if let Some((Meaning::Lock(id), declared)) = self.reference(reference, "lock") {
            let info = &self.program.locks[id.index()];
            let bounds = info.size.map(|size| (0, i64::from(size)));
            self.element(reference, bounds, info.index, declared);
        }
    }

    pub(super) fn cond_ref(&mut self, reference: &'a Ref) {
        if let Some((Meaning::Cond(id), declared)) = self.reference(reference, "condition") {
            let info = &self.program.conds[id.index()];
            let bounds = info.size.map(|size| (0, i64::from(size)));
            self.element(reference, bounds, info.index, declared);
        }
    }

    /// Resolves a reference to an event, to one member of a family or, without an index, to all
    /// members of a family (rules E1, E3, E4).
    pub(super) fn events_ref(&mut self, reference: &'a Ref) {
        if reference.index.is_some() {
            self.event_ref(reference);
        } else {
            self.reference(reference, "event");
        }
    }

    /// Resolves a reference to an event or to one member of a family.
    pub(super) fn event_ref(&mut self, reference: &'a Ref) {
        if let Some((Meaning::Event(id), declared)) = self.reference(reference, "event") {
            let info = &self.program.events[id.index()];
            self.element(reference, info.family, info.index, declared);
        }
    }
}

pub(super) fn article_of(what: &str) -> String {
    if what.starts_with("event") { format!("an {what}") } else { format!("a {what}") }
}
