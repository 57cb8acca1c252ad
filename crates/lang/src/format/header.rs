//! The whole file, and the first lines of declarations with bodies.

use super::Formatter;
use super::doc::{Doc, all, group, indent, separated, text};
use super::stmt::Lines;
use crate::ast::{
    Block, EventDecl, Family, FnDecl, HandlerDecl, Model, SizedName, TaskDecl, ThreadDecl,
};
use crate::source::Span;

impl Formatter<'_> {
    pub(super) fn model(&mut self, model: &Model) -> Doc {
        let mut lines = Lines::new(Doc::Hard);
        if let Some(name) = &model.name {
            self.put(&mut lines, name.span, |_| text(format!("model {}", name.name)));
        }
        for (at, item) in model.items.iter().enumerate() {
            if at == 0 {
                lines.set_apart();
            }
            self.put(&mut lines, item.span, |f| f.item(item));
        }
        self.put_rest(&mut lines, self.text.len() as u32 + 1);
        lines.finish()
    }

    pub(super) fn sized_name(&mut self, name: &SizedName) -> Doc {
        match &name.size {
            Some(size) => all([text(&name.name.name), text("["), self.expr(size), text("]")]),
            None => text(&name.name.name),
        }
    }

    fn family(&mut self, family: Option<&Family>) -> Doc {
        match family {
            Some(Family { var, range }) => {
                all([text(format!("[{} in ", var.name)), self.expr(range), text("]")])
            }
            None => text(""),
        }
    }

    pub(super) fn handler(&mut self, decl: &HandlerDecl) -> Doc {
        let words = modifiers(&[(decl.unfair, "unfair"), (decl.daemon, "daemon")]);
        all([
            text(words),
            text("handler "),
            self.sized_name(&decl.name),
            text(format!(": {};", decl.mailbox.word())),
        ])
    }

    pub(super) fn function(&mut self, decl: &FnDecl) -> Doc {
        let words = modifiers(&[(decl.daemon, "daemon")]);
        let head = all([
            text(format!("{words}fn {}", decl.name.name)),
            self.params(&decl.params),
            self.optional(" -> ", decl.result.as_ref(), Self::ty),
        ]);
        self.with_body(head, decl.span, &decl.body)
    }

    /// A head and its body, which stands on one line if `span` does and it fits.
    fn with_body(&mut self, head: Doc, span: Span, body: &Block) -> Doc {
        let inline = self.is_one_line(span.to(body.span));
        all([head, text(" "), group(self.block(body, inline))])
    }

    pub(super) fn task(&mut self, decl: &TaskDecl) -> Doc {
        let word = if decl.procedure { "procedure" } else { "task" };
        let words = modifiers(&[(decl.daemon, "daemon")]);
        let head = all([
            text(format!("{words}{word} {}", decl.name.name)),
            self.params(&decl.params),
            self.optional(" on ", decl.on.as_ref(), Self::reference),
        ]);
        self.with_body(head, decl.name.span, &decl.body)
    }

    pub(super) fn event(&mut self, decl: &EventDecl) -> Doc {
        let words = modifiers(&[
            (decl.once, "once"),
            (decl.disabled, "disabled"),
            (decl.unfair, "unfair"),
            (decl.daemon, "daemon"),
        ]);
        let head = text(format!("{words}event {}", decl.name.name));
        let mut clauses = vec![self.family(decl.family.as_ref())];
        if let Some(handler) = &decl.on {
            clauses.extend([Doc::Line, text("on "), self.reference(handler)]);
        }
        if let Some(guard) = &decl.when {
            clauses.extend([Doc::Line, text("when "), self.expr(guard)]);
        }
        if !decl.after.is_empty() {
            let after = decl.after.iter().map(|cause| self.reference(cause)).collect();
            clauses.extend([Doc::Line, text("after "), separated(after, &[text(", ")])]);
        }
        let inline = self.is_one_line(decl.name.span.to(decl.body.span));
        let head = group(all([head, indent(Doc::All(clauses)), text(" ")]));
        all([head, group(self.block(&decl.body, inline))])
    }

    pub(super) fn thread(&mut self, decl: &ThreadDecl) -> Doc {
        let words = modifiers(&[(decl.unfair, "unfair"), (decl.daemon, "daemon")]);
        let head = text(format!("{words}thread {}", decl.name.name));
        let head = all([head, self.family(decl.family.as_ref())]);
        self.with_body(head, decl.name.span, &decl.body)
    }
}

fn modifiers(words: &[(bool, &str)]) -> String {
    words.iter().filter(|(is, _)| *is).map(|(_, word)| format!("{word} ")).collect()
}
