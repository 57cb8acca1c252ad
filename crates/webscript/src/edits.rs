//! Insertions into a text, by offsets of the text as it was.

use crate::lines::Lines;
use crate::original::{Move, nudge, units};
use crate::sites::Origin;

/// Texts to be inserted. Those at one offset come in this order: texts that close something, in the
/// order in which they were added; then texts that open something, in that order too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edits {
    /// (offset, 0 for closing and 1 for opening, begin and end in `text`)
    list: Vec<(u32, u8, u32, u32)>,
    text: String,
}

impl Edits {
    /// Returns an empty list.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Inserts a text that belongs to what ends at an offset.
    pub(crate) fn close(&mut self, offset: u32, text: &str) {
        self.add(offset, 0, text);
    }

    /// Inserts a text that belongs to what begins at an offset.
    pub(crate) fn open(&mut self, offset: u32, text: &str) {
        self.add(offset, 1, text);
    }

    fn add(&mut self, offset: u32, order: u8, text: &str) {
        let begin = size(self.text.len());
        self.text.push_str(text);
        self.list.push((offset, order, begin, size(self.text.len())));
    }

    /// Returns the text with all insertions, and where these are. Where an inserted name would
    /// touch a word before it, as in `typeof(a)`, a space separates them. It takes the time of a
    /// sort.
    #[must_use]
    pub(crate) fn apply(mut self, source: &str, lines: &Lines<'_>) -> (String, Vec<Move>) {
        self.list.sort_by_key(|(offset, order, ..)| (*offset, *order));
        let mut out = String::with_capacity(source.len() + self.text.len());
        let mut done = 0;
        let mut moves: Vec<Move> = Vec::new();
        let mut last = None;
        for (offset, order, begin, end) in self.list {
            let offset = index(offset).min(source.len());
            let before = out.len() + offset.saturating_sub(done);
            out.push_str(source.get(done..offset).unwrap_or_default());
            done = offset.max(done);
            let text = self.text.get(index(begin)..index(end)).unwrap_or_default();
            if text.starts_with(is_part) && out.ends_with(is_part) {
                out.push(' ');
            }
            out.push_str(text);
            let inserted = units(out.get(before..).unwrap_or_default());
            let nudge = if order == 0 { nudge(source, offset) } else { 0 };
            match moves.last_mut().filter(|_| last == Some(offset)) {
                Some(last) => (last.inserted, last.nudge) = (last.inserted + inserted, nudge),
                None => {
                    let Origin { line, column, .. } = lines.place(offset);
                    moves.push(Move { line, column, removed: 0, inserted, nudge });
                }
            }
            last = Some(offset);
        }
        out.push_str(source.get(done..).unwrap_or_default());
        (out, moves)
    }
}

/// Returns whether a character can be a part of a word.
fn is_part(character: char) -> bool {
    character == '_' || character == '$' || character.is_alphanumeric() || !character.is_ascii()
}

fn size(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
