//! Smart-home apps as a [`Model`]: the program of a home, and what is missing in it.

use crate::failure::{Failure, Mistake, ModelMistakes, Unusable};
use crate::model::{Model, check_model_watched};
use crate::states::{CheckOptions, Watcher};
use crate::{JobControl, JobResult, Reported};
use anyorder_common::text::escape_lines;
use anyorder_finding::{Finding, Warning, WarningKind, option};
use anyorder_home::app::{App, AppError};
use anyorder_home::capability::Capabilities;
use anyorder_home::config::{self, Configuration};
use anyorder_home::lower::{self, Order};
use anyorder_home::rules::Rule;
use anyorder_home::unfold::{Note, NoteKind};
use anyorder_system::{Hash128, ProgramIdentity};
use std::collections::BTreeMap;
use std::path::Path;

/// The largest app that is read, in bytes.
pub const APP_BYTES_MAX: u64 = 4 << 20;

/// The most places listed for one warning.
const PLACES_MAX: usize = 5;

/// How apps become a model.
#[derive(Clone, Debug, Default)]
pub struct HomeOptions {
    /// By the rules of the published tool: timers end at once, and the last app hears first.
    pub as_published: bool,
    /// With the rules about states that no app should bring about. A search does not go beyond a
    /// breach, so what comes after it is only found without them.
    pub with_rules: bool,
}

/// The apps of a home as a model.
#[derive(Debug)]
pub struct HomeModel {
    /// The model.
    pub model: Model,
    /// Whether a rule can be broken in it.
    pub has_rules: bool,
    /// The files of apps that only read.
    readers: Vec<String>,
    notes: Vec<Note>,
    /// The number of handlers with an event.
    pub handlers: usize,
    /// The number of their executions.
    pub executions: usize,
}

/// Returns whether a file is an app, by its name: Groovy has no first word.
#[must_use]
pub fn is_app(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "groovy")
}

impl HomeModel {
    /// Makes the model of apps, each with the name of its file and its text. All apps share one
    /// device for each capability.
    ///
    /// # Errors
    ///
    /// Fails if a text is no app.
    pub fn new(apps: &[(String, String)], options: &HomeOptions) -> Result<HomeModel, Failure> {
        HomeModel::watched(apps, options, &|| false)
    }

    /// Makes the model of apps until `stop` is true.
    fn watched(
        apps: &[(String, String)],
        options: &HomeOptions,
        stop: &dyn Fn() -> bool,
    ) -> Result<HomeModel, Failure> {
        let read = |(file, text): &(String, String)| {
            App::read(file, text).map_err(|why| refused(file, why))
        };
        let mut read: Vec<App> = apps.iter().map(read).collect::<Result<_, _>>()?;
        let table = Capabilities::built_in();
        let mut home = config::shared(&read, &table);
        let name = read.iter().map(|app| app.name.clone()).collect::<Vec<_>>().join(" + ");
        let mut readers = vec![];
        if !options.as_published {
            readers = home.take_readers(&mut read).into_iter().map(|app| app.file).collect();
        }
        let rules = if options.with_rules { applicable(&home) } else { vec![] };
        let marked = if rules.is_empty() { "" } else { "with rules" };
        let has_rules = !rules.is_empty();
        let is_strict = options.as_published;
        let lowering = lower::Options {
            is_immediate: is_strict,
            order: if is_strict { Order::LastFirst } else { Order::Any },
            rules,
            is_whole: is_strict,
            ..lower::Options::default()
        };
        let files: Vec<&str> = apps.iter().map(|(file, _)| &**file).collect();
        let texts: String = apps.iter().map(|(_, text)| &**text).collect();
        let identity = ProgramIdentity {
            name: files.join(" + "),
            version: String::new(),
            hash: Some(Hash128::of((texts + marked).as_bytes())),
        };
        let made = lower::program_watched(&name, &read, &home, &lowering, stop)
            .map_err(|error| Failure::input(&identity.name, Unusable::Program(error)))?;
        let model = Model::from_program(made.program, identity, vec![])?;
        let (notes, handlers, executions) = (made.notes, made.handlers, made.executions);
        Ok(HomeModel { model, has_rules, readers, notes, handlers, executions })
    }

