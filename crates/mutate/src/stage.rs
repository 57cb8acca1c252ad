//! Where runs happen: a folder for each worker, the binary, and the judge.

use crate::case::Case;
use crate::judge::{Fault, Judge};
use crate::process::{self, Ran};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time that a run is given beyond the moment from which it is late, before it is killed.
const GRACE: Duration = Duration::from_secs(4);

/// The time that shrinking a case may take.
const SHRINK_TIME: Duration = Duration::from_secs(30);

/// A place for runs, one at a time.
#[derive(Debug)]
pub struct Stage<'a> {
    binary: &'a Path,
    judge: &'a Judge,
    place: PathBuf,
    streams: PathBuf,
}

impl<'a> Stage<'a> {
    /// Makes the folders of a stage below `folder`.
    ///
    /// # Errors
    ///
    /// When they cannot be made.
    pub fn new(binary: &'a Path, judge: &'a Judge, folder: &Path) -> io::Result<Stage<'a>> {
        let (place, streams) = (folder.join("place"), folder.join("streams"));
        fs::create_dir_all(&streams)?;
        Ok(Stage { binary, judge, place, streams })
    }

    /// Runs a case once and judges it.
    ///
    /// # Errors
    ///
    /// When files cannot be written or the binary not be started.
    pub fn once(&self, case: &Case) -> io::Result<(Ran, Vec<Fault>)> {
        case.lay_out(&self.place)?;
        let stdin = case.stdin.as_ref().map(|name| self.place.join(name));
        let patience = self.judge.time(case) + GRACE * self.judge.stretch;
        let ran = process::run(
            self.binary,
            &case.arguments,
            &self.place,
            stdin.as_deref(),
            &self.streams,
            patience,
        )?;
        let faults = self.judge.faults(case, &ran, &self.place, &self.streams)?;
        if !faults.is_empty() {
            fs::remove_dir_all(&self.streams)?;
            fs::create_dir_all(&self.streams)?;
        }
        Ok((ran, faults))
    }

    /// Runs a case, and returns only the faults that occur again when it runs two times more: a
    /// busy machine can make any run late.
    ///
    /// # Errors
    ///
    /// As [`once`](Stage::once).
    pub fn confirmed(&self, case: &Case) -> io::Result<(Ran, Vec<Fault>)> {
        let (ran, mut faults) = self.once(case)?;
        for _ in 0..2 {
            if faults.is_empty() {
                break;
            }
            let (_, again) = self.once(case)?;
            faults.retain(|fault| again.iter().any(|other| other.class == fault.class));
        }
        if faults.iter().any(|fault| fault.class == "memory") && !self.measures(case)? {
            faults.retain(|fault| fault.class != "memory");
        }
        Ok((ran, faults))
    }

    /// Returns whether the peak of a run that does nothing is within the memory of a case. The
    /// system counts the peak of this process as that of its children.
    fn measures(&self, case: &Case) -> io::Result<bool> {
        let arguments = ["--version".to_owned()];
        let (place, streams) = (&self.place, &self.streams);
        let idle = process::run(self.binary, &arguments, place, None, streams, GRACE)?;
        Ok(idle.peak_bytes <= self.judge.memory(case))
    }

    /// Returns a smaller case with a fault of the same class, after at most `tries` runs.
    ///
    /// # Errors
    ///
    /// As [`once`](Stage::once).
    pub fn shrunk(&self, case: &Case, class: &str, tries: usize) -> io::Result<Case> {
        let mut small = case.clone();
        let mut left = tries;
        let end = Instant::now() + SHRINK_TIME;
        let mut fails = |case: &Case| -> io::Result<bool> {
            if left == 0 || Instant::now() > end {
                return Ok(false);
            }
            left -= 1;
            Ok(self.once(case)?.1.iter().any(|fault| fault.class == class))
        };
        let mut at = small.arguments.len();
        while at > 1 {
            at -= 1;
            for count in [2, 1] {
                let end = at + count;
                let limit = |name: &String| name.ends_with("-limit");
                if end > small.arguments.len() || small.arguments[at - 1..end].iter().any(limit) {
                    continue;
                }
                let mut fewer = small.clone();
                fewer.arguments.drain(at..end);
                if fails(&fewer)? {
                    small = fewer;
                    break;
                }
            }
        }
        for input in 0..small.inputs.len() {
            // Cuts of half the file, then of a quarter, and so on.
            let mut size = small.inputs[input].bytes.len() / 2;
            while size > 0 {
                let mut at = 0;
                while at < small.inputs[input].bytes.len() {
                    let mut fewer = small.clone();
                    let bytes = &mut fewer.inputs[input].bytes;
                    let end = (at + size).min(bytes.len());
                    bytes.drain(at..end);
                    if fails(&fewer)? {
                        small = fewer;
                    } else {
                        at += size;
                    }
                }
                size /= 2;
            }
        }
        Ok(small)
    }
}
