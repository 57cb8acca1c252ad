//! The inputs that mutations start from: those of the checkout, and what the binary makes of them.

use crate::kind::Kind;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

mod made;

/// The bytes of the largest seed of the checkout that is taken: mutations of small ones find more.
const BYTES_MAX: usize = 16 << 10;

/// One input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seed {
    /// What it holds.
    pub kind: Kind,
    /// A name, unique among the seeds.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The seed that it belongs to: the model of a schedule, the trace of a proof.
    pub of: Option<usize>,
}

/// The seeds, and where those of each kind are.
#[derive(Debug, Default)]
pub struct Seeds {
    all: Vec<Seed>,
    by_kind: BTreeMap<Kind, Vec<usize>>,
}

impl Seeds {
    /// Collects the inputs below `root`, a checkout, and lets `binary` make the files that commands
    /// write and read: binary traces, schedules, witnesses, results, proofs, baselines,
    /// checkpoints. `folder` is an empty folder for that.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written, the binary cannot be run, or a kind stays without
    /// seed.
    pub fn collect(binary: &Path, root: &Path, folder: &Path) -> io::Result<Seeds> {
        let mut seeds = Seeds::default();
        for part in [
            "examples",
            "examples/traces",
            "examples/models",
            "examples/models/large",
            "crates/cli/tests/data",
            "data/rapid-binary",
            "fuzz/seeds",
        ] {
            seeds.read_folder(&root.join(part), part)?;
        }
        made::by_hand(&mut seeds);
        made::by_binary(&mut seeds, binary, folder)?;
        for kind in Kind::ALL {
            if seeds.of_kind(kind).is_empty() {
                return Err(io::Error::other(format!("no seed of kind {}", kind.name())));
            }
        }
        Ok(seeds)
    }

    /// Returns a seed by its number.
    #[must_use]
    pub fn get(&self, number: usize) -> &Seed {
        &self.all[number]
    }

    /// Returns the numbers of the seeds of a kind.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> &[usize] {
        self.by_kind.get(&kind).map_or(&[], Vec::as_slice)
    }

    /// Returns the number of seeds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns whether there is no seed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Adds a seed; returns its number.
    fn add(&mut self, kind: Kind, name: &str, bytes: Vec<u8>, of: Option<usize>) -> usize {
        let number = self.all.len();
        self.all.push(Seed { kind, name: name.to_owned(), bytes, of });
        self.by_kind.entry(kind).or_default().push(number);
        number
    }

    /// Takes the files of a folder whose names end as those of a known kind do.
    fn read_folder(&mut self, folder: &Path, part: &str) -> io::Result<()> {
        let entries: io::Result<Vec<_>> = fs::read_dir(folder)?.collect();
        let mut paths: Vec<_> = entries?.into_iter().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            let extension = path.extension().and_then(|part| part.to_str()).unwrap_or_default();
            let kind = match extension {
                "trace" | "native" => Kind::Text,
                "edtrace" => Kind::Edtrace,
                "std" => Kind::Std,
                "any" => Kind::Model,
                "data" => Kind::RapidBinary,
                _ => continue,
            };
            let bytes = fs::read(&path)?;
            if bytes.len() <= BYTES_MAX {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                self.add(kind, &format!("{part}/{name}"), bytes, None);
            }
        }
        Ok(())
    }
}
