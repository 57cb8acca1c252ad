//! Statements and blocks.

use super::Formatter;
use super::comments::blocks_in_stmt;
use super::doc::{Doc, all, group, indent, text};
use crate::ast::{Alternative, ArmBody, Block, If, Match, Stmt, StmtKind};
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
        let inline = self.is_one_line(stmt.span);
        let (head, body) = match &stmt.kind {
            StmtKind::If(node) => return self.if_doc(node, inline),
            StmtKind::Match(node) => return self.match_doc(node, stmt.span),
            StmtKind::Choose(alternatives) => return self.choose(alternatives, stmt.span),
            StmtKind::While { cond, body } => {
                (all([text("while "), self.expr(cond), text(" ")]), body)
            }
            StmtKind::Loop(body) => (text("loop "), body),
            StmtKind::For { var, iter, body } => {
                (all([text(format!("for {} in ", var.name)), self.expr(iter), text(" ")]), body)
            }
            StmtKind::Block(body) => (text(""), body),
            StmtKind::With { lock, body } => {
                (all([text("with "), self.reference(lock), text(" ")]), body)
            }
            StmtKind::Atomic(body) => (text("atomic "), body),
            _ if self.comments.strays(stmt.span, &blocks_in_stmt(stmt)) => {
                return self.as_written(stmt.span);
            }
            _ => return all([self.simple(stmt), text(";")]),
        };
        group(all([head, self.block(body, inline)]))
    }

    /// A piece as it is in the text, with the comments in it.
    pub(super) fn as_written(&mut self, span: Span) -> Doc {
        self.comments.skip_to(span.end);
        Doc::Verbatim(span.of(self.text).to_string())
    }

    fn choose(&mut self, alternatives: &[Alternative], span: Span) -> Doc {
        let place =
            |a: &Alternative| a.label.as_ref().map_or(a.body.span, |l| l.span.to(a.body.span));
        self.in_braces(
            text("choose "),
            span,
            alternatives,
            |_, a| place(a),
            |f, a, _| {
                let label = a.label.as_ref().map(|label| format!("{} => ", label.span.of(f.text)));
                let inline = f.is_one_line(place(a));
                group(all([text(label.unwrap_or_default()), f.block(&a.body, inline)]))
            },
        )
    }

    /// Lays out a statement that ends in `;`, without the `;`.
    fn simple(&mut self, stmt: &Stmt) -> Doc {
        match &stmt.kind {
            StmtKind::Let { name, ty, value } => {
                all([text("let "), self.variable(name, ty.as_ref(), Some(value))])
            }
            StmtKind::Assign { place, op, value } => {
                all([self.expr(place), text(format!(" {} ", op.sign())), self.expr(value)])
            }
            StmtKind::Step { place, up } => {
                all([self.expr(place), text(if *up { "++" } else { "--" })])
            }
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Call(expr) => all([text("call "), self.expr(expr)]),
            StmtKind::Break => text("break"),
            StmtKind::Continue => text("continue"),
            StmtKind::Yield => text("yield"),
            StmtKind::Return(value) => {
                all([text("return"), self.optional(" ", value.as_ref(), Self::expr)])
            }
            StmtKind::Assert { cond, message } => all([
                text("assert "),
                self.expr(cond),
                self.optional(", ", message.as_ref(), |f, message| text(message.span.of(f.text))),
            ]),
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
                all([text("wait "), self.reference(cond), text(" with "), self.reference(lock)])
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
        let inline = inline && node.branches().all(|(_, block)| self.is_short(block));
        let mut docs = Vec::new();
        for (cond, block) in node.branches() {
            if let Some(cond) = cond {
                docs.extend([text("if "), self.expr(cond), text(" ")]);
            }
            docs.extend([self.block(block, inline), text(" else ")]);
        }
        docs.pop();
        group(Doc::All(docs))
    }

    pub(super) fn match_doc(&mut self, node: &Match, span: Span) -> Doc {
        let head = all([text("match "), self.expr(&node.subject), text(" ")]);
        self.in_braces(
            head,
            span,
            &node.arms,
            |_, arm| arm.span,
            |f, arm, comma| {
                let pattern = f.pattern(&arm.pattern);
                let body = match &arm.body {
                    ArmBody::Block(block) => group(f.block(block, f.is_one_line(arm.span))),
                    ArmBody::Expr(value) => all([f.expr(value), comma]),
                };
                all([pattern, text(" => "), body])
            },
        )
    }

    /// `head { .. }`: on one line if the author wrote it so and it fits, else each part on a line
    /// of its own. `place` is the place of a part. `piece` lays it out, with a comma if it needs
    /// one.
    pub(super) fn in_braces<T>(
        &mut self,
        head: Doc,
        span: Span,
        parts: &[T],
        mut place: impl FnMut(&Self, &T) -> Span,
        mut piece: impl FnMut(&mut Self, &T, Doc) -> Doc,
    ) -> Doc {
        let inline = self.is_one_line(span);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len();
            let comma = if last && inline { Doc::IfBroken(",") } else { text(",") };
            let place = place(self, part);
            self.put(&mut lines, place, |f| piece(f, part, comma));
        }
        self.put_rest(&mut lines, span.end.saturating_sub(1));
        group(all([head, braces(lines, line)]))
    }
}

/// Braces around lines.
fn braces(lines: Lines, line: Doc) -> Doc {
    let inner = lines.finish();
    match &inner {
        Doc::All(docs) if docs.is_empty() => text("{}"),
        _ => all([text("{"), indent(all([line.clone(), inner])), line, text("}")]),
    }
}
