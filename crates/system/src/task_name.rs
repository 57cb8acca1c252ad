//! Names of tasks that survive re-execution and reordering.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// One step of a [`TaskName`]: the operation that created the task.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Segment {
    /// The kind of the creating operation, such as `timeout`. Never empty.
    pub kind: String,
    /// The label that distinguishes it from others of its kind, such as a source position; may be
    /// empty.
    pub label: String,
    /// Its ordinal among equal kinds and labels of one creator, from 0.
    pub ordinal: u32,
}

/// The name of a task: the path of creating operations from a root to it.
///
/// Printed as segments `kind@label#ordinal` joined by `/`; an empty label and the ordinal 0 are
/// left out. The characters `/ @ # %`, white space, control and invisible formatting characters are
/// printed as `%XX`, byte by byte. Sharing the creator makes a child O(1) in memory; printing,
/// comparing and hashing are linear in the depth.
///
/// ```
/// use anyorder_system::TaskName;
/// let name: TaskName = "load/script#2/timeout@app.js:14#1".parse()?;
/// assert_eq!(name.segment().kind, "timeout");
/// assert_eq!(name.segment().label, "app.js:14");
/// assert_eq!(name.creator().unwrap().to_string(), "load/script#2");
/// assert_eq!(TaskName::root("a/b").to_string(), "a%2Fb");
/// # Ok::<(), anyorder_system::TaskNameError>(())
/// ```
#[derive(Clone)]
pub struct TaskName(Arc<Node>);

struct Node {
    creator: Option<TaskName>,
    segment: Segment,
    depth: usize,
}

impl TaskName {
    /// Makes the name of a task that no task created.
    ///
    /// # Panics
    ///
    /// Panics when `kind` is empty.
    #[must_use]
    pub fn root(kind: &str) -> TaskName {
        TaskName::make(None, segment(kind))
    }

    /// Makes the name of a task created by this one.
    ///
    /// # Panics
    ///
    /// Panics when `kind` is empty.
    #[must_use]
    pub fn child(&self, kind: &str) -> TaskName {
        TaskName::make(Some(self.clone()), segment(kind))
    }

    /// Returns this name with another label.
    #[must_use]
    pub fn with_label(&self, label: &str) -> TaskName {
        let segment = Segment { label: label.to_owned(), ..self.segment().clone() };
        TaskName::make(self.creator().cloned(), segment)
    }

    /// Returns this name with another ordinal.
    #[must_use]
    pub fn with_ordinal(&self, ordinal: u32) -> TaskName {
        let segment = Segment { ordinal, ..self.segment().clone() };
        TaskName::make(self.creator().cloned(), segment)
    }

    /// Returns the last segment: the operation that created this task.
    #[must_use]
    pub fn segment(&self) -> &Segment {
        &self.0.segment
    }

    /// Returns the task that created this one.
    #[must_use]
    pub fn creator(&self) -> Option<&TaskName> {
        self.0.creator.as_ref()
    }

    /// Returns the number of segments, at least 1.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.depth
    }

    /// Returns the segments, the root's first.
    #[must_use]
    pub fn segments(&self) -> Vec<&Segment> {
        let mut segments: Vec<&Segment> = self.lineage().map(TaskName::segment).collect();
        segments.reverse();
        segments
    }

    /// This name, its creator, and so on to the root.
    fn lineage(&self) -> impl Iterator<Item = &TaskName> {
        std::iter::successors(Some(self), |name| name.creator())
    }

    fn make(creator: Option<TaskName>, segment: Segment) -> TaskName {
        let depth = creator.as_ref().map_or(0, TaskName::depth) + 1;
        TaskName(Arc::new(Node { creator, segment, depth }))
    }
}

fn segment(kind: &str) -> Segment {
    assert!(!kind.is_empty(), "a task name needs a kind");
    Segment { kind: kind.to_owned(), label: String::new(), ordinal: 0 }
}

impl Drop for Node {
    /// Drops the chain of creators in a loop: a chain of a million timers must not overflow the
    /// stack.
    fn drop(&mut self) {
        let mut next = self.creator.take();
        while let Some(name) = next {
            next = match Arc::into_inner(name.0) {
                Some(mut node) => node.creator.take(),
                None => None,
            };
        }
    }
}

impl PartialEq for TaskName {
    fn eq(&self, other: &TaskName) -> bool {
        if self.depth() != other.depth() {
            return false;
        }
        for (a, b) in self.lineage().zip(other.lineage()) {
            if Arc::ptr_eq(&a.0, &b.0) {
                return true;
            }
            if a.segment() != b.segment() {
                return false;
            }
        }
        true
    }
}

impl Eq for TaskName {}

impl Hash for TaskName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lineage().for_each(|name| name.segment().hash(state));
    }
}

/// A total order for storage: by segments, the root's first. Independent of execution order.
impl Ord for TaskName {
    fn cmp(&self, other: &TaskName) -> Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Ordering::Equal;
        }
        self.segments().cmp(&other.segments())
    }
}

impl PartialOrd for TaskName {
    fn partial_cmp(&self, other: &TaskName) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for segment in self.segments() {
            f.write_str(separator)?;
            write_escaped(f, &segment.kind)?;
            if !segment.label.is_empty() {
                f.write_str("@")?;
                write_escaped(f, &segment.label)?;
            }
            if segment.ordinal != 0 {
                write!(f, "#{}", segment.ordinal)?;
            }
            separator = "/";
        }
        Ok(())
    }
}

