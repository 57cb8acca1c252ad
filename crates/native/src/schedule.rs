//! Runs of a program in a random order that a seed decides: the file that the scheduler of the
//! runtime reads and writes (`docs/formats/native-schedule.md`), and a run under it.

use crate::launch::{Ended, Program, Signal};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::{Duration, Instant};

/// The bytes of the file.
const FILE_BYTES: usize = 4096;
/// The bytes that this side reads again.
const READ_BYTES: usize = 96;
/// The time between two looks at the program.
const LOOK: Duration = Duration::from_millis(1);
/// How long all threads must wait for each other, until that is a hang.
const HANGS: Duration = Duration::from_millis(200);

const HANG: u32 = 1;
const FREED_TWICE: u32 = 2;
const WRITTEN_AFTER_FREE: u32 = 4;

/// How the scheduler chooses the thread that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strategy {
    /// Each thread that can go on is as likely as the others.
    Random = 0,
    /// By random priorities that change at random steps (PCT).
    Priorities = 1,
    /// By random priorities of steps, which change where steps conflict (POS).
    PartialOrder = 2,
}

/// What decides the order of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The seed of all choices.
    pub seed: u64,
    /// How they are made.
    pub strategy: Strategy,
    /// For priorities: one more than they change in the run.
    pub depth: u32,
    /// For priorities: the number of steps that the run is expected to have.
    pub length: u64,
}

/// What the runtime counted in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Steps at which another thread could have gone on.
    pub steps: u64,
    /// How often another thread went on.
    pub switches: u64,
    /// A hash of the order of the steps: equal for equal orders.
    pub order: u64,
    /// How often a thread lost its turn, since it waited in a call that is not known.
    pub taken: u32,
    /// Threads that were created.
    pub threads: u32,
    /// Whether all threads wait for each other.
    pub hangs: bool,
    /// Whether a block was given back twice.
    pub freed_twice: bool,
    /// Whether a block was written after it was given back.
    pub written_after_free: bool,
    /// Whether the program has begun under the scheduler.
    pub is_known: bool,
}

/// A run in a random order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scheduled {
    /// How the program ended.
    pub ended: Ended,
    /// What was counted.
    pub counts: Counts,
    /// Whether it was ended, as its threads waited for each other.
    pub hangs: bool,
    /// Whether it was ended for another reason: it took too long, or the job was stopped.
    pub is_killed: bool,
}

/// The file of a run.
#[derive(Debug)]
pub struct ScheduleFile(File);

/// Writes the file of a run.
///
/// # Errors
///
/// Fails when the file cannot be written.
pub fn prepare(path: &Path, setting: Setting) -> io::Result<ScheduleFile> {
    let mut bytes = Vec::with_capacity(FILE_BYTES);
    bytes.extend_from_slice(b"ANYSCHD\n");
    bytes.extend_from_slice(&1_u32.to_le_bytes());
    bytes.extend_from_slice(&(setting.strategy as u32).to_le_bytes());
    bytes.extend_from_slice(&setting.seed.to_le_bytes());
    bytes.extend_from_slice(&setting.depth.to_le_bytes());
    bytes.extend_from_slice(&0_u32.to_le_bytes());
    bytes.extend_from_slice(&setting.length.to_le_bytes());
    bytes.resize(FILE_BYTES, 0);
    std::fs::write(path, bytes)?;
    OpenOptions::new().read(true).open(path).map(ScheduleFile)
}

impl Counts {
    /// Reads what the runtime has counted so far.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn read(ScheduleFile(file): &mut ScheduleFile) -> io::Result<Counts> {
        let mut bytes = [0_u8; READ_BYTES];
        file.seek(SeekFrom::Start(0))?;
        file.read_exact(&mut bytes)?;
        let word = |at: usize| {
            bytes[at..at + 4].iter().rev().fold(0_u32, |word, byte| word << 8 | u32::from(*byte))
        };
        let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let outcome = word(68);
        Ok(Counts {
            steps: long(40),
            switches: long(48),
            order: long(56),
            taken: word(64),
            threads: word(72),
            hangs: outcome & HANG != 0,
            freed_twice: outcome & FREED_TWICE != 0,
            written_after_free: outcome & WRITTEN_AFTER_FREE != 0,
            is_known: word(28) != 0,
        })
    }
}

/// Watches a program that was started with a file until it ends, or hangs, or has run for the
/// limit. `go_on` is asked every few milliseconds; when it returns false, the program is killed.
///
/// # Errors
///
/// Fails when the file cannot be read, or the system cannot wait.
pub fn watch(
    program: &Program,
    file: &mut ScheduleFile,
    limit: Duration,
    go_on: &mut dyn FnMut() -> bool,
) -> io::Result<Scheduled> {
    let started = Instant::now();
    let mut since: Option<(u64, Instant)> = None;
    let (mut hangs, mut is_killed) = (false, false);
    let ended = loop {
        if let Some(ended) = program.try_wait()? {
            break ended;
        }
        let counts = Counts::read(file)?;
        since = match (counts.hangs, since) {
            (true, Some((steps, since))) if steps == counts.steps => Some((steps, since)),
            (true, _) => Some((counts.steps, Instant::now())),
            (false, _) => None,
        };
        if since.is_some_and(|(_, since)| since.elapsed() > HANGS) {
            hangs = true;
            program.signal(Signal::Kill);
        } else if started.elapsed() > limit || !go_on() {
            is_killed = true;
            program.signal(Signal::Kill);
        }
        std::thread::sleep(LOOK);
    };
    let counts = Counts::read(file)?;
    Ok(Scheduled { ended, counts, hangs, is_killed })
}
