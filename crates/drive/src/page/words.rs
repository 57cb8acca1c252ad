//! The events of a page and the parts of its outcomes, in the words of people who write pages.

use super::served::{Files, origin};
use crate::explore::{Effect, TaskWords};
use anyorder_common::numbers::plural;
use anyorder_finding::run::Differing;
use anyorder_finding::{Severity, Site};
use anyorder_system::{Failure, Level, TaskName};
use anyorder_web::{Actions, Store, Target, UserStep, UserStepKind};
use std::collections::BTreeSet;

/// The words of one page.
#[derive(Debug)]
pub(super) struct PageWords {
    pub(super) actions: Actions,
    pub(super) store: Store,
    pub(super) files: Files,
    pub(super) url: String,
}

/// The most effects that a title names.
const TITLE_EFFECTS: usize = 2;

/// How much of a changed text is shown, in characters.
const SHOWN_CHARS: usize = 80;

impl PageWords {
    fn step(&self, task: &TaskName) -> Option<&UserStep> {
        self.actions.steps().iter().find(|step| step.name == *task)
    }

    /// Returns where a task was asked for: the file and the line.
    fn asked(&self, task: &TaskName) -> Option<(String, u32)> {
        let (url, line) = self.store.origin(&task.to_string())?;
        Some((self.files.name(&url, &self.url), line))
    }

    /// Returns an event without its place.
    fn plain(&self, task: &TaskName) -> String {
        if let Some(step) = self.step(task) {
            return step_words(step);
        }
        let segment = task.segment();
        // A script in the page's own text.
        let label = match segment.label.strip_prefix("(page):") {
            Some(line) => {
                let name = self.files.name(&self.url, &self.url);
                &format!("{}:{line}", name.rsplit('/').next().unwrap_or_default())
            }
            None => &segment.label,
        };
        let one = |what: &str| match label.as_str() {
            "" => format!("the {}{what}", nth(segment.ordinal)),
            label => format!("the {}{what} `{label}`", nth(segment.ordinal)),
        };
        let of = |what: &str| format!("the {}{what} of `{label}`", nth(segment.ordinal));
        match segment.kind.as_str() {
            "load" => "the arrival of the document".to_owned(),
            "parse" => format!("the arrival of part {label} of the document"),
            "fetch" | "request" => of("response"),
            "beacon" => of("answer to the beacon"),
            "script" => one("script"),
            "style" => one("style sheet"),
            "image" => one("image"),
            "media" => one("media file"),
            "font" => one("font"),
            "frame_document" => one("frame"),
            "timeout" => of("timer"),
            "interval" => of("interval timer"),
            "frame" => of("animation frame"),
            "idle" => of("idle callback"),
            "posted" => of("posted task"),
            "animation" => format!("the {}end of the transition `{label}`", nth(segment.ordinal)),
            "database" => format!("the {}opening of the database `{label}`", nth(segment.ordinal)),
            "message" | "broadcast" => one("message"),
            "worker" => one("message of the worker"),
            "socket" => one("message of the socket"),
            "stream" => one("message of the event stream"),
            "leave" => format!("the way to `{label}`"),
            kind => one(kind),
        }
    }
}

/// Returns which of equal events it is, if it is not the first.
fn nth(ordinal: u32) -> String {
    match ordinal {
        0 => String::new(),
        1 => "second ".to_owned(),
        2 => "third ".to_owned(),
        more => format!("{}th ", u64::from(more) + 1),
    }
}

fn step_words(step: &UserStep) -> String {
    let on = |target: &Target| format!("`{}`", target.label());
    let nth = nth(step.name.segment().ordinal);
    match &step.kind {
        UserStepKind::Click(target) => format!("the {nth}click on {}", on(target)),
        UserStepKind::Type { into, text } => {
            format!("the {nth}typing of `{text}` into {}", on(into))
        }
        UserStepKind::Press(key) => format!("the {nth}press of `{key}`"),
        UserStepKind::Hover(target) => format!("the {nth}mouse move over {}", on(target)),
        UserStepKind::Scroll { target: Some(target), .. } => {
            format!("the {nth}scrolling of {}", on(target))
        }
        UserStepKind::Scroll { target: None, .. } => format!("the {nth}scrolling of the page"),
        UserStepKind::Drag { from, to } => {
            format!("the {nth}drag from {} to {}", on(from), on(to))
        }
        UserStepKind::Upload { into, .. } => format!("the {nth}upload into {}", on(into)),
        UserStepKind::Wait(target) => format!("the {nth}wait for {}", on(target)),
        UserStepKind::Navigate(url) => format!("the {nth}way to `{url}`"),
    }
}

