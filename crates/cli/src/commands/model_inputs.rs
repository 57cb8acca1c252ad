//! Reads models and schedules in any order, recognises each by its content, and pairs them.
//!
//! A schedule names the model that it was made for. That name is data: it selects among the given
//! models, and is never opened as a path.

use super::home;
use crate::args::Global;
use crate::failure::{Failure, JobFailure, Message, Usage};
use crate::input::{self, PeekedInput, SCHEDULE_BYTES_MAX};
use anyorder_drive::home::{HomeModel, is_app};
use anyorder_drive::model::Model;
use anyorder_drive::states::StateProgram as _;
use anyorder_drive::{Content, Unusable};
use anyorder_system::Schedule;
use std::path::{Path, PathBuf};

/// The inputs of the command, by kind.
pub(super) struct ModelInputs {
    pub(super) models: Vec<(PathBuf, Model)>,
    /// All other inputs, with their texts.
    pub(super) others: Vec<(PathBuf, String)>,
}

/// Reads all inputs, and compiles those that are models.
pub(super) fn read(inputs: &[PathBuf], global: &Global) -> Result<ModelInputs, Failure> {
    read_peeked(input::peek_all(inputs)?, global)
}

/// Like [`read`], for inputs whose beginnings were read.
pub(super) fn read_peeked(
    inputs: Vec<(PathBuf, PeekedInput)>,
    global: &Global,
) -> Result<ModelInputs, Failure> {
    let mut given = ModelInputs { models: Vec::new(), others: Vec::new() };
    let mut apps = Vec::new();
    for (path, peeked) in inputs {
        let path = &path;
        if is_app(path) {
            apps.push(home::read(path)?);
        } else if peeked.is_model(global) {
            let text = peeked.model_text(path)?;
            given.models.push((path.clone(), Model::compile(&path.to_string_lossy(), &text)?));
        } else if let Some(format) = peeked.trace_format(global) {
            let found = Content::Trace(Some(format));
            let why = Unusable::OtherKind { found, expected: Content::ModelOrSchedule };
            return Err(JobFailure::input(path, why).into());
        } else {
            given.others.push((path.clone(), peeked.text(path, SCHEDULE_BYTES_MAX)?));
        }
    }
    if let Some((path, _)) = apps.first() {
        let homes = HomeModel::all(&apps)?;
        given.models.extend(homes.into_iter().map(|home| (PathBuf::from(path), home.model)));
    }
    Ok(given)
}

impl ModelInputs {
    /// Returns the model of a schedule: the one with its hash, else the one with its name, else the
    /// only one.
    pub(super) fn model_of(&self, schedule: &Schedule) -> Option<(&Path, &Model)> {
        let program = &schedule.program;
        let same = |known: &dyn Fn(&Model) -> bool| {
            self.models.iter().find(|(_, model)| known(model)).map(|(path, one)| (&**path, one))
        };
        let hash = program.hash.and_then(|hash| same(&|one| one.program().hash == Some(hash)));
        let name = || same(&|one| one.program().name == program.name);
        let only = || match &self.models[..] {
            [(path, model)] => Some((&**path, model)),
            _ => None,
        };
        hash.or_else(name).or_else(only)
    }

    /// Returns whether the schedule names this model by hash or by name.
    pub(super) fn is_named(model: &Model, schedule: &Schedule) -> bool {
        let program = &schedule.program;
        (program.hash.is_some() && program.hash == model.program().hash)
            || program.name == model.program().name
    }

    /// Makes the failure of a schedule whose model is missing.
    pub(super) fn no_model(path: &Path, schedule: &Schedule) -> Failure {
        let made_for = schedule.program.name.clone();
        Usage::NoModel { path: path.to_owned(), made_for }.into()
    }
}

/// Warns if a model has changed since a schedule was made.
pub(super) fn warn_if_changed(path: &Path, model: &Model, schedule: &Schedule, global: &Global) {
    let known = schedule.program.hash;
    if known.is_some() && known != model.program().hash {
        let what = "the model has changed since the schedule was made";
        global.print(&[Message::warning_at(path, what)]);
    }
}
