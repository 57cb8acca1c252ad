//! The models that a limit cut: each adds a line to a file, and they are listed at the end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// How many are listed.
const LISTED_MAX: usize = 40;

/// The file to which the tests add lines.
#[derive(Debug)]
pub(crate) struct Cut {
    file: PathBuf,
}

/// What is to be said of the models that were cut.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Listed {
    pub(crate) text: String,
    /// Whether a limit cut one that nobody asked for.
    pub(crate) is_incomplete: bool,
}

impl Cut {
    /// Makes the file.
    pub(crate) fn begin() -> Result<Cut, String> {
        let file = env::temp_dir().join(format!("anyorder-incomplete-{}", process::id()));
        // One that is there is left of a run that was killed; a link to elsewhere is not followed.
        let _ = fs::remove_file(&file);
        let made = fs::File::create_new(&file);
        made.map_err(|error| format!("cannot make `{}`: {error}", file.display()))?;
        Ok(Cut { file })
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Returns what is to be said, if a limit cut a model.
    pub(crate) fn listed(&self) -> Option<Listed> {
        match fs::read_to_string(&self.file) {
            Ok(lines) => listed(&lines),
            // Nobody knows what it said.
            Err(error) => {
                let file = self.file.display();
                let text = format!("what models a limit cut is not known: `{file}`: {error}");
                Some(Listed { text, is_incomplete: true })
            }
        }
    }
}

impl Drop for Cut {
    fn drop(&mut self) {
        // The system clears the folder, too.
        let _ = fs::remove_file(&self.file);
    }
}

/// Each line says whether the limit was asked for, where the model is, in which test, and how far
/// it came.
fn listed(lines: &str) -> Option<Listed> {
    let mut models: Vec<(bool, &str, &str, &str)> = lines
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(4, '\t');
            let is_usual = parts.next()? == "usual";
            Some((is_usual, parts.next()?, parts.next()?, parts.next()?))
        })
        .collect();
    models.sort_by_key(|(_, place, test, _)| (*test, *place));
    let is_incomplete = models.iter().any(|(is_usual, ..)| *is_usual);
    let mut text = match models.len() {
        0 => return None,
        1 => "1 model is not complete: a limit cut it".to_owned(),
        count => format!("{count} models are not complete: a limit cut them"),
    };
    for (_, place, test, how) in models.iter().take(LISTED_MAX) {
        let name = if test.is_empty() { place } else { test };
        let _ = write!(text, "\n  {name}: {how}");
    }
    if models.len() > LISTED_MAX {
        let _ = write!(text, "\n  and {} more", models.len() - LISTED_MAX);
    }
    if is_incomplete {
        text.push_str("\nANYORDER_TIME_MAX=SECONDS sets how long each may take");
    }
    Some(Listed { text, is_incomplete })
}

#[cfg(test)]
mod tests {
    use super::{Cut, LISTED_MAX, listed};
    use std::fmt::Write as _;
    use std::fs;

    #[test]
    fn models_are_listed_by_test() {
        assert_eq!(listed(""), None);
        let lines =
            "asked\tb.rs:1:1\ttwo\t9 executions\nnonsense\nasked\ta.rs:2:3\t\t1 execution\n";
        let found = listed(lines).expect("two models");
        let expected = "2 models are not complete: a limit cut them\n  a.rs:2:3: 1 execution\n  two: 9 executions";
        assert_eq!((found.text.as_str(), found.is_incomplete), (expected, false));
        let found = listed("usual\ta.rs:2:3\tone\t1 execution\n").expect("one model");
        assert!(found.is_incomplete && found.text.ends_with("how long each may take"));
    }

    #[test]
    fn a_list_that_is_gone_is_no_empty_one() {
        let cut = Cut::begin().expect("a file");
        assert_eq!(cut.listed(), None);
        fs::remove_file(cut.file()).expect("it is there");
        let found = cut.listed().expect("it is said");
        assert!(found.is_incomplete && found.text.contains("is not known"), "{}", found.text);
    }

    #[test]
    fn the_list_has_an_end() {
        let mut lines = String::new();
        for number in 0..LISTED_MAX + 2 {
            let _ = writeln!(lines, "asked\ta.rs:1:1\ttest_{number:03}\t1 execution");
        }
        let found = listed(&lines).expect("many models");
        assert!(found.text.ends_with("test_039: 1 execution\n  and 2 more"), "{}", found.text);
    }
}