/// What kind of difference it is. The worst is the first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Weight {
    /// An exception or an error in the console.
    Error,
    /// A request that is sent or not, or more often.
    Request,
    /// A value of a field.
    Field,
    /// What the page shows and stores.
    Page,
    /// The picture.
    Picture,
    /// Nothing that a user sees.
    Inner,
}

fn weight(effect: &Effect) -> Weight {
    let names = effect.path.names();
    match (effect.level, names.first().map(String::as_str)) {
        (Level::Failure, _) => Weight::Error,
        (Level::Request, _) => Weight::Request,
        (Level::Output, Some("fields")) => Weight::Field,
        (Level::Output, _) if names.get(1).is_some_and(|name| name == "pixels") => Weight::Picture,
        (Level::Output | Level::Persistent, _) => Weight::Page,
        (Level::Heap | Level::PendingTimers | Level::Bookkeeping, _) => Weight::Inner,
    }
}

/// Returns what a difference is about, without its values: a request without what it asks for and
/// sends.
fn kind(effect: &Effect) -> String {
    let [what, which] = effect.path.names() else { return effect.path.to_string() };
    match what.as_str() {
        "requests" | "sent" => {
            let words: Vec<&str> = which.split_whitespace().take(2).collect();
            let asked = words.join(" ");
            format!("{what} {}", asked.split('?').next().unwrap_or_default())
        }
        _ => format!("{what} {which}"),
    }
}

/// Returns a difference in words.
fn told(effect: &Effect) -> String {
    let names = effect.path.names();
    let name = |at: usize| names.get(at).map_or("", String::as_str);
    let (before, after) = (effect.before.as_deref(), effect.after.as_deref());
    let values = || {
        let (before, after) = changed(before.unwrap_or_default(), after.unwrap_or_default());
        format!("`{after}` instead of `{before}`")
    };
    let times = |what: &str, verb: &str| {
        let count = |text: Option<&str>| text.and_then(|text| text.parse().ok()).unwrap_or(0);
        let (before, after): (u64, u64) = (count(before), count(after));
        match (before, after) {
            (0, 1) => format!("{what} {verb}"),
            (1, 0) => format!("{what} not {verb}"),
            _ => format!("{what} {verb} {} instead of {before}", plural(after, "time")),
        }
    };
    match (name(0), name(1)) {
        ("errors", text) => times(&format!("exception `{}`", cut(text)), "thrown"),
        ("console", text) => times(&format!("console error `{}`", cut(text)), "written"),
        ("requests", text) => times(&format!("`{}`", cut(text)), "sent"),
        ("sent", text) => times(&format!("message `{}`", cut(text)), "sent"),
        ("refused", text) => times(&format!("`{}`", cut(text)), "asked for"),
        ("fields", field) => format!("the field `{field}` has {}", values()),
        ("local" | "session", key) => format!("stored `{key}` is {}", values()),
        ("page", "text") => shown(before.unwrap_or_default(), after.unwrap_or_default()),
        ("page", "pixels") => "the picture of the page differs".to_owned(),
        ("page", "html") => format!("the document has {}", values()),
        ("page", "cookies") => format!("the cookies are {}", values()),
        ("page", what) => format!("{what}: {}", values()),
        ("timers", timer) => match after {
            Some(_) => format!("the timer `{timer}` waits"),
            None => format!("the timer `{timer}` does not wait"),
        },
        (what, which) => format!("{what} `{which}` differs"),
    }
}

/// Returns what a page shows that differs.
fn shown(before: &str, after: &str) -> String {
    match changed(before, after) {
        (before, after) if before != after => {
            format!("the page shows `{after}` instead of `{before}`")
        }
        (same, _) if same.is_empty() => "the page shows its text in other lines".to_owned(),
        (same, _) => format!("the page shows `{same}` in another place"),
    }
}

/// Returns the parts of two texts in which they differ, with what is near, in one line each.
fn changed(before: &str, after: &str) -> (String, String) {
    let (a, b): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    // From the beginning of the word.
    let is_end = |c: &char| c.is_whitespace() || *c == '<';
    let from = a[..same].iter().rposition(is_end).map_or(0, |at| at + 1);
    let from = if same - from > SHOWN_CHARS / 2 { same } else { from };
    let end = a[from..].iter().rev().zip(b[from..].iter().rev()).take_while(|(a, b)| a == b);
    let end = end.count();
    let part = |all: &[char]| {
        let inner = &all[from..all.len() - end];
        // Up to the end of the word.
        let rest = all[all.len() - end..].iter().take(SHOWN_CHARS / 4);
        let word: String = rest.take_while(|c| !is_end(c)).collect();
        let text: String = inner.iter().collect::<String>() + &word;
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let begin = if from > 0 && !one_line.is_empty() { "… " } else { "" };
        format!("{begin}{}", cut(&one_line))
    };
    (part(&a), part(&b))
}

