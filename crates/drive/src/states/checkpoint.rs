//! The checkpoint of a search: the only file that a job writes and reads itself, because the engine
//! streams its tables into it.

use crate::failure::{Failure, Missing, Unusable};
use crate::remark::{Remark, Remarked};
use anyorder_search::{Search, SearchError, SearchOptions, is_checkpoint};
use anyorder_system::{Control, JobWatch, StateSystem};
use std::path::Path;

/// The file of a saved search.
pub(super) struct Checkpoint<'a> {
    file: &'a Path,
    identity: &'a str,
    /// The error of the last attempt to write.
    failure: Option<SearchError>,
}

impl<'a> Checkpoint<'a> {
    /// Starts to save a search to a file. Fails if the file exists and is not a checkpoint, such as
    /// a model or a device.
    pub(super) fn new(file: &'a Path, identity: &'a str) -> Result<Checkpoint<'a>, Failure> {
        let checkpoint = Checkpoint { file, identity, failure: None };
        let Ok(meta) = file.metadata() else { return Ok(checkpoint) };
        let is_ours = || is_checkpoint(file).map_err(|error| Failure::reading(file, error));
        if meta.is_file() && (meta.len() == 0 || is_ours()?) {
            return Ok(checkpoint);
        }
        Err(Failure::input(file, Unusable::NotACheckpoint))
    }

    /// Reads the search saved in a file, unless the job is stopped meanwhile.
    pub(super) fn resume<'s, S: StateSystem>(
        (system, control): (&'s S, &Control<'_>),
        options: &SearchOptions,
        file: &Path,
        identity: &str,
    ) -> Result<Search<'s, S>, Failure> {
        let watched = JobWatch::of(control).enter();
        let search = Search::resume(system, options, file, identity);
        drop(watched);
        search.map_err(|error| match control.check() {
            Err(stopped) => Failure::stopped(stopped.0, Missing::Input(file.to_owned())),
            Ok(()) => Failure::input(file, Unusable::Search(error)),
        })
    }

    /// Saves a search for the first time, so that an unwritable file fails now and not after an
    /// hour.
    pub(super) fn begin<S: StateSystem>(&mut self, search: &Search<'_, S>) -> Result<(), Failure> {
        self.save(search);
        match self.failure.take() {
            Some(error) => Err(Failure::input(self.file, Unusable::Search(error))),
            None => Ok(()),
        }
    }

    /// Saves the search. An error does not end the search, because the previous file remains.
    pub(super) fn save<S: StateSystem>(&mut self, search: &Search<'_, S>) {
        self.failure = search.save(self.file, self.identity).err();
    }

    /// Reports the file of a search that was cut, or why the file is out of date.
    pub(super) fn end(self, cut: bool) -> Option<Remark> {
        let file = self.file.to_owned();
        let what = match self.failure {
            Some(error) => Remarked::NotSaved(file, error.to_string()),
            None if cut => Remarked::Saved(file),
            None => return None,
        };
        Some(Remark { input: None, what })
    }
}
