//! The whole file, and the first lines of declarations with bodies.

use super::Formatter;
use super::doc::{Doc, all, group, indent, text};
use super::stmt::Lines;
use crate::ast::{
    EventDecl, Family, FnDecl, HandlerDecl, Mailbox, Model, SizedName, TaskDecl, ThreadDecl,
};

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
            Some(family) => {
                let range = self.expr(&family.range);
                all([text(format!("[{} in ", family.var.name)), range, text("]")])
            }
            None => text(""),
        }
    }

    pub(super) fn handler(&mut self, decl: &HandlerDecl) -> Doc {
        let mailbox = match decl.mailbox {
            Mailbox::Fifo => "fifo",
            Mailbox::Bag => "bag",
            Mailbox::Delayed => "delayed",
        };
        let words = modifiers(&[(decl.unfair, "unfair"), (decl.daemon, "daemon")]);
        all([
            text(words),
            text("handler "),
            self.sized_name(&decl.name),
            text(format!(": {mailbox};")),
        ])
    }

    pub(super) fn function(&mut self, decl: &FnDecl) -> Doc {
        let inline = self.is_one_line(decl.span);
        let words = modifiers(&[(decl.daemon, "daemon")]);
        let head = text(format!("{words}fn {}", decl.name.name));
        let mut docs = vec![head, self.params(&decl.params)];
        if let Some(result) = &decl.result {
            docs.extend([text(" -> "), self.ty(result)]);
        }
        docs.push(text(" "));
        all([Doc::All(docs), group(self.block(&decl.body, inline))])
    }

    pub(super) fn task(&mut self, decl: &TaskDecl) -> Doc {
        let word = if decl.procedure { "procedure" } else { "task" };
        let words = modifiers(&[(decl.daemon, "daemon")]);
        let head = text(format!("{words}{word} {}", decl.name.name));
        let mut docs = vec![head, self.params(&decl.params)];
        if let Some(handler) = &decl.on {
            docs.extend([text(" on "), self.reference(handler)]);
        }
        docs.push(text(" "));
        let inline = self.is_one_line(decl.name.span.to(decl.body.span));
        all([Doc::All(docs), group(self.block(&decl.body, inline))])
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
        for (at, cause) in decl.after.iter().enumerate() {
            if at == 0 {
                clauses.extend([Doc::Line, text("after ")]);
            } else {
                clauses.push(text(", "));
            }
            clauses.push(self.reference(cause));
        }
        let inline = self.is_one_line(decl.name.span.to(decl.body.span));
        let head = group(all([head, indent(Doc::All(clauses)), text(" ")]));
        all([head, group(self.block(&decl.body, inline))])
    }

    pub(super) fn thread(&mut self, decl: &ThreadDecl) -> Doc {
        let words = modifiers(&[(decl.unfair, "unfair"), (decl.daemon, "daemon")]);
        let head = text(format!("{words}thread {}", decl.name.name));
        let family = self.family(decl.family.as_ref());
        let inline = self.is_one_line(decl.name.span.to(decl.body.span));
        all([head, family, text(" "), group(self.block(&decl.body, inline))])
    }
}

fn modifiers(words: &[(bool, &str)]) -> String {
    words.iter().filter(|(is, _)| *is).map(|(_, word)| format!("{word} ")).collect()
}
