//! Smart-home apps as a [`Model`]: the program of a home, and what is missing in it.

use crate::failure::{Failure, Mistake, ModelMistakes, Unusable};
use crate::model::{Model, check_model_watched};
use crate::states::{Algorithm, CheckOptions, Watcher};
use crate::{JobControl, JobResult, Reported};
use anyorder_common::text::escape_lines;
use anyorder_finding::{CheckedHome, Finding, Kind, Usage, Warning, WarningKind, option};
use anyorder_home::app::{App, AppError};
use anyorder_home::capability::Capabilities;
use anyorder_home::config::{self, Configuration};
use anyorder_home::lower::{self, AttributeUse, Order, Unfolded};
use anyorder_home::rules::Rule;
pub use anyorder_home::unfold::Memo;
use anyorder_home::unfold::{Note, NoteKind};
use anyorder_system::{Hash128, ProgramIdentity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The largest app that is read, in bytes.
pub const APP_BYTES_MAX: u64 = 4 << 20;

/// The states of the first searches of a pair.
const FEW_STATES: [u64; 2] = [1_000, 10_000];

/// The most places listed for one warning.
const PLACES_MAX: usize = 5;

/// How apps become a model.
#[derive(Clone, Debug, Default)]
pub struct HomeOptions {
    /// By the rules of the published tool: timers end at once, and the last app hears first.
    pub as_published: bool,
    /// Events of commands wait in the queue of the hub, as on Hubitat; else they run at once.
    pub is_queued: bool,
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

/// Apps that are read once and checked in several homes. All share one device for each capability.
///
/// It is made for one thread; those of several threads can share a [`Memo`].
#[derive(Debug)]
pub struct Household<'m> {
    apps: Vec<App>,
    texts: Vec<String>,
    home: Configuration,
    options: HomeOptions,
    memo: Option<&'m Memo>,
}

/// A home that is unfolded, for several questions.
struct Opened<'a> {
    unfolded: Unfolded<'a>,
    name: String,
    identity: ProgramIdentity,
    texts: String,
    readers: Vec<String>,
    lowering: lower::Options,
}

