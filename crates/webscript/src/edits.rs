//! Insertions into a text, by offsets of the text as it was.

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

    /// Returns the text with all insertions. Where an inserted name would touch a word before it,
    /// as in `typeof(a)`, a space separates them. It takes the time of a sort.
    #[must_use]
    pub(crate) fn apply(mut self, source: &str) -> String {
        self.list.sort_by_key(|(offset, order, ..)| (*offset, *order));
        let mut out = String::with_capacity(source.len() + self.text.len());
        let mut done = 0;
        for (offset, _, begin, end) in self.list {
            let offset = index(offset).min(source.len());
            out.push_str(source.get(done..offset).unwrap_or_default());
            done = offset.max(done);
            let text = self.text.get(index(begin)..index(end)).unwrap_or_default();
            if text.starts_with(is_part) && out.ends_with(is_part) {
                out.push(' ');
            }
            out.push_str(text);
        }
        out.push_str(source.get(done..).unwrap_or_default());
        out
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
