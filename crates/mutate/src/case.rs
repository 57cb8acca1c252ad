//! One case: files and a command line over them.

use crate::kind::Kind;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;

/// An input file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Its name in the folder of the run.
    pub name: String,
    /// What it is a mutant of.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The limits that the command line states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stated {
    /// `--time-limit`, in milliseconds.
    pub time_ms: Option<u64>,
    /// `--memory-limit`, in bytes.
    pub memory_bytes: Option<u64>,
}

/// Files and a command line over them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Case {
    /// The arguments; the first is the command.
    pub arguments: Vec<String>,
    /// The files that the run finds in its folder.
    pub inputs: Vec<Input>,
    /// The files and folders that the command line lets the run write.
    pub writes: Vec<String>,
    /// The input that is the standard input.
    pub stdin: Option<String>,
    /// The limits.
    pub stated: Stated,
}

impl Case {
    /// Returns the command.
    #[must_use]
    pub fn command(&self) -> &str {
        self.arguments.first().map_or("", String::as_str)
    }

    /// Returns the value that follows an option.
    #[must_use]
    pub fn value_of(&self, option: &str) -> Option<&str> {
        let at = self.arguments.iter().position(|argument| argument == option)?;
        self.arguments.get(at + 1).map(String::as_str)
    }

    /// Returns the bytes of all inputs together.
    #[must_use]
    pub fn input_bytes(&self) -> u64 {
        self.inputs.iter().map(|input| input.bytes.len() as u64).sum()
    }

    /// Writes the inputs into a folder, which is emptied first.
    ///
    /// # Errors
    ///
    /// When files cannot be written.
    pub fn lay_out(&self, folder: &Path) -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        self.inputs.iter().try_for_each(|input| fs::write(folder.join(&input.name), &input.bytes))
    }

    /// Writes the case into a folder: `files/` and `case.json`. `note` is stored with it.
    ///
    /// # Errors
    ///
    /// When files cannot be written.
    pub fn save(&self, folder: &Path, note: &Value) -> io::Result<()> {
        self.lay_out(&folder.join("files"))?;
        let inputs: Vec<Value> = self
            .inputs
            .iter()
            .map(|input| json!({"name": input.name, "kind": input.kind.name()}))
            .collect();
        let stored = json!({
            "arguments": self.arguments,
            "inputs": inputs,
            "writes": self.writes,
            "stdin": self.stdin,
            "time_ms": self.stated.time_ms,
            "memory_bytes": self.stated.memory_bytes,
            "note": note,
        });
        fs::write(folder.join("case.json"), format!("{stored:#}\n"))
    }

    /// Reads a case that was saved.
    ///
    /// # Errors
    ///
    /// When files cannot be read or are no case.
    pub fn load(folder: &Path) -> io::Result<Case> {
        let stored: Value = serde_json::from_slice(&fs::read(folder.join("case.json"))?)?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let list = |name: &str| stored[name].as_array().cloned().unwrap_or_default();
        let input = |value: &Value| {
            let name = text(&value["name"]);
            let kind = Kind::of_name(&text(&value["kind"]))
                .ok_or_else(|| io::Error::other("an unknown kind of file"))?;
            let bytes = fs::read(folder.join("files").join(&name))?;
            io::Result::Ok(Input { name, kind, bytes })
        };
        Ok(Case {
            arguments: list("arguments").iter().map(text).collect(),
            inputs: list("inputs").iter().map(input).collect::<io::Result<_>>()?,
            writes: list("writes").iter().map(text).collect(),
            stdin: stored["stdin"].as_str().map(str::to_owned),
            stated: Stated {
                time_ms: stored["time_ms"].as_u64(),
                memory_bytes: stored["memory_bytes"].as_u64(),
            },
        })
    }
}