impl<'m> Household<'m> {
    /// Reads apps, each with the name of its file and its text.
    ///
    /// # Errors
    ///
    /// Fails if a text is no app.
    pub fn new(
        apps: &[(String, String)],
        options: &HomeOptions,
        memo: Option<&'m Memo>,
        stop: &dyn Fn() -> bool,
    ) -> Result<Household<'m>, Failure> {
        let read = |(file, text): &(String, String)| {
            App::read_watched(file, text, stop).map_err(|why| refused(file, why))
        };
        let texts = apps.iter().map(|(_, text)| text.clone()).collect();
        let apps: Vec<App> = apps.iter().map(read).collect::<Result<_, _>>()?;
        let home = config::shared_watched(&apps, &Capabilities::built_in(), stop);
        Ok(Household { apps, texts, home, options: options.clone(), memo })
    }

    /// Checks a home with these of the apps, by their numbers: for conflicts and loops, and again
    /// for broken rules.
    ///
    /// # Errors
    ///
    /// As [`check_model_watched`].
    pub fn check(
        &self,
        apps: &[usize],
        search: &CheckOptions,
        control: &JobControl<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<JobResult, Failure> {
        self.check_in_rounds(apps, &[], search, control, watcher)
    }

    /// Checks a home as [`Household::check`], with few states first: if each attribute that apps
    /// may fight over is in conflict there, and nothing else is asked, more find nothing new.
    ///
    /// # Errors
    ///
    /// As [`check_model_watched`].
    pub fn check_pair(
        &self,
        pair: [usize; 2],
        search: &CheckOptions,
        control: &JobControl<'_>,
    ) -> Result<JobResult, Failure> {
        self.check_in_rounds(&pair, &FEW_STATES, search, control, &mut ())
    }

    fn check_in_rounds(
        &self,
        apps: &[usize],
        rounds: &[u64],
        search: &CheckOptions,
        control: &JobControl<'_>,
        watcher: &mut dyn Watcher,
    ) -> Result<JobResult, Failure> {
        let stop = || control.check().is_err();
        if self.options.as_published && search.algorithm == Some(Algorithm::Full) {
            let text_of = |app: &usize| (self.apps[*app].file.clone(), self.texts[*app].clone());
            let texts: Vec<(String, String)> = apps.iter().map(text_of).collect();
            let result = crate::published::check(&texts, search, control, watcher)?;
            return Ok(self.named(apps, result));
        }
        let (home, readers) = self.of(apps);
        let opened = self.open(apps, &home, readers, &stop);
        let first = opened.model(&home, false)?;
        let contested = opened.unfolded.contested();
        let most = search.states_max.unwrap_or(u64::MAX);
        let mut found = None;
        for few in rounds.iter().filter(|few| **few < most) {
            let search = CheckOptions { states_max: Some(*few), ..search.clone() };
            let mut result = check_model_watched(&first.model, &search, control, &mut ())?.result;
            let is_cut = result.limits.contains(&option::MAX_STATES);
            if !is_cut || contested.as_ref().is_some_and(|all| all.is_subset(&fought(&result))) {
                result.limits.retain(|limit| *limit != option::MAX_STATES);
                found = Some(result);
                break;
            }
        }
        let mut result = match found {
            Some(result) => result,
            None => check_model_watched(&first.model, search, control, watcher)?.result,
        };
        first.explain(&mut result);
        result.usages = self.usages(&opened);
        if self.options.as_published || stop() {
            return Ok(self.named(apps, result));
        }
        let ruled = opened.model(&home, true)?;
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
        Ok(self.named(apps, result))
    }

    /// Adds which home a result is about.
    fn named(&self, apps: &[usize], mut result: JobResult) -> JobResult {
        let complete = result.limits.is_empty() && !result.open;
        let limits = result.limits.iter().map(|limit| limit.word().to_owned()).collect();
        let automations = apps.iter().map(|app| self.apps[*app].file.clone()).collect();
        result.homes = vec![CheckedHome { automations, complete, limits }];
        result
    }

    fn usages(&self, opened: &Opened<'_>) -> Vec<Usage> {
        let usage = |((app, attribute), one): ((usize, String), AttributeUse)| Usage {
            automation: self.apps[app].file.clone(),
            attribute,
            writes: one.writes.into_iter().collect(),
            reads: one.reads,
            hears: one.hears,
        };
        opened.unfolded.uses().into_iter().map(usage).collect()
    }

    /// Returns the home with these of the apps, and the files of those that only read.
    fn of(&self, apps: &[usize]) -> (Configuration, Vec<String>) {
        let mut home = self.home.with_only(apps);
        let mut readers = vec![];
        if !self.options.as_published {
            readers = home.take_readers(&self.apps);
        }
        (home, readers.into_iter().map(|app| self.apps[app].file.clone()).collect())
    }

    fn open<'a>(
        &'a self,
        apps: &[usize],
        home: &'a Configuration,
        readers: Vec<String>,
        stop: &dyn Fn() -> bool,
    ) -> Opened<'a> {
        let is_strict = self.options.as_published;
        let lowering = lower::Options {
            is_immediate: is_strict,
            order: if is_strict { Order::LastFirst } else { Order::Any },
            is_whole: is_strict,
            is_queued: self.options.is_queued,
            ..lower::Options::default()
        };
        let names: Vec<&str> = home.installed.iter().map(|app| &*self.apps[*app].name).collect();
        let files: Vec<&str> = apps.iter().map(|app| &*self.apps[*app].file).collect();
        let texts: String = apps.iter().map(|app| &*self.texts[*app]).collect();
        let identity =
            ProgramIdentity { name: files.join(" + "), version: String::new(), hash: None };
        let unfolded = Unfolded::new(&self.apps, home, &lowering, self.memo, stop);
        Opened { unfolded, name: names.join(" + "), identity, texts, readers, lowering }
    }
}

