//! Mistakes as people make them: each file has one, and its first line says which message must be
//! given where: `//~ CODE LINE:COLUMN-END`, columns in characters, the end not included. The whole
//! message is a snapshot.

use anyorder_lang::{diagnostic::render, load, source::Source};
use std::path::PathBuf;

fn files() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes");
    let entries = std::fs::read_dir(folder).expect("the folder of mistakes");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "any"));
    files.sort();
    files
}

#[test]
fn each_mistake_gives_one_message_at_its_place() {
    let files = files();
    assert!(files.len() >= 30, "{} kinds of mistakes", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let name = file.file_stem().expect("a name").to_string_lossy().to_string();
        let text = std::fs::read_to_string(&file).expect("a readable file");
        assert!(text.lines().count() > 20, "{name} is too short to be like a real file");
        let marker = text.lines().next().and_then(|line| line.strip_prefix("//~ "));
        let wanted = marker.expect("a first line that says what is wrong").to_string();
        let loaded = load(&text);
        let shown_name = format!("{name}.any");
        let source = Source::new(&shown_name, &text);
        let found: Vec<String> = loaded
            .diagnostics
            .iter()
            .map(|d| {
                let start = source.position(d.primary.span.start);
                let end = source.position(d.primary.span.end);
                let column = if end.line == start.line { end.column } else { 0 };
                format!("{} {}:{}-{column}", d.code.as_str(), start.line, start.column)
            })
            .collect();
        let rendered: Vec<String> =
            loaded.diagnostics.iter().map(|d| render(&source, d, false)).collect();
        if found != [wanted.clone()] {
            wrong.push(format!("{name}: wanted {wanted}, found {found:?}\n{}", rendered.concat()));
            continue;
        }
        insta::assert_snapshot!(name, rendered.concat());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
