//! The checkpoint of a search: the one file that a job writes and reads itself, as the engine
//! streams its tables into it.

use crate::Failure;
use crate::{Level, Message};
use anyorder_common::text::{escape, shown};
use anyorder_search::{Options, Search, SearchError, is_checkpoint};
use anyorder_system::StateSystem;
use std::path::Path;

/// Where a search is kept.
pub(super) struct Checkpoint<'a> {
    file: &'a Path,
    identity: &'a str,
    /// Why it could not be written the last time.
    failure: Option<SearchError>,
}

impl<'a> Checkpoint<'a> {
    /// Begins to keep a search in a file. Refuses to write over what is no checkpoint: a model,
    /// say, or a device.
    pub(super) fn new(file: &'a Path, identity: &'a str) -> Result<Checkpoint<'a>, Failure> {
        let checkpoint = Checkpoint { file, identity, failure: None };
        let Ok(meta) = file.metadata() else { return Ok(checkpoint) };
        let is_ours = || is_checkpoint(file).map_err(|error| Failure::reading(file, &error));
        if meta.is_file() && (meta.len() == 0 || is_ours()?) {
            return Ok(checkpoint);
        }
        let what = format!("{}: not a checkpoint, and not written over", shown(file));
        let hint = "`--checkpoint` takes a new file, or one that it wrote before";
        Err(Failure::new(what).with_hint(hint))
    }

    /// Reads the search that is kept in a file.
    pub(super) fn resume<'s, S: StateSystem>(
        system: &'s S,
        options: &Options,
        file: &Path,
        identity: &str,
    ) -> Result<Search<'s, S>, Failure> {
        Search::resume(system, options, file, identity)
            .map_err(|error| Failure::new(failure(file, &error)))
    }

    /// Writes a search for the first time: a file that cannot be written is better found now than
    /// after an hour.
    pub(super) fn begin<S: StateSystem>(&mut self, search: &Search<'_, S>) -> Result<(), Failure> {
        self.save(search);
        match self.failure.take() {
            Some(error) => Err(Failure::new(failure(self.file, &error))),
            None => Ok(()),
        }
    }

    /// Writes the search. What goes wrong does not end it: the file from before is still there.
    pub(super) fn save<S: StateSystem>(&mut self, search: &Search<'_, S>) {
        self.failure = search.save(self.file, self.identity).err();
    }

    /// Says where a search is that was cut, or why what is in the file is old.
    pub(super) fn end(self, cut: bool) -> Option<Message> {
        let file = shown(self.file);
        let text = match self.failure {
            Some(error) => format!("cannot keep the search: {}", failure(self.file, &error)),
            None if cut => format!("the search is in {file}; `--resume {file}` goes on with it"),
            None => return None,
        };
        Some(Message::new(Level::Warning, text))
    }
}

fn failure(file: &Path, error: &SearchError) -> String {
    format!("{}: {}", shown(file), escape(&error.to_string()))
}
