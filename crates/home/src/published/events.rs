//! Which events the published tool simulates: it looks for words in the texts of the apps.
//!
//! The text is cut into words, without regard to comments and strings. A subscription gives an
//! event by its second argument in double quotes; one to `app` or `location` by its first. An event
//! is not repeated, unless its device has a capability that no earlier event had. A call of
//! `schedule` gives an event if it is the first of `installed` or `initialize`.

use super::table::Table;
use std::collections::{BTreeMap, BTreeSet};

/// What the tool reads of an app by its words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Words {
    /// The names that become fields with methods.
    pub(super) methods: Vec<String>,
}

/// A choice in each state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// An event of a device: its place among the devices of the table, its name and value.
    Device(usize, String, String),
    Location(String, String),
    Touch(String, String),
    /// A scheduled method of an app.
    Scheduled(usize, String),
    /// Nothing happens.
    Nothing,
}

/// Why the tool makes no events of the apps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoEvents {
    /// A word that ends a search is not there.
    End,
    /// A subscription to something that is no input.
    NoInput(String),
    /// A subscription to an event that the tool does not know for this device.
    Unknown(String),
}

struct Reader<'t> {
    letters: std::str::Chars<'t>,
    /// The letter that ended the last word.
    kept: Option<char>,
    is_done: bool,
}

const SPECIAL: &[char] = &['(', '"', ':', ',', '{', '}', ')', '/', '*'];

const END: &str = "EOF";

impl Reader<'_> {
    fn word(&mut self) -> String {
        if let Some(kept) = self.kept.take() {
            return kept.to_string();
        }
        let mut word = String::new();
        loop {
            match self.letters.next() {
                // The last word is lost.
                None => {
                    self.is_done = true;
                    return END.to_owned();
                }
                Some(letter) if SPECIAL.contains(&letter) => {
                    if word.is_empty() {
                        return letter.to_string();
                    }
                    self.kept = Some(letter);
                    return word;
                }
                Some('\n' | '\t' | ' ') if word.is_empty() => {}
                Some('\n' | '\t' | ' ') => return word,
                Some(letter) => word.push(letter),
            }
        }
    }

    fn until(&mut self, mut word: String, ends: &[&str]) -> Result<String, NoEvents> {
        while !ends.contains(&&*word) {
            if self.is_done {
                return Err(NoEvents::End);
            }
            word = self.word();
        }
        Ok(word)
    }
}

/// What is known after the apps read so far.
#[derive(Default)]
struct Found {
    /// The event and the app of each.
    events: Vec<(String, usize)>,
    /// The inputs, or methods, of events.
    variables: BTreeMap<String, Vec<String>>,
    types: BTreeMap<String, String>,
    seen: BTreeSet<String>,
}

/// Events of the whole home, which no device has.
const GLOBAL: &[&str] = &[
    "app",
    "location",
    "position",
    "mode",
    "mode.away",
    "mode.home",
    "mode.night",
    "sunset",
    "sunrise",
    "sunsetTime",
    "sunriseTime",
];

/// Reads the texts of apps, in their order: what each has, and the choices in each state.
pub(super) fn read(table: &Table, texts: &[&str]) -> Result<(Vec<Words>, Vec<Choice>), NoEvents> {
    let mut found = Found::default();
    let mut words = vec![];
    for (app, text) in texts.iter().enumerate() {
        // A file is read with one kind of line end.
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        words.push(app_words(&text, app, &mut found)?);
    }
    let choices = choices(table, &found)?;
    Ok((words, choices))
}