impl fmt::Debug for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskName({self})")
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let mut buffer = [0; 4];
    for c in text.chars() {
        if must_escape(c) {
            for byte in c.encode_utf8(&mut buffer).bytes() {
                write!(f, "%{byte:02X}")?;
            }
        } else {
            fmt::Write::write_char(f, c)?;
        }
    }
    Ok(())
}

/// Separators, and characters that a command line would change or that could hide in a report.
fn must_escape(c: char) -> bool {
    matches!(c, '/' | '@' | '#' | '%' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || c.is_control()
        || c.is_whitespace()
}

/// Why a text is not a [`TaskName`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TaskNameError {
    /// A segment has no kind.
    #[error("empty step in a task name")]
    EmptyKind,
    /// The text after `#` is not a number below 2^32.
    #[error("`#{0}` in a task name is not a number")]
    Ordinal(String),
    /// A `%` without two hexadecimal digits, or bytes that are not UTF-8.
    #[error("bad `%` escape in a task name")]
    Escape,
}

impl FromStr for TaskName {
    type Err = TaskNameError;

    fn from_str(text: &str) -> Result<TaskName, TaskNameError> {
        let mut steps = text.split('/').map(parse_segment);
        let first = steps.next().ok_or(TaskNameError::EmptyKind)??;
        steps.try_fold(TaskName::make(None, first), |name, step| {
            Ok(TaskName::make(Some(name), step?))
        })
    }
}

fn parse_segment(text: &str) -> Result<Segment, TaskNameError> {
    let (text, ordinal) = match text.split_once('#') {
        None => (text, 0),
        Some((rest, digits)) => {
            let number = digits.bytes().all(|b| b.is_ascii_digit());
            let ordinal = if number { digits.parse().ok() } else { None };
            (rest, ordinal.ok_or_else(|| TaskNameError::Ordinal(digits.to_owned()))?)
        }
    };
    let (kind, label) = text.split_once('@').unwrap_or((text, ""));
    if kind.is_empty() {
        return Err(TaskNameError::EmptyKind);
    }
    Ok(Segment { kind: unescape(kind)?, label: unescape(label)?, ordinal })
}

fn unescape(text: &str) -> Result<String, TaskNameError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|b| char::from(b).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err(TaskNameError::Escape);
        };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| TaskNameError::Escape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> TaskName {
        text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn canonical_names_print_as_they_are_read() {
        for text in ["load", "load/script#2/timeout@app.js:14#1", "a@b", "a%2Fb/c%20d", "ü@é#3"] {
            assert_eq!(name(text).to_string(), text);
        }
        assert_eq!(name("a#0").to_string(), "a");
        assert_eq!(name("a@").to_string(), "a");
    }

    #[test]
    fn bad_names_say_what_is_wrong() {
        let cases = [
            ("", TaskNameError::EmptyKind),
            ("a//b", TaskNameError::EmptyKind),
            ("@label", TaskNameError::EmptyKind),
            ("a#", TaskNameError::Ordinal(String::new())),
            ("a#+1", TaskNameError::Ordinal("+1".to_owned())),
            ("a#1#2", TaskNameError::Ordinal("1#2".to_owned())),
            ("a#4294967296", TaskNameError::Ordinal("4294967296".to_owned())),
            ("a%2", TaskNameError::Escape),
            ("a%zz", TaskNameError::Escape),
            ("a%FF", TaskNameError::Escape),
        ];
        for (text, error) in cases {
            let found = text.parse::<TaskName>();
            // `a#` has no digits at all, which `all` accepts and `parse` refuses.
            assert_eq!(found, Err(error), "{text}");
        }
    }

    #[test]
    fn hostile_characters_never_reach_the_output() {
        let name = TaskName::root("\u{1b}[31m").child("x\u{202e}y").with_label("a\nb");
        assert_eq!(name.to_string(), "%1B[31m/x%E2%80%AEy@a%0Ab");
        assert_eq!(name.to_string().parse(), Ok(name));
    }

    #[test]
    fn order_is_by_segments() {
        let mut names = ["b", "a/b", "a", "a#1", "a/b@x", "a/b#2"].map(name);
        names.sort();
        let sorted: Vec<String> = names.iter().map(ToString::to_string).collect();
        assert_eq!(sorted, ["a", "a/b", "a/b#2", "a/b@x", "a#1", "b"]);
    }

    #[test]
    fn long_chains_are_dropped_without_recursion() {
        let mut name = TaskName::root("t");
        for _ in 0..300_000 {
            name = name.child("t");
        }
        assert_eq!(name.depth(), 300_001);
    }

    proptest! {
        #[test]
        fn print_and_parse_agree(steps in proptest::collection::vec((".{1,6}", ".{0,6}", 0..3u32), 1..5)) {
            let mut name: Option<TaskName> = None;
            for (kind, label, ordinal) in &steps {
                let step = name.as_ref().map_or_else(|| TaskName::root(kind), |n| n.child(kind));
                name = Some(step.with_label(label).with_ordinal(*ordinal));
            }
            let name = name.expect("at least one step");
            prop_assert_eq!(name.to_string().parse::<TaskName>(), Ok(name));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".{0,40}") {
            if let Ok(name) = text.parse::<TaskName>() {
                prop_assert_eq!(name.to_string().parse::<TaskName>(), Ok(name));
            }
        }
    }
}
