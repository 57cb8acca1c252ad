//! Comments and their places in the new layout.

use super::doc::{Doc, text};
use crate::ast::{ArmBody, Expr, ExprKind, Match, Part, Stmt};
use crate::lex::Comment;
use crate::source::Span;

/// The comments that are not printed yet.
pub(super) struct Comments<'a> {
    text: &'a str,
    list: &'a [Comment],
    next: usize,
}

impl<'a> Comments<'a> {
    pub(super) fn new(text: &'a str, list: &'a [Comment]) -> Self {
        Self { text, list, next: 0 }
    }

    fn peek(&self) -> Option<Comment> {
        self.list.get(self.next).copied()
    }

    /// Returns whether `span` contains a comment outside of `regions`.
    pub(super) fn strays(&self, span: Span, regions: &[Span]) -> bool {
        self.inside(span).any(|comment| {
            regions.iter().all(|r| comment.span.start < r.start || comment.span.end > r.end)
        })
    }

    /// Returns whether `span` contains a comment.
    pub(super) fn any_in(&self, span: Span) -> bool {
        self.inside(span).next().is_some()
    }

    fn inside(&self, span: Span) -> impl Iterator<Item = &Comment> {
        let from = self.list.partition_point(|comment| comment.span.start < span.start);
        self.list[from..].iter().take_while(move |comment| comment.span.start < span.end)
    }

    /// Marks the comments before `end` as printed.
    pub(super) fn skip_to(&mut self, end: u32) {
        while self.peek().is_some_and(|comment| comment.span.start < end) {
            self.next += 1;
        }
    }

    /// Comments that stand before `start`, each on a line of its own: pieces with line feeds behind
    /// them. `last` is the end of the last printed piece (`None` at the start of a block).
    pub(super) fn before(&mut self, start: u32, last: &mut Option<u32>) -> Vec<Doc> {
        let mut out = Vec::new();
        while let Some(comment) = self.peek().filter(|comment| comment.span.start < start) {
            self.next += 1;
            if last.is_some_and(|last| self.blank_between(last, comment.span.start)) {
                out.push(Doc::Blank);
            }
            out.push(self.doc(comment));
            out.push(Doc::Hard);
            *last = Some(comment.span.end);
        }
        out
    }

    /// Takes the comments after `end` on the same line.
    pub(super) fn behind(&mut self, end: u32, last: &mut Option<u32>) -> Vec<Doc> {
        let mut out = Vec::new();
        let mut end = end;
        *last = Some(end);
        while let Some(comment) = self.peek() {
            let between = Span::new(end, comment.span.start).of(self.text);
            let plain = between.chars().all(|c| matches!(c, ' ' | '\t' | ',' | ';'));
            if comment.span.start < end || !plain {
                break;
            }
            self.next += 1;
            out.extend([text(" "), self.doc(comment)]);
            end = comment.span.end;
            *last = Some(end);
            if !comment.block {
                break;
            }
        }
        out
    }

    fn doc(&self, comment: Comment) -> Doc {
        let written = comment.span.of(self.text);
        if written.contains('\n') {
            Doc::Verbatim(written.into())
        } else {
            text(written.trim_end())
        }
    }

    /// Returns whether the author left an empty line between two places.
    pub(super) fn blank_between(&self, from: u32, to: u32) -> bool {
        let between = Span::new(from.min(to), to).of(self.text);
        between.lines().skip(1).any(|line| line.trim().is_empty())
            && between.bytes().filter(|byte| *byte == b'\n').count() >= 2
    }
}

/// Regions whose comments are printed with their statements: the outermost braces with statements
/// or arms in them, within the expressions of a statement without own blocks.
pub(super) fn blocks_in_stmt(stmt: &Stmt) -> Vec<Span> {
    let mut out = Vec::new();
    stmt.kind.parts(&mut |part| blocks_in_part(part, &mut out));
    out
}

/// As [`blocks_in_stmt`], within an expression.
pub(super) fn blocks_in(expr: &Expr, out: &mut Vec<Span>) {
    match &expr.kind {
        ExprKind::Match(node) => blocks_in_match(node, expr.span.end, out),
        kind => kind.parts(&mut |part| blocks_in_part(part, out)),
    }
}

fn blocks_in_part(part: Part<'_>, out: &mut Vec<Span>) {
    match part {
        Part::Expr(expr) => blocks_in(expr, out),
        Part::Block(block) => out.push(block.span),
    }
}

fn blocks_in_match(node: &Match, end: u32, out: &mut Vec<Span>) {
    blocks_in(&node.subject, out);
    let is_closure = |expr: &Expr| matches!(expr.kind, ExprKind::Closure(_));
    if !node.arms.iter().any(|arm| matches!(&arm.body, ArmBody::Expr(e) if is_closure(e))) {
        out.push(Span::new(node.subject.span.end, end));
    }
}
