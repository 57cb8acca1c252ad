//! Suppressions in the syntax of ThreadSanitizer: one a line, `TYPE:PATTERN`.
//!
//! The syntax and the types are those of LLVM's sanitizers
//! (<https://github.com/google/sanitizers/wiki/ThreadSanitizerSuppressions>): a pattern matches a
//! function, a source file or a library of a call stack. `*` stands for any text, `^` and `$` for
//! the begin and the end; without them a part of the name is enough. `#` begins a comment.

use crate::finding::{Finding, Frame, Related, Site, Suppressed};
use crate::suppress::SuppressionError;
use crate::words::{Kind, MisuseCategory, PredictedCategory, RelatedKind};
use std::borrow::Cow;

/// What a suppression is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TsanKind {
    /// `race`: a position of a stack of a race, or the name of the variable.
    Race,
    /// `race_top`: the innermost position of a race.
    RaceTop,
    /// `deadlock`: a position of a deadlock, or of a wake-up that is lost.
    Deadlock,
    /// `mutex`: a position of a wrong use of a lock.
    Mutex,
    /// `thread`: a thread that is never joined.
    Thread,
    /// `signal`: a wrong use of a signal handler.
    Signal,
    /// `called_from_lib`: an action of a function of the C library that a library calls.
    CalledFromLib,
}

/// The words for the types.
const KINDS: [(&str, TsanKind); 7] = [
    ("race", TsanKind::Race),
    ("race_top", TsanKind::RaceTop),
    ("deadlock", TsanKind::Deadlock),
    ("mutex", TsanKind::Mutex),
    ("thread", TsanKind::Thread),
    ("signal", TsanKind::Signal),
    ("called_from_lib", TsanKind::CalledFromLib),
];

/// One suppression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TsanSuppression {
    /// What it is about.
    pub kind: TsanKind,
    /// Its pattern.
    pub pattern: String,
    /// Its line, from 1.
    pub line: u32,
}

/// The suppressions of one file, in its order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TsanSuppressions {
    /// The name of the file.
    pub file: String,
    /// All of them.
    pub entries: Vec<TsanSuppression>,
}

impl TsanSuppressions {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// Fails with the first line that has no known type or no pattern.
    pub fn parse(file: &str, text: &str) -> Result<TsanSuppressions, SuppressionError> {
        let mut entries = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let content = line.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let indent = line.chars().take_while(|c| c.is_whitespace()).count();
            let error = |after: usize, message: String| SuppressionError {
                line: number,
                column: u32::try_from(indent + after + 1).unwrap_or(u32::MAX),
                message,
            };
            let words: Vec<String> = KINDS.iter().map(|(word, _)| format!("`{word}:`")).collect();
            let Some((word, pattern)) = content.split_once(':') else {
                let expected = words.join(", ");
                return Err(error(
                    0,
                    format!("expected one of {expected} with a pattern behind it"),
                ));
            };
            let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == word) else {
                let (word, expected) = (word.escape_debug(), words.join(", "));
                return Err(error(0, format!("unknown type `{word}`, expected one of {expected}")));
            };
            let pattern = pattern.trim();
            if pattern.is_empty() {
                let after = word.chars().count() + 1;
                return Err(error(after, "expected a pattern; `*` matches everything".to_owned()));
            }
            entries.push(TsanSuppression {
                kind: *kind,
                pattern: pattern.to_owned(),
                line: number,
            });
        }
        Ok(TsanSuppressions { file: file.to_owned(), entries })
    }

    /// Marks each finding that is not suppressed yet with the first suppression that matches it,
    /// until `stop` returns true. Returns how many each suppression has marked, and the number of
    /// findings that were decided. O(suppressions × positions of the findings).
    pub fn apply(&self, findings: &mut [Finding], stop: &dyn Fn() -> bool) -> (Vec<u64>, usize) {
        let mut counts = vec![0; self.entries.len()];
        for (at, finding) in findings.iter_mut().enumerate() {
            if stop() {
                return (counts, at);
            }
            if finding.suppressed.is_some() {
                continue;
            }
            let places = Places::of(finding);
            if let Some(first) = self.entries.iter().position(|entry| entry.matches(&places)) {
                counts[first] += 1;
                let entry = &self.entries[first];
                let reason = Some(format!("{}:{}", self.file, entry.line));
                let file = Some(self.file.clone());
                finding.suppressed = Some(Suppressed { reason, line: Some(entry.line), file });
            }
        }
        (counts, findings.len())
    }
}

