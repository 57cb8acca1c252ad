//! The files of the gallery.

use std::fs;
use std::path::PathBuf;

/// One file.
pub(crate) struct File {
    /// Its name without `.any`.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) text: String,
}

/// Where a model tells what a search of it finds.
pub(crate) const EXPECT: &str = "// expect: ";

/// What follows the name of a model in that of its fixed twin.
pub(crate) const FIXED: &str = "-fixed";

impl File {
    /// The first line, without its `// `: the bug.
    pub(crate) fn bug(&self) -> &str {
        let line = self.text.lines().next().unwrap_or_default();
        line.strip_prefix("// ")
            .unwrap_or_else(|| panic!("{}: begins with its bug in a comment", self.name))
    }

    /// What a search is to find.
    pub(crate) fn expected(&self) -> &str {
        let mut lines = self.text.lines().filter_map(|line| line.strip_prefix(EXPECT));
        let expected =
            lines.next().unwrap_or_else(|| panic!("{}: `{EXPECT}` is missing", self.name));
        assert_eq!(lines.next(), None, "{}: expects twice", self.name);
        expected
    }

    /// Writes the file with another expectation.
    pub(crate) fn bless(&self, found: &str) {
        let line = |line: &str| {
            if line.starts_with(EXPECT.trim_end()) {
                format!("{EXPECT}{found}\n")
            } else {
                format!("{line}\n")
            }
        };
        let text: String = self.text.lines().map(line).collect();
        fs::write(&self.path, text).expect("the model can be written");
    }

    /// Whether it is the fixed one of a pair.
    pub(crate) fn is_fixed(&self) -> bool {
        self.name.ends_with(FIXED)
    }
}

/// The directory of the gallery.
pub(crate) fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/models")
}

/// All models by name.
pub(crate) fn all() -> Vec<File> {
    let entries = fs::read_dir(directory()).expect("examples/models is there");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let models = paths.filter(|path| path.extension().is_some_and(|extension| extension == "any"));
    let mut files: Vec<File> = models.map(read).collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    files
}

fn read(path: PathBuf) -> File {
    let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
    let text = fs::read_to_string(&path).expect("a text");
    File { name, path, text }
}

/// Pairs of a model and its fixed twin.
pub(crate) fn pairs() -> Vec<(File, File)> {
    let (fixed, broken): (Vec<File>, Vec<File>) = all().into_iter().partition(File::is_fixed);
    let mut broken: Vec<Option<File>> = broken.into_iter().map(Some).collect();
    let mut pair = |twin: File| {
        let name = twin.name.trim_end_matches(FIXED);
        let place =
            broken.iter().position(|file| file.as_ref().is_some_and(|file| file.name == name));
        let place = place.unwrap_or_else(|| panic!("{} has no {name}.any beside it", twin.name));
        (broken[place].take().expect("once"), twin)
    };
    fixed.into_iter().map(&mut pair).collect()
}

#[test]
fn models_are_formatted() {
    for file in all() {
        let formatted = anyorder_lang::format::format(&file.text);
        assert_eq!(
            formatted.ok().as_deref(),
            Some(file.text.as_str()),
            "{}: run `anyorder fmt`",
            file.name
        );
    }
}