/// Returns the beginning of a text in one line.
fn cut(text: &str) -> String {
    let text =
        text.split(['\r', '\n']).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let mut cut: String = text.chars().take(SHOWN_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

impl TaskWords for PageWords {
    fn task(&self, task: &TaskName) -> String {
        let plain = self.plain(task);
        match self.asked(task).filter(|_| task.segment().kind == "fetch") {
            Some((file, line)) => {
                let file = file.rsplit('/').next().unwrap_or_default();
                format!("{plain} (fetch at {file}:{line})")
            }
            None => plain,
        }
    }

    fn pair(&self, first: &TaskName, second: &TaskName) -> [String; 2] {
        let both = [self.task(first), self.task(second)];
        if both[0] != both[1] {
            return both;
        }
        let with_cause = |(task, words): (&TaskName, String)| match task.creator() {
            Some(creator) => format!("{words}, caused by {}", self.plain(creator)),
            None => words,
        };
        let [one, other] = both;
        [(first, one), (second, other)].map(with_cause)
    }

    fn full(&self, task: &TaskName) -> String {
        let cause = task.creator().filter(|creator| creator.segment().kind != "load");
        match cause {
            Some(cause) => format!("{}, caused by {}", self.task(task), self.plain(cause)),
            None => self.task(task),
        }
    }

    fn name(&self, task: &TaskName) -> String {
        self.full(task).replace('`', "")
    }

    fn entry(&self, task: &TaskName) -> String {
        let words = self.plain(task).replace('`', "");
        words.strip_prefix("the ").map_or(words.clone(), str::to_owned)
    }

    /// What the parser does to the tree says little.
    fn lists(&self, location: &str) -> bool {
        let (_, location) = frame_of(location);
        let is_inner = [".parent", ".children", ".data"].iter().any(|end| location.ends_with(end));
        let is_lookup = location.strip_prefix("document.").is_some_and(|rest| {
            rest.starts_with(['*', '<', '[', '#', '.']) || rest == "activeElement"
        });
        !is_inner && !is_lookup && !location.starts_with("#text")
    }

    fn is_input(&self, task: &TaskName) -> bool {
        self.step(task).is_some()
    }

    /// What a user sees and what has a name comes before numbered elements, and these before
    /// objects of scripts, most of which belong to libraries.
    fn rank(&self, location: &str) -> u8 {
        let (_, location) = frame_of(location);
        let name = location.split(['[', '#', '.', ':']).next().unwrap_or_default();
        let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-';
        let is_element = !name.is_empty() && name.chars().all(is_capital);
        match location.contains('#') {
            true if location.starts_with("scope@") || is_element => 1,
            true => 2,
            false => 0,
        }
    }

    fn site(&self, task: &TaskName) -> Option<Site> {
        let (file, line) = self.asked(task)?;
        Some(Site { file: Some(file), line: Some(line), ..Site::default() })
    }

    fn effects(&self, effects: &[Effect]) -> Option<String> {
        let mut seen: Vec<&Effect> =
            effects.iter().filter(|effect| weight(effect) != Weight::Inner).collect();
        seen.sort_by_key(|effect| weight(effect));
        // The picture is named if nothing else says what differs.
        if seen.len() > 1 {
            seen.retain(|effect| weight(effect) != Weight::Picture);
        }
        let more = seen.len().saturating_sub(TITLE_EFFECTS);
        let words: Vec<String> = seen.iter().take(TITLE_EFFECTS).map(|one| told(one)).collect();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        (!words.is_empty()).then(|| words.join(", ") + &more)
    }

    fn differing(&self, effect: &Effect) -> Option<Differing> {
        let names = effect.path.names();
        let weight = weight(effect);
        let path = match names {
            [what, which] if what == "page" => which.clone(),
            [what, which] => format!("{} {which}", what.trim_end_matches('s')),
            _ => effect.path.to_string(),
        };
        let (before, after) = match weight {
            Weight::Inner => return None,
            Weight::Picture => (Some("a picture".to_owned()), Some("another one".to_owned())),
            _ => {
                let text = |side: &Option<String>| side.clone().unwrap_or_default();
                let (before, after) = changed(&text(&effect.before), &text(&effect.after));
                (effect.before.is_some().then_some(before), effect.after.is_some().then_some(after))
            }
        };
        Some(Differing { path, level: effect.level.word().to_owned(), before, after })
    }

    fn effect(&self, effect: &Effect) -> Option<String> {
        Some(told(effect))
    }

    fn failure(&self, failure: &Failure) -> Option<String> {
        Some(format!("uncaught exception: {}", failure.message))
    }

    /// The place of the exception.
    fn failure_site(&self, failure: &Failure) -> Option<Site> {
        let site = failure.site.as_ref()?;
        let url = format!("{}{}", origin(&self.url), site.file);
        let file = Some(self.files.name(&url, &self.url));
        Some(Site { file, line: Some(site.line), column: Some(site.column), ..Site::default() })
    }

    fn severity(&self, effects: &[Effect]) -> Severity {
        match effects.iter().map(weight).min() {
            Some(Weight::Error | Weight::Request) => Severity::Error,
            Some(Weight::Field | Weight::Page) | None => Severity::Warning,
            Some(Weight::Picture | Weight::Inner) => Severity::Note,
        }
    }

    fn effect_kind(&self, effects: &[Effect]) -> Option<String> {
        let seen = |least: Weight| effects.iter().filter(move |effect| weight(effect) < least);
        let visible: BTreeSet<String> = seen(Weight::Picture).map(kind).collect();
        let pictures = if seen(Weight::Inner).next().is_some() { "picture" } else { "" };
        let kinds: Vec<String> = visible.into_iter().collect();
        Some(if kinds.is_empty() { pictures.to_owned() } else { kinds.join("\n") })
    }

    /// A request that a page gives up in one order is often written to the console as an error,
    /// and nothing else comes of it.
    /// A response that ends a timer, and a timer that gives the request up: its time limit.
    fn excuse(&self, odd: &[&TaskName]) -> Option<&'static str> {
        let is = |kind: &str| odd.iter().any(|task| task.segment().kind == kind);
        (is("timeout") && (is("fetch") || is("request"))).then_some("request_timeout")
    }

    fn harmless_class(&self, effects: &[Effect], odd: &[&TaskName]) -> Option<&'static str> {
        let is_written = |effect: &Effect| {
            effect.path.names().first().is_some_and(|name| name == "console")
                || weight(effect) == Weight::Inner
        };
        let is_response = |task: &&TaskName| task.segment().kind == "fetch";
        let aborted = odd.iter().any(is_response) && effects.iter().all(is_written);
        aborted.then_some("aborted_request")
    }

    fn unreported(&self) -> &'static str {
        "what they share was not seen: it may be in code that is not rewritten, or in the browser"
    }
}

