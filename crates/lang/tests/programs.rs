//! Correct models: they get no diagnostic, and the layout keeps their trees.

use anyorder_lang::{diagnostic::render, load, source::Source};
use std::path::{Path, PathBuf};

fn models(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of models");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "any"));
    files.sort();
    files
}

fn messages(file: &Path, errors_only: bool) -> String {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let name = file.display().to_string();
    let source = Source::new(&name, &text);
    let loaded = load(&text);
    let told = loaded.diagnostics.iter().filter(|d| !errors_only || d.is_error());
    told.map(|d| render(&source, d, false)).collect()
}

#[test]
fn the_file_of_all_constructs_and_the_programs_are_without_messages() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut files = models(&tests.join("programs"));
    assert!(files.len() >= 12, "{} programs", files.len());
    files.push(tests.join("all.any"));
    for file in files {
        assert_eq!(messages(&file, false), "", "{}", file.display());
    }
}

#[test]
fn the_gallery_is_without_errors() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/models");
    for file in models(&folder) {
        assert_eq!(messages(&file, true), "", "{}", file.display());
    }
}

#[test]
fn the_program_of_all_constructs_has_every_name_resolved_and_every_expression_typed() {
    let text = include_str!("all.any");
    let loaded = load(text);
    let typed = loaded.program.types.iter().flatten().count();
    let named = loaded.program.meanings.iter().flatten().count();
    assert!(typed > 700, "{typed} expressions have types");
    assert!(named > 600, "{named} names have meanings");
    let p = &loaded.program;
    assert_eq!(p.consts[1].value, Some(anyorder_lang::check::ConstValue::Int(6)));
    assert_eq!(p.handlers.last().map(|h| (h.name.as_str(), h.item)), Some(("main", None)));
    assert_eq!(p.events.iter().filter_map(|e| e.family).collect::<Vec<_>>(), [(0, 3)]);
    let dynamic = load(include_str!("programs/dynamic.any"));
    let checks = dynamic.program.runtime_checks.len();
    assert!(checks > 0, "values of `any` are looked at when the model runs");
}