impl Opened<'_> {
    fn model(&self, home: &Configuration, with_rules: bool) -> Result<HomeModel, Failure> {
        let rules = if with_rules { applicable(home, &self.unfolded.uses()) } else { vec![] };
        let has_rules = !rules.is_empty();
        let lowering = lower::Options { rules, ..self.lowering.clone() };
        let made = self
            .unfolded
            .program(&self.name, &lowering)
            .map_err(|error| Failure::input(&self.identity.name, Unusable::Program(error)))?;
        let marks = [
            (has_rules, "with rules"),
            (lowering.is_queued, "with a queue"),
            (lowering.is_immediate, "as published"),
        ];
        let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark);
        let marked: String = std::iter::once(self.texts.as_str()).chain(marks).collect();
        let hash = Some(Hash128::of(marked.as_bytes()));
        let identity = ProgramIdentity { hash, ..self.identity.clone() };
        let model = Model::from_program(made.program, identity, vec![])?;
        let (notes, handlers, executions) = (made.notes, made.handlers, made.executions);
        let readers = self.readers.clone();
        Ok(HomeModel { model, has_rules, readers, notes, handlers, executions })
    }
}

impl HomeModel {
    /// Makes the models of apps that a schedule can be of: with and without rules, by each option.
    ///
    /// # Errors
    ///
    /// Fails if a text is no app.
    pub fn all(apps: &[(String, String)]) -> Result<Vec<HomeModel>, Failure> {
        let (memo, numbers) = (Memo::default(), (0..apps.len()).collect::<Vec<_>>());
        let mut models = vec![];
        for (as_published, is_queued) in [(false, false), (false, true), (true, false)] {
            let options = HomeOptions { as_published, is_queued, ..HomeOptions::default() };
            let memo = (!as_published).then_some(&memo);
            let household = Household::new(apps, &options, memo, &|| false)?;
            let (home, readers) = household.of(&numbers);
            let opened = household.open(&numbers, &home, readers, &|| false);
            models.push(opened.model(&home, false)?);
            if !as_published {
                models.push(opened.model(&home, true)?);
            }
        }
        Ok(models)
    }

    /// Makes the model of apps, each with the name of its file and its text. All apps share one
    /// device for each capability.
    ///
    /// # Errors
    ///
    /// Fails if a text is no app.
    pub fn new(apps: &[(String, String)], options: &HomeOptions) -> Result<HomeModel, Failure> {
        let household = Household::new(apps, options, None, &|| false)?;
        let all: Vec<usize> = (0..apps.len()).collect();
        let (home, readers) = household.of(&all);
        household.open(&all, &home, readers, &|| false).model(&home, options.with_rules)
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

/// Returns the attributes in conflict.
fn fought(result: &JobResult) -> BTreeSet<String> {
    let conflicts = result.findings.iter().map(|one| &one.finding);
    let conflicts = conflicts.filter(|finding| finding.kind == Kind::UpdateConflict);
    conflicts.filter_map(|finding| finding.sites.first()?.location.clone()).collect()
}

/// Returns the rules about what the home has that its apps may break: an app sets an attribute to a
/// value that the rule names. What nobody sets, only the outside brings about.
fn applicable(home: &Configuration, uses: &BTreeMap<(usize, String), AttributeUse>) -> Vec<Rule> {
    let has = |attribute: &String| {
        attribute == "mode"
            || home.devices.iter().any(|device| device.attributes.contains_key(attribute))
    };
    let is_set = |(attribute, values): &(String, Vec<String>)| {
        uses.iter().any(|((_, name), one)| {
            let own = name.rsplit('.').next() == Some(attribute);
            own && values.iter().any(|value| one.writes.contains(value))
        })
    };
    let mut rules = Rule::built_in();
    rules.retain(|rule| rule.never.iter().all(|(attribute, _)| has(attribute)));
    rules.retain(|rule| rule.never.iter().any(is_set));
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
    let household = Household::new(apps, options, None, &|| control.check().is_err())?;
    household.check(&(0..apps.len()).collect::<Vec<_>>(), search, control, watcher)
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