fn app_words(text: &str, app: usize, found: &mut Found) -> Result<Words, NoEvents> {
    let mut reader = Reader { letters: text.chars(), kept: None, is_done: false };
    let mut words = Words::default();
    let mut word = reader.word();
    while word != END {
        if matches!(&*word, "def" | "private") {
            word = reader.word();
            if matches!(&*word, "def" | "private") {
                word = reader.word();
            }
            if reader.word() == "(" {
                words.methods.push(word.clone());
            }
        }
        if matches!(&*word, "initialize" | "installed") {
            reader.word();
            reader.word();
            word = reader.word();
            if word == "schedule" {
                reader.until(word, &[","])?;
                word = reader.word();
                if word == "\"" {
                    word = reader.word();
                }
                found.events.push(("schedule".to_owned(), app));
                found.variables.entry("schedule".to_owned()).or_default().push(word.clone());
            }
        }
        if word == "input" {
            reader.until(word, &["\""])?;
            let variable = reader.word();
            reader.word();
            let next = reader.word();
            reader.until(next, &["\""])?;
            word = reader.word();
            found.types.insert(variable, word.clone());
        }
        if word == "subscribe" {
            word = subscription(&mut reader, app, found)?;
            if word == "unlock" {
                continue;
            }
        }
        if word == "capability" {
            reader.word();
            reader.word();
        }
        word = reader.word();
    }
    Ok(words)
}

fn subscription(
    reader: &mut Reader<'_>,
    app: usize,
    found: &mut Found,
) -> Result<String, NoEvents> {
    let mut word = reader.word();
    if word == "(" {
        word = reader.word();
    }
    let variable = word.clone();
    word = reader.until(word, &["\"", "app", "location"])?;
    if word == "location" {
        reader.word();
        word = reader.word();
        word = if word == "\"" { reader.word() } else { "location".to_owned() };
    }
    if word == "\"" {
        word = reader.word();
    }
    let is_known = found.events.iter().any(|(event, _)| *event == word);
    if word == "unlock" {
    } else if GLOBAL.contains(&&*word) {
        if !is_known {
            found.events.push((word.clone(), app));
        }
    } else {
        let kind = found.types.get(&variable);
        if !is_known || kind.is_some_and(|kind| !found.seen.contains(kind)) {
            let kind = kind.ok_or_else(|| NoEvents::NoInput(variable.clone()))?.clone();
            found.seen.insert(kind);
            found.events.push((word.clone(), app));
            found.variables.entry(word.clone()).or_default().push(variable);
        }
    }
    Ok(word)
}

/// Returns the choices: the events of the two apps by turns.
fn choices(table: &Table, found: &Found) -> Result<Vec<Choice>, NoEvents> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut all = vec![];
    for (event, app) in by_turns(&found.events) {
        let variables = found.variables.get(event).map_or(&[][..], Vec::as_slice);
        if event == "schedule" {
            let at = counts.entry(event).or_default();
            all.extend(variables.get(*at).map(|one| Choice::Scheduled(app, one.clone())));
            *at += 1;
            continue;
        }
        let simulated = match table.events.get(event) {
            Some(list) => list,
            None => {
                let at = counts.entry(event).or_default();
                let kind = variables.get(*at).and_then(|one| found.types.get(one));
                *at += 1;
                let device = kind.and_then(|kind| table.of_input(kind));
                let key = device.map(|at| format!("{event}@{}", table.devices[at].key));
                let list = key.and_then(|key| table.events.get(&key));
                list.ok_or_else(|| NoEvents::Unknown(event.to_owned()))?
            }
        };
        all.extend(simulated.iter().map(|one| {
            let (name, value) = (one.name.clone(), one.value.clone());
            match &*one.device {
                "app" => Choice::Touch(name, value),
                "location" => Choice::Location(name, value),
                key => Choice::Device(table.of_key(key).unwrap_or(usize::MAX), name, value),
            }
        }));
    }
    if all.len() == 1 {
        all.push(Choice::Nothing);
    }
    Ok(all)
}

/// Returns the events of the first app and of the others by turns.
fn by_turns(events: &[(String, usize)]) -> Vec<(&str, usize)> {
    let (first, others): (Vec<_>, Vec<_>) = events.iter().partition(|(_, app)| *app == 0);
    let (mut first, mut others) = (first.into_iter(), others.into_iter());
    let mut all = vec![];
    loop {
        let (one, other) = (first.next(), others.next());
        if one.is_none() && other.is_none() {
            return all;
        }
        all.extend(one.into_iter().chain(other).map(|(event, app)| (event.as_str(), *app)));
    }
}