/// What of a finding suppressions look at.
struct Places<'f> {
    of_race: bool,
    of_deadlock: bool,
    of_lock: bool,
    of_thread: bool,
    of_signal: bool,
    /// The stacks of its sites, and those behind what they are about.
    sites: Vec<Vec<Cow<'f, Frame>>>,
    threads: Vec<Vec<Cow<'f, Frame>>>,
    locks: Vec<Vec<Cow<'f, Frame>>>,
    variables: Vec<&'f str>,
}

impl<'f> Places<'f> {
    fn of(finding: &'f Finding) -> Places<'f> {
        let is = |category: PredictedCategory| finding.category.as_deref() == Some(category.word());
        let of_deadlock = finding.kind == Kind::Deadlock
            || is(PredictedCategory::LostSignal)
            || is(PredictedCategory::LostWakeup);
        let misuses = |categories: &[MisuseCategory]| {
            let category = finding.category.as_deref();
            finding.kind == Kind::Misuse
                && categories.iter().any(|one| category == Some(one.word()))
        };
        let of_thread = misuses(&[MisuseCategory::ThreadLeak]);
        let of_signal = misuses(&[MisuseCategory::UnsafeInHandler, MisuseCategory::ErrnoInHandler]);
        let related = |kind: RelatedKind| {
            let of_kind = finding.related.iter().filter(move |one| one.kind == kind);
            of_kind.map(|one| frames(&one.site)).collect()
        };
        let memory = finding.related.iter().filter(|one| one.kind == RelatedKind::Memory);
        Places {
            of_race: !of_deadlock && finding.kind != Kind::Misuse,
            of_deadlock: of_deadlock || misuses(&[MisuseCategory::DoubleLock]),
            of_lock: is(PredictedCategory::DestroyedLock)
                || is(PredictedCategory::OverwrittenLock)
                || (finding.kind == Kind::Misuse && !of_thread && !of_signal),
            of_thread,
            of_signal,
            sites: finding.sites.iter().map(frames).collect(),
            threads: related(RelatedKind::Thread),
            locks: related(RelatedKind::Lock),
            variables: memory.filter_map(variable).collect(),
        }
    }
}

/// Returns the name of the variable that memory is described as.
fn variable(memory: &Related) -> Option<&str> {
    memory.text.strip_prefix("global `")?.split('`').next()
}

/// Returns the positions of the stack of a site, the innermost first.
fn frames(site: &Site) -> Vec<Cow<'_, Frame>> {
    if !site.frames.is_empty() {
        return site.frames.iter().map(Cow::Borrowed).collect();
    }
    let of_stack: Vec<Cow<'_, Frame>> =
        site.stack.iter().map(|text| Cow::Owned(Frame::of_text(text))).collect();
    if !of_stack.is_empty() {
        return of_stack;
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (function, file) = (text(&site.function), text(&site.file));
    vec![Cow::Owned(Frame { function, file, module: String::new() })]
}

impl TsanSuppression {
    fn matches(&self, places: &Places<'_>) -> bool {
        let frame = |frame: &Cow<'_, Frame>| {
            let names = [&frame.function, &frame.file, &frame.module];
            names.into_iter().any(|name| matches(&self.pattern, name))
        };
        let any = |stacks: &[Vec<Cow<'_, Frame>>]| stacks.iter().flatten().any(frame);
        let top =
            |stacks: &[Vec<Cow<'_, Frame>>]| stacks.iter().filter_map(|one| one.first()).any(frame);
        let called = || {
            let tops = places.sites.iter().filter_map(|one| one.first());
            tops.into_iter().any(|frame| matches(&self.pattern, &frame.module))
        };
        match self.kind {
            TsanKind::Race => {
                places.of_race
                    && (any(&places.sites)
                        || any(&places.threads)
                        || places.variables.iter().any(|name| matches(&self.pattern, name)))
            }
            TsanKind::RaceTop => places.of_race && top(&places.sites),
            TsanKind::Deadlock => places.of_deadlock && (any(&places.sites) || any(&places.locks)),
            TsanKind::Mutex => places.of_lock && any(&places.sites),
            TsanKind::CalledFromLib => called(),
            TsanKind::Thread => places.of_thread && any(&places.sites),
            TsanKind::Signal => places.of_signal && any(&places.sites),
        }
    }
}

/// Returns whether a pattern matches a name. O(pattern × name). Nothing matches an empty name.
fn matches(pattern: &str, name: &str) -> bool {
    if name.is_empty() {
        return false;
    }
    let (from_start, pattern) = match pattern.strip_prefix('^') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (to_end, pattern) = match pattern.strip_suffix('$') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let mut parts = pattern.split('*');
    let mut rest = name;
    let first = parts.next().unwrap_or_default();
    let mut parts: Vec<&str> = parts.collect();
    // The last part is bound to the end; the others are found as early as they can be.
    let last = if to_end { parts.pop() } else { None };
    match (from_start, to_end && last.is_none()) {
        (true, true) => return rest == first,
        (false, true) => return rest.ends_with(first),
        (true, false) => match rest.strip_prefix(first) {
            Some(after) => rest = after,
            None => return false,
        },
        (false, false) => match rest.find(first) {
            Some(at) => rest = &rest[at + first.len()..],
            None => return false,
        },
    }
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    last.is_none_or(|last| rest.ends_with(last))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The meaning of a pattern, tried position by position.
    fn naive(pattern: &[char], name: &[char]) -> bool {
        fn here(pattern: &[char], name: &[char]) -> bool {
            match pattern {
                [] => true,
                ['$'] => name.is_empty(),
                ['*', rest @ ..] => (0..=name.len()).any(|skip| here(rest, &name[skip..])),
                [c, rest @ ..] => name.first() == Some(c) && here(rest, &name[1..]),
            }
        }
        match pattern {
            _ if name.is_empty() => false,
            ['^', rest @ ..] => here(rest, name),
            _ => (0..=name.len()).any(|skip| here(pattern, &name[skip..])),
        }
    }

    #[test]
    fn patterns_mean_what_the_naive_matcher_says() {
        let texts = |letters: &[char], longest: u32| -> Vec<Vec<char>> {
            let base = letters.len() as u32;
            let all = (0..=longest)
                .flat_map(|length| (0..base.pow(length)).map(move |code| (length, code)));
            let letter = |code: u32, at: u32| letters[(code / base.pow(at) % base) as usize];
            all.map(|(length, code)| (0..length).map(|at| letter(code, at)).collect()).collect()
        };
        let (names, mut counts) = (texts(&['a', 'b'], 5), [0; 2]);
        for middle in texts(&['a', 'b', '*'], 4) {
            for (start, end) in [("", ""), ("^", ""), ("", "$"), ("^", "$")] {
                let pattern: Vec<char> =
                    start.chars().chain(middle.iter().copied()).chain(end.chars()).collect();
                let text: String = pattern.iter().collect();
                for name in &names {
                    let expected = naive(&pattern, name);
                    let name: String = name.iter().collect();
                    assert_eq!(matches(&text, &name), expected, "{text} on {name}");
                    counts[usize::from(expected)] += 1;
                }
            }
        }
        assert!(counts.iter().all(|count| *count > 5_000), "{counts:?}");
    }

    fn finding(kind: Kind, category: &str, stacks: [&[&str]; 2]) -> Finding {
        let site = |stack: &[&str]| Site {
            stack: stack.iter().map(|text| (*text).to_owned()).collect(),
            ..Site::default()
        };
        let sites = stacks.map(site).into();
        Finding { category: Some(category.to_owned()), sites, ..Finding::new(kind) }
    }

    #[test]
    fn each_type_is_for_its_findings() {
        let stacks: [&[&str]; 2] =
            [&["a.c:3 in put", "main.c:9:2 in main"], &["lib/b.cc:7 in ns::get", "t.c:1 in run"]];
        let race = finding(Kind::Race, "multi_threaded", stacks);
        let freed = finding(Kind::OrderViolation, "use_after_free", stacks);
        let destroyed = finding(Kind::OrderViolation, "destroyed_lock", stacks);
        let deadlock = finding(Kind::Deadlock, "", stacks);
        let lost = finding(Kind::OrderViolation, "lost_signal", stacks);
        let unlocked = finding(Kind::Misuse, "bad_unlock", stacks);
        let leaked = finding(Kind::Misuse, "thread_leak", stacks);
        let unsafe_call = finding(Kind::Misuse, "unsafe_in_handler", stacks);
        let all = [race, freed, destroyed, deadlock, lost, unlocked, leaked, unsafe_call];
        for (text, expected) in [
            ("race:main", "111....."),
            ("race:^ns::*et$", "111....."),
            ("race:lib/b.cc", "111....."),
            ("race:nothing", "........"),
            ("race_top:main", "........"),
            ("race_top:ns::get", "111....."),
            ("deadlock:run", "...11..."),
            ("mutex:put", "..1..1.."),
            ("thread:run", "......1."),
            ("signal:run", ".......1"),
            ("called_from_lib:*", "........"),
        ] {
            let expected: Vec<bool> = expected.chars().map(|mark| mark == '1').collect();
            let suppressions = TsanSuppressions::parse("s.txt", text).expect(text);
            let mut findings = all.clone();
            let (counts, decided) = suppressions.apply(&mut findings, &|| false);
            let marks = findings.map(|finding| finding.suppressed.is_some());
            assert_eq!(marks.to_vec(), expected, "{text}");
            let marked = expected.iter().filter(|one| **one).count() as u64;
            assert_eq!((counts, decided), (vec![marked], 8), "{text}");
        }
    }

    #[test]
    fn libraries_variables_and_creations_match_too() {
        let mut race = finding(Kind::Race, "multi_threaded", [&["a.c:3 in put"], &["b.c:3 in f"]]);
        race.sites[1].frames = vec![Frame {
            function: "f".to_owned(),
            file: "/src/b.c".to_owned(),
            module: "/usr/lib/libodd.so.1".to_owned(),
        }];
        let related = |kind, text: &str, stack: &str| {
            let stack = [stack.to_owned()].into_iter().collect();
            let site = Site { stack, ..Site::default() };
            Related { kind, text: text.to_owned(), of: Vec::new(), site }
        };
        race.related = vec![
            related(RelatedKind::Memory, "global `table.size` of size 8", "x.c:1"),
            related(RelatedKind::Thread, "`T1`, created by `main`", "pool.c:8 in start_pool"),
            related(RelatedKind::Lock, "`m`, held by `T1`, was taken", "l.c:8 in take"),
        ];
        for (text, expected) in [
            ("called_from_lib:libodd.so", true),
            ("called_from_lib:b.c", false),
            ("race:libodd", true),
            ("race:^/src/", true),
            ("race:^table.size$", true),
            ("race:start_pool", true),
            ("race:take", false),
        ] {
            let suppressions = TsanSuppressions::parse("s.txt", text).expect(text);
            let mut findings = [race.clone()];
            suppressions.apply(&mut findings, &|| false);
            assert_eq!(findings[0].suppressed.is_some(), expected, "{text}");
        }
    }

    #[test]
    fn comments_are_skipped_and_mistakes_have_a_place() {
        let text = "# known\n\n  race:foo \r\n\t# more\nrace_top:b:c\n";
        let parsed = TsanSuppressions::parse("s", text).expect("well-formed").entries;
        let parsed: Vec<(u32, &str)> =
            parsed.iter().map(|one| (one.line, one.pattern.as_str())).collect();
        assert_eq!(parsed, [(3, "foo"), (5, "b:c")]);
        for (text, place, part) in [
            ("race:x\n  rice:y\n", (2, 3), "unknown type `rice`, expected one of `race:`,"),
            ("race\n", (1, 1), "with a pattern behind it"),
            (" deadlock: \n", (1, 11), "expected a pattern"),
            ("leak:x", (1, 1), "unknown type `leak`"),
        ] {
            let error = TsanSuppressions::parse("s", text).expect_err(text);
            assert_eq!((error.line, error.column), place, "{text}");
            assert!(error.message.contains(part), "{error}");
        }
    }
}