/// Splits the frame or worker from a location; it is empty for the page's own frame.
fn frame_of(location: &str) -> (&str, &str) {
    match location.split_once('>') {
        Some((frame, rest)) if frame.starts_with("frame ") || frame.starts_with("worker ") => {
            (frame, rest)
        }
        _ => ("", location),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_system::PartPath;
    use anyorder_web::parse_actions;

    fn words() -> PageWords {
        let steps = r##"{"steps": [{"type": {"into": "#q", "text": "a"}}, {"click": "#go"}, {"click": "#go"}]}"##;
        PageWords {
            actions: parse_actions(steps).expect("steps"),
            store: Store::new(Box::new(())),
            files: Files::default(),
            url: "http://localhost/".to_owned(),
        }
    }

    fn effect(path: [&str; 2], level: Level, before: &str, after: &str) -> Effect {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Effect { path: PartPath::new(path), level, before: text(before), after: text(after) }
    }

    #[test]
    fn events_have_the_words_of_pages() {
        let words = words();
        let told = |name: &str| words.task(&name.parse().expect("a name"));
        assert_eq!(told("click@%23go#1"), "the second click on `#go`");
        assert_eq!(told("type@%23q%20a"), "the typing of `a` into `#q`");
        assert_eq!(told("load/fetch@%2Fa?b=c"), "the response of `/a?b=c`");
        assert_eq!(told("load/timeout@app.js:3"), "the timer of `app.js:3`");
        let name = |text: &str| text.parse::<TaskName>().expect("a name");
        let pair = words.pair(&name("click@%23go/fetch@x"), &name("click@%23go#1/fetch@x"));
        assert_eq!(pair[1], "the response of `x`, caused by the second click on `#go`");
        assert_eq!(words.entry(&name("load")), "arrival of the document");
    }

    #[test]
    fn the_worst_effect_comes_first() {
        let words = words();
        let pixels = effect(["page", "pixels"], Level::Output, "1", "2");
        let text = effect(["page", "text"], Level::Output, "a list of apples", "a list of pears");
        let sent = effect(["requests", "POST /x"], Level::Request, "1", "2");
        let all = [pixels.clone(), text.clone(), sent];
        let told = words.effects(&all).expect("words");
        let expected =
            "`POST /x` sent 2 times instead of 1, the page shows `… pears` instead of `… apples`";
        assert_eq!(told, expected);
        assert_eq!(words.severity(&all), Severity::Error);
        assert_eq!(words.severity(&[text, pixels.clone()]), Severity::Warning);
        assert_eq!(words.severity(std::slice::from_ref(&pixels)), Severity::Note);
        assert_eq!(words.effects(&[pixels]).as_deref(), Some("the picture of the page differs"));
    }

    #[test]
    fn differences_of_one_kind_have_other_values() {
        let words = words();
        let text = |after: &str| effect(["page", "text"], Level::Output, "a", after);
        let sent = |what: &str| effect(["requests", what], Level::Request, "1", "2");
        let pixels = effect(["page", "pixels"], Level::Output, "1", "2");
        let of = |effects: &[Effect]| words.effect_kind(effects).expect("a kind");
        assert_eq!(of(&[text("b"), pixels.clone()]), of(&[text("c")]));
        assert_eq!(of(&[sent("GET /a?b=c")]), of(&[sent("GET /a?b=d body of it")]));
        assert_ne!(of(&[sent("GET /a")]), of(&[sent("POST /a")]));
        assert_ne!(of(&[text("b")]), of(&[sent("GET /a")]));
        assert_ne!(of(&[pixels]), of(&[]));
    }

    #[test]
    fn what_is_only_written_about_a_request_that_is_given_up_does_no_harm() {
        let words = words();
        let written = effect(["console", "AbortError"], Level::Failure, "", "1");
        let inner = effect(["page", "html"], Level::Bookkeeping, "<a>", "<b>");
        let shown = effect(["page", "text"], Level::Output, "a", "b");
        let (click, load) = (TaskName::root("click"), TaskName::root("load"));
        let (response, timer) = (click.child("fetch"), click.child("timeout"));
        let class = |effects: &[Effect], odd: &[&TaskName]| words.harmless_class(effects, odd);
        let both = [written.clone(), inner];
        assert_eq!(class(&both, &[&response]), Some("aborted_request"));
        assert_eq!(class(&both, &[]), None, "it came in both");
        assert_eq!(class(&both, &[&timer, &load]), None, "no response");
        assert_eq!(words.excuse(&[&timer, &response]), Some("request_timeout"));
        assert_eq!(words.excuse(&[&response]), None);
        assert_eq!(class(&[written, shown], &[&response]), None, "the page shows it");
    }

    #[test]
    fn what_a_user_sees_is_named_before_the_objects_of_libraries() {
        let words = words();
        let rank = |location: &str| words.rank(location);
        for location in [
            "SELECT[city].value",
            "global.items",
            "handler:BUTTON[add]:click",
            "frame a/0>global.items",
        ] {
            assert_eq!(rank(location), 0, "{location}");
        }
        for location in ["LI#load:6.textContent", "frame 1>scope@a.js:3:1#load:2.x"] {
            assert_eq!(rank(location), 1, "{location}");
        }
        for location in ["Proxy#load:305.count", "Set#load/script@a.js:52.get(x)"] {
            assert_eq!(rank(location), 2, "{location}");
        }
    }

    #[test]
    fn words_that_moved_are_said_to_be_in_another_place() {
        let told = |before: &str, after: &str| shown(before, after);
        assert_eq!(told("a b", "a c"), "the page shows `… c` instead of `… b`");
        assert_eq!(
            told("To do\nPaint\n\nDone", "To do\n\nPaint\nDone"),
            "the page shows `… Paint` in another place"
        );
        assert_eq!(told("\n", ""), "the page shows its text in other lines");
    }

    #[test]
    fn any_two_texts_can_be_compared() {
        let texts = ["", "a", "ab", "b a", "a b a", "aa", "é é", " ", "<b>x</b>", "x\ny"];
        for before in texts {
            for after in texts {
                let (one, other) = changed(before, after);
                assert!(
                    before == after
                        || one != other
                        || before.trim() == after.trim()
                        || before.split_whitespace().eq(after.split_whitespace()),
                    "{before:?} {after:?}"
                );
            }
        }
    }
}
