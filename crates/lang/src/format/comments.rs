//! Comments and their places in the new layout.

use super::doc::{Doc, all, text};
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

    /// Takes the comments before `start` that each have their own line. Returns pieces with a line
    /// feed after each. `last` is the end of the text printed before (`None` at the start of a
    /// block).
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
            Doc::Verbatim(written.to_string())
        } else {
            all([text(written.trim_end())])
        }
    }

    /// Returns whether the author left an empty line between two places.
    pub(super) fn blank_between(&self, from: u32, to: u32) -> bool {
        let between = Span::new(from.min(to), to).of(self.text);
        between.lines().skip(1).any(|line| line.trim().is_empty())
            && between.bytes().filter(|byte| *byte == b'\n').count() >= 2
    }
}
