//! The outcome of a run, in parts that can be compared without storing states.

use anyorder_common::hash::Hash128;
use std::collections::BTreeMap;
use std::fmt;

/// The kind of a part; decides whether a difference in it is harmful.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Level {
    /// Output that a user sees.
    Output,
    /// A failure: an exception, an assertion, an error in a log.
    Failure,
    /// A request sent to another program.
    Request,
    /// State that survives the run.
    Persistent,
    /// Memory.
    Heap,
    /// Timers that have not run yet.
    PendingTimers,
    /// Counters, caches and ids without meaning to a user.
    Bookkeeping,
}

impl Level {
    /// Returns its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Level::Output => "output",
            Level::Failure => "failure",
            Level::Request => "request",
            Level::Persistent => "persistent state",
            Level::Heap => "heap",
            Level::PendingTimers => "pending timers",
            Level::Bookkeeping => "bookkeeping",
        }
    }
}

/// The path of a part in the tree: the names from the top down to it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PartPath(Vec<String>);

impl PartPath {
    /// Makes a path of names.
    #[must_use]
    pub fn new<I: IntoIterator<Item = S>, S: Into<String>>(names: I) -> PartPath {
        PartPath(names.into_iter().map(Into::into).collect())
    }

    /// Returns the names from the top down.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for PartPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for name in &self.0 {
            write!(f, "{separator}{}", name.replace('~', "~0").replace('/', "~1").escape_debug())?;
            separator = "/";
        }
        Ok(())
    }
}

/// One part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// Its kind.
    pub level: Level,
    /// The hash of its own content, without the parts under it.
    pub hash: Hash128,
    /// Its content, if requested; not compared.
    pub text: Option<String>,
}

/// A difference of two observations.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Difference {
    /// The part.
    pub path: PartPath,
    /// Its level. If the levels differ, the more visible one.
    pub level: Level,
}

/// The outcome of a run: a tree of named parts, stored flat, in the order of their paths.
///
/// ```
/// use anyorder_system::{Level, Observation, PartPath};
/// let mut a = Observation::new();
/// a.set(PartPath::new(["page", "title"]), Level::Output, b"Notes");
/// let mut b = a.clone();
/// b.set(PartPath::new(["page", "title"]), Level::Output, b"Notes (1)");
/// let differences = a.difference(&b);
/// assert_eq!(differences.len(), 1);
/// assert_eq!(differences[0].path.to_string(), "page/title");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observation {
    parts: BTreeMap<PartPath, Part>,
}

impl Observation {
    /// Makes an observation without parts.
    #[must_use]
    pub fn new() -> Observation {
        Observation::default()
    }

    /// Sets a part by its content. Only the hash of the content is stored.
    pub fn set(&mut self, path: PartPath, level: Level, content: &[u8]) {
        self.parts.insert(path, Part { level, hash: Hash128::of(content), text: None });
    }

    /// Stores the text of an existing part, for people to read.
    pub fn keep_text(&mut self, path: &PartPath, text: &str) {
        if let Some(part) = self.parts.get_mut(path) {
            part.text = Some(text.to_owned());
        }
    }

    /// Returns a part.
    #[must_use]
    pub fn part(&self, path: &PartPath) -> Option<&Part> {
        self.parts.get(path)
    }

    /// Returns all parts in the order of their paths.
    pub fn parts(&self) -> impl ExactSizeIterator<Item = (&PartPath, &Part)> {
        self.parts.iter()
    }

    /// Returns the hash of all parts; equal observations have equal hashes. Texts do not count.
    #[must_use]
    pub fn hash(&self) -> Hash128 {
        self.parts.iter().fold(Hash128::new(), |hash, (path, part)| {
            let hash = path
                .0
                .iter()
                .fold(hash.number(path.0.len() as u64), |hash, name| hash.part(name.as_bytes()));
            hash.number(part.level as u64).part(&part.hash.0.to_le_bytes())
        })
    }

