//! The checkpoint of a search, which is written from time to time.

use crate::failure::Failure;
use anyorder_common::text::shown;
use anyorder_search::{Search, SearchError, is_checkpoint};
use anyorder_system::StateSystem;
use std::path::Path;
use std::time::{Duration, Instant};

/// Writing takes at most about one part in this many of the time.
const SHARE: u32 = 10;

/// Refuses to write over what is no checkpoint: a model, say, or a device.
pub(crate) fn spare(file: &Path) -> Result<(), Failure> {
    let Ok(meta) = file.metadata() else { return Ok(()) };
    if meta.is_file()
        && (meta.len() == 0 || is_checkpoint(file).map_err(|e| Failure::reading(file, &e))?)
    {
        return Ok(());
    }
    let failure = Failure::new(format!("{}: not a checkpoint, and not written over", shown(file)));
    Err(failure.with_hint("`--checkpoint` takes a new file, or one that it wrote before"))
}

/// Where a search is kept, and when next.
pub(crate) struct Kept<'a> {
    file: &'a Path,
    every: Duration,
    due: Instant,
    /// Why it could not be written the last time.
    failure: Option<SearchError>,
}

impl<'a> Kept<'a> {
    /// Writes a search for the first time: a file that cannot be written is better found now than after an hour.
    pub(crate) fn begin<S: StateSystem>(
        search: &Search<'_, S>,
        (file, every): (&'a Path, Duration),
        identity: &str,
    ) -> Result<Kept<'a>, SearchError> {
        let mut kept = Kept { file, every, due: Instant::now(), failure: None };
        kept.save(search, identity);
        match kept.failure.take() {
            Some(error) => Err(error),
            None => Ok(kept),
        }
    }

    /// Returns whether it is time to write again.
    pub(crate) fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// Writes the search. What goes wrong does not end it: the file from before is still there.
    pub(crate) fn save<S: StateSystem>(&mut self, search: &Search<'_, S>, identity: &str) {
        let start = Instant::now();
        self.failure = search.save(self.file, identity).err();
        let pause = self.every.max(start.elapsed().saturating_mul(SHARE - 1));
        self.due = Instant::now().checked_add(pause).unwrap_or(start);
    }

    /// Returns the file, or why what is in it is old.
    pub(crate) fn end(self) -> Result<&'a Path, (&'a Path, SearchError)> {
        match self.failure {
            None => Ok(self.file),
            Some(error) => Err((self.file, error)),
        }
    }
}