    /// Adds to a result what was not understood or is coarser than the apps. A part that was not
    /// understood makes the result incomplete.
    pub fn explain(&self, result: &mut JobResult) {
        for file in &self.readers {
            let text = "it only reads: it sets no attribute and no mode, so no search needs it";
            result.warnings.push(Warning::new(WarningKind::Odd, file, text, 1));
        }
        let mut texts: BTreeMap<(NoteKind, &str), Vec<String>> = BTreeMap::new();
        for note in &self.notes {
            let place = format!("{}:{}:{}", note.file, note.line, note.column);
            texts.entry((note.kind, &note.text)).or_default().push(place);
        }
        for ((kind, text), mut places) in texts {
            let count = places.len() as u64;
            let first = places.first().cloned().unwrap_or_default();
            places.truncate(PLACES_MAX);
            let (word, lost) = match kind {
                NoteKind::NotUnderstood => ("not understood", true),
                NoteKind::Limit => ("cut", true),
                NoteKind::Approximated => ("approximated", false),
            };
            let file = first.rsplitn(3, ':').last().unwrap_or_default().to_owned();
            let text = format!("{word}: {}", escape_lines(text));
            let warning = Warning::new(WarningKind::Ignored, &file, text, count);
            result.warnings.push(Warning { places, ..warning });
            if lost && !result.limits.contains(&option::NOT_UNDERSTOOD) {
                result.cut_by(option::NOT_UNDERSTOOD);
            }
        }
    }
}

/// Returns the rules about what the home has.
fn applicable(home: &Configuration) -> Vec<Rule> {
    let has = |attribute: &String| {
        attribute == "mode"
            || home.devices.iter().any(|device| device.attributes.contains_key(attribute))
    };
    let mut rules = Rule::built_in();
    rules.retain(|rule| rule.never.iter().all(|(attribute, _)| has(attribute)));
    rules
}

/// Checks the apps of a home: for conflicts and loops, and again for broken rules.
///
/// # Errors
///
/// Fails if a text is no app, and as [`check_model_watched`].
pub fn check_home(
    apps: &[(String, String)],
    options: &HomeOptions,
    search: &CheckOptions,
    control: &JobControl<'_>,
    watcher: &mut dyn Watcher,
) -> Result<JobResult, Failure> {
    let stop = || control.check().is_err();
    let without = HomeOptions { with_rules: false, ..options.clone() };
    let home = HomeModel::watched(apps, &without, &stop)?;
    let mut result = check_model_watched(&home.model, search, control, watcher)?.result;
    home.explain(&mut result);
    if options.as_published || control.check().is_err() {
        return Ok(result);
    }
    let with = HomeOptions { with_rules: true, ..options.clone() };
    let ruled = HomeModel::watched(apps, &with, &stop)?;
    if ruled.has_rules {
        let mut again = check_model_watched(&ruled.model, search, control, watcher)?.result;
        // What both find is shown once, as the first finds it.
        let known = std::mem::take(&mut result.findings);
        let is_known = |one: &Reported| {
            let new = &one.finding;
            let same = |old: &Finding| old.kind == new.kind && old.title == new.title;
            known.iter().any(|old| same(&old.finding))
        };
        again.findings.retain(|one| !is_known(one));
        let more = std::mem::take(&mut again.findings);
        result.absorb(again);
        result.findings = known.into_iter().chain(more).collect();
    }
    Ok(result)
}

fn refused(file: &str, why: AppError) -> Failure {
    match why {
        AppError::Syntax { file, at, message } => {
            let plain = format!("error: {file}:{}:{}: {message}\n", at.line, at.column);
            let (line, column, coloured) = (at.line, at.column, plain.clone());
            let one = Mistake { code: "groovy", message, line, column, plain, coloured };
            Failure::Model(ModelMistakes { name: file, list: vec![one], more: 0 })
        }
        why @ AppError::NoApp(_) => Failure::input(file, Unusable::App(why.to_string())),
    }
}