    /// Returns the parts in which `self` and `other` differ, in the order of their paths: parts of
    /// only one of them, and parts with different content. Linear in the number of parts.
    #[must_use]
    pub fn difference(&self, other: &Observation) -> Vec<Difference> {
        let mut differences = Vec::new();
        let (mut left, mut right) = (self.parts.iter().peekable(), other.parts.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return differences,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((a, _)), Some((b, _))) => a.cmp(b),
            };
            let a = if order.is_le() { left.next() } else { None };
            let b = if order.is_ge() { right.next() } else { None };
            let (path, level) = match (a, b) {
                (Some((_, a)), Some((_, b))) if a.hash == b.hash && a.level == b.level => continue,
                (Some((path, a)), Some((_, b))) => (path, a.level.min(b.level)),
                (Some((path, part)), None) | (None, Some((path, part))) => (path, part.level),
                (None, None) => return differences,
            };
            differences.push(Difference { path: path.clone(), level });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn observation(parts: &[(&str, Level, &str)]) -> Observation {
        let mut observation = Observation::new();
        for (path, level, content) in parts {
            observation.set(PartPath::new(path.split('/')), *level, content.as_bytes());
        }
        observation
    }

    fn check(a: &[(&str, Level, &str)], b: &[(&str, Level, &str)], expected: &[(&str, Level)]) {
        let (a, b) = (observation(a), observation(b));
        let expected: Vec<Difference> = expected
            .iter()
            .map(|(path, level)| Difference { path: PartPath::new(path.split('/')), level: *level })
            .collect();
        assert_eq!(a.difference(&b), expected);
        assert_eq!(b.difference(&a), expected, "difference is symmetric");
        assert_eq!(a.hash() == b.hash(), expected.is_empty());
    }

    #[test]
    fn differences_are_what_differs() {
        use Level::*;
        check(&[], &[], &[]);
        check(&[("a", Output, "1")], &[("a", Output, "1")], &[]);
        check(&[("a", Output, "1")], &[("a", Output, "2")], &[("a", Output)]);
        check(&[("a", Heap, "1")], &[("a", Output, "1")], &[("a", Output)]);
        check(
            &[("a", Output, "1"), ("b/c", Heap, "1"), ("d", Request, "x")],
            &[("a", Output, "1"), ("b", Heap, "1"), ("d", Request, "y"), ("e", Failure, "")],
            &[("b", Heap), ("b/c", Heap), ("d", Request), ("e", Failure)],
        );
    }

    #[test]
    fn texts_are_not_compared() {
        let mut a = observation(&[("a", Level::Output, "1")]);
        let b = a.clone();
        a.keep_text(&PartPath::new(["a"]), "one");
        assert_eq!(a.difference(&b), []);
        assert_eq!(a.hash(), b.hash());
        assert_eq!(a.part(&PartPath::new(["a"])).unwrap().text.as_deref(), Some("one"));
    }

    #[test]
    fn paths_print_without_ambiguity() {
        assert_eq!(PartPath::new(["a/b", "c~d"]).to_string(), "a~1b/c~0d");
        assert_eq!(PartPath::new(["a\u{1b}"]).to_string(), "a\\u{1b}");
    }

    proptest! {
        #[test]
        fn difference_equals_the_naive_one(
            a in proptest::collection::btree_map("[ab]/[ab]", 0..2u8, 0..4),
            b in proptest::collection::btree_map("[ab]/[ab]", 0..2u8, 0..4),
        ) {
            let make = |parts: &BTreeMap<String, u8>| {
                let mut observation = Observation::new();
                for (path, content) in parts {
                    observation.set(PartPath::new(path.split('/')), Level::Heap, &[*content]);
                }
                observation
            };
            let mut naive: Vec<PartPath> = a.keys().chain(b.keys())
                .filter(|path| a.get(*path) != b.get(*path))
                .map(|path| PartPath::new(path.split('/')))
                .collect();
            naive.sort();
            naive.dedup();
            let found: Vec<PartPath> = make(&a).difference(&make(&b)).into_iter().map(|d| d.path).collect();
            prop_assert_eq!(found, naive);
        }
    }
}
