//! Statements and blocks.

use super::Formatter;
use super::doc::{Doc, all, group, indent, text};
use super::expr::assign_sign;
use super::region;
use crate::ast::{Arm, ArmBody, Block, If, IfElse, Match, Stmt, StmtKind};
use crate::source::Span;

/// Most statements of a block on one line.
const INLINE_MAX: usize = 3;

/// Pieces on lines of their own, with comments and blank lines between them.
pub(super) struct Lines {
    docs: Vec<Doc>,
    /// End of the last piece.
    last: Option<u32>,
    separator: Doc,
}

impl Lines {
    /// Creates an empty list of pieces, with `separator` between them.
    pub(super) fn new(separator: Doc) -> Self {
        Self { docs: vec![], last: None, separator }
    }

    /// Puts an empty line before the next piece.
    pub(super) fn set_apart(&mut self) {
        if !self.docs.is_empty() {
            self.docs.push(Doc::Blank);
        }
    }

    pub(super) fn finish(self) -> Doc {
        Doc::All(self.docs)
    }
}

impl Formatter<'_> {
    /// Returns whether the author wrote the text on one line, without comments.
    pub(super) fn is_one_line(&self, span: Span) -> bool {
        !span.of(self.text).contains('\n') && !self.comments.any_in(span)
    }

    /// Adds a piece with its comments.
    pub(super) fn put(
        &mut self,
        lines: &mut Lines,
        span: Span,
        piece: impl FnOnce(&mut Self) -> Doc,
    ) {
        if !lines.docs.is_empty() {
            lines.docs.push(lines.separator.clone());
        }
        lines.docs.extend(self.comments.before(span.start, &mut lines.last));
        if lines.last.is_some_and(|last| self.comments.blank_between(last, span.start)) {
            // The blank line comes before the line feed that is already there.
            let at = lines.docs.iter().rposition(|doc| matches!(doc, Doc::Hard));
            lines.docs.insert(at.unwrap_or(lines.docs.len()), Doc::Blank);
        }
        let doc = piece(self);
        lines.docs.push(doc);
        lines.docs.extend(self.comments.behind(span.end, &mut lines.last));
    }

    /// Adds the comments before the end of a block.
    pub(super) fn put_rest(&mut self, lines: &mut Lines, end: u32) {
        let mut last = lines.last;
        let mut rest = self.comments.before(end, &mut last);
        // A line feed follows each comment. The brace adds the last one itself.
        rest.pop();
        if rest.is_empty() {
            return;
        }
        if !lines.docs.is_empty() {
            let blank = matches!(rest.first(), Some(Doc::Blank));
            if blank {
                rest.remove(0);
                lines.docs.push(Doc::Blank);
            }
            lines.docs.push(Doc::Hard);
        }
        lines.docs.append(&mut rest);
        lines.last = last;
    }

    /// Returns whether the block may be on one line.
    pub(super) fn is_short(&self, block: &Block) -> bool {
        let count = block.stmts.len() + usize::from(block.value.is_some());
        count <= INLINE_MAX && self.is_one_line(block.span)
    }

    /// Lays out `{ .. }`. With `inline`, the block is on one line if its group is.
    pub(super) fn block(&mut self, block: &Block, inline: bool) -> Doc {
        let inline = inline && self.is_short(block);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        for stmt in &block.stmts {
            self.put(&mut lines, stmt.span, |f| f.stmt(stmt));
        }
        if let Some(value) = &block.value {
            self.put(&mut lines, value.span, |f| f.expr(value));
        }
        self.put_rest(&mut lines, block.span.end.saturating_sub(1));
        braces(lines, line)
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Doc {
        if self.comments.strays(stmt.span, &region::of_stmt(stmt)) && is_simple(stmt) {
            self.comments.skip_to(stmt.span.end);
            return Doc::Verbatim(stmt.span.of(self.text).to_string());
        }
        let inline = self.is_one_line(stmt.span);
        match &stmt.kind {
            StmtKind::If(node) => self.if_doc(node, inline),
            StmtKind::Match(node) => self.match_doc(node, stmt.span),
            StmtKind::While { cond, body } => {
                let head = all([text("while "), self.expr(cond), text(" ")]);
                group(all([head, self.block(body, inline)]))
            }
            StmtKind::Loop(body) => group(all([text("loop "), self.block(body, inline)])),
            StmtKind::For { var, iter, body } => {
                let head = all([text(format!("for {} in ", var.name)), self.expr(iter), text(" ")]);
                group(all([head, self.block(body, inline)]))
            }
            StmtKind::Block(body) => group(self.block(body, inline)),
            StmtKind::With { lock, body } => {
                let head = all([text("with "), self.reference(lock), text(" ")]);
                group(all([head, self.block(body, inline)]))
            }
            StmtKind::Atomic(body) => group(all([text("atomic "), self.block(body, inline)])),
            StmtKind::Choose(alternatives) => {
                let line = if inline { Doc::Line } else { Doc::Hard };
                let mut lines = Lines::new(line.clone());
                for alternative in alternatives {
                    let start =
                        alternative.label.as_ref().map_or(alternative.body.span, |l| l.span);
                    let span = start.to(alternative.body.span);
                    let inline = self.is_one_line(span);
                    self.put(&mut lines, span, |f| {
                        let label = alternative.label.as_ref().map(|label| label.span.of(f.text));
                        let label = label.map_or_else(String::new, |label| format!("{label} => "));
                        group(all([text(label), f.block(&alternative.body, inline)]))
                    });
                }
                self.put_rest(&mut lines, stmt.span.end.saturating_sub(1));
                group(all([text("choose "), braces(lines, line)]))
            }
            _ => {
                let doc = self.simple(stmt);
                all([doc, text(";")])
            }
        }
    }

    /// Lays out a statement that ends in `;`, without the `;`.
    fn simple(&mut self, stmt: &Stmt) -> Doc {
        match &stmt.kind {
            StmtKind::Let { name, ty, value } => {
                let mut docs = vec![text(format!("let {}", name.name))];
                if let Some(ty) = ty {
                    docs.extend([text(": "), self.ty(ty)]);
                }
                docs.extend([text(" = "), self.expr(value)]);
                Doc::All(docs)
            }
            StmtKind::Assign { place, op, value } => {
                let place = self.expr(place);
                all([place, text(format!(" {} ", assign_sign(*op))), self.expr(value)])
            }
            StmtKind::Step { place, up } => {
                all([self.expr(place), text(if *up { "++" } else { "--" })])
            }
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Call(expr) => all([text("call "), self.expr(expr)]),
            StmtKind::Break => text("break"),
            StmtKind::Continue => text("continue"),
            StmtKind::Yield => text("yield"),
            StmtKind::Return(None) => text("return"),
            StmtKind::Return(Some(value)) => all([text("return "), self.expr(value)]),
            StmtKind::Assert { cond, message } => {
                let cond = self.expr(cond);
                let message = message.as_ref().map_or_else(String::new, |message| {
                    format!(", {}", message.span.of(self.text))
                });
                all([text("assert "), cond, text(message)])
            }
            StmtKind::Assume(cond) => all([text("assume "), self.expr(cond)]),
            StmtKind::Fail(message) => text(format!("fail {}", message.span.of(self.text))),
            StmtKind::Cancel(task) => all([text("cancel "), self.expr(task)]),
            StmtKind::Enable { event, on } => {
                let word = if *on { "enable " } else { "disable " };
                all([text(word), self.reference(event)])
            }
            StmtKind::Acquire(lock) => all([text("acquire "), self.reference(lock)]),
            StmtKind::Release(lock) => all([text("release "), self.reference(lock)]),
            StmtKind::Wait { cond, lock } => {
                let cond = self.reference(cond);
                all([text("wait "), cond, text(" with "), self.reference(lock)])
            }
            StmtKind::Notify { cond, all: every } => {
                let word = if *every { "notify_all " } else { "notify " };
                all([text(word), self.reference(cond)])
            }
            StmtKind::Join(thread) => all([text("join "), self.expr(thread)]),
            // The caller prints compound statements. Errors are never printed.
            _ => text(stmt.span.of(self.text)),
        }
    }

    /// Lays out `if .. {} else {}`. Either all blocks are on one line or none.
    pub(super) fn if_doc(&mut self, node: &If, inline: bool) -> Doc {
        let mut docs = Vec::new();
        let inline = inline && self.all_short(node);
        let mut node = node;
        loop {
            docs.extend([text("if "), self.expr(&node.cond), text(" ")]);
            docs.push(self.block(&node.then, inline));
            match &node.otherwise {
                None => break,
                Some(IfElse::Block(block)) => {
                    docs.extend([text(" else "), self.block(block, inline)]);
                    break;
                }
                Some(IfElse::If(inner)) => {
                    docs.push(text(" else "));
                    node = inner;
                }
            }
        }
        group(Doc::All(docs))
    }

    fn all_short(&self, node: &If) -> bool {
        let mut node = node;
        loop {
            if !self.is_short(&node.then) {
                return false;
            }
            match &node.otherwise {
                None => return true,
                Some(IfElse::Block(block)) => return self.is_short(block),
                Some(IfElse::If(inner)) => node = inner,
            }
        }
    }

    pub(super) fn match_doc(&mut self, node: &Match, span: Span) -> Doc {
        let inline = self.is_one_line(span);
        let head = all([text("match "), self.expr(&node.subject), text(" ")]);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        let count = node.arms.len();
        for (at, arm) in node.arms.iter().enumerate() {
            self.put(&mut lines, arm.span, |f| {
                let comma = match arm.body {
                    ArmBody::Block(_) => text(""),
                    ArmBody::Expr(_) if at + 1 < count => text(","),
                    ArmBody::Expr(_) if inline => Doc::IfBroken(","),
                    ArmBody::Expr(_) => text(","),
                };
                all([f.arm(arm), comma])
            });
        }
        self.put_rest(&mut lines, span.end.saturating_sub(1));
        group(all([head, braces(lines, line)]))
    }

    fn arm(&mut self, arm: &Arm) -> Doc {
        let inline = self.is_one_line(arm.span);
        let pattern = self.pattern(&arm.pattern);
        let body = match &arm.body {
            ArmBody::Block(block) => group(self.block(block, inline)),
            ArmBody::Expr(value) => self.expr(value),
        };
        all([pattern, text(" => "), body])
    }
}

/// Puts braces around lines.
pub(super) fn braces(lines: Lines, line: Doc) -> Doc {
    let inner = lines.finish();
    match &inner {
        Doc::All(docs) if docs.is_empty() => text("{}"),
        _ => all([text("{"), indent(all([line.clone(), inner])), line, text("}")]),
    }
}

/// Returns whether a statement has no blocks of its own. The formatter lays out all of its
/// expressions or none.
fn is_simple(stmt: &Stmt) -> bool {
    !matches!(
        stmt.kind,
        StmtKind::If(_)
            | StmtKind::Match(_)
            | StmtKind::While { .. }
            | StmtKind::Loop(_)
            | StmtKind::For { .. }
            | StmtKind::Block(_)
            | StmtKind::With { .. }
            | StmtKind::Atomic(_)
            | StmtKind::Choose(_)
    )
}
