//! Published apps, where they are there: `ANYORDER_GROOVY_CORPUS` names their folder.

use anyorder_home::app::App;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the published apps, in order; none where the folder is not named.
pub(crate) fn apps(below: &str) -> Vec<PathBuf> {
    let Some(root) = std::env::var_os("ANYORDER_GROOVY_CORPUS") else {
        println!("skipped: ANYORDER_GROOVY_CORPUS does not name a folder of apps");
        return vec![];
    };
    let folder = Path::new(&root).join(below);
    let Ok(entries) = std::fs::read_dir(folder) else { return vec![] };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "groovy"));
    paths.sort();
    paths
}

#[test]
fn published_apps_give_their_inputs() {
    let mut counts = (0, 0, 0, 0);
    for path in apps("iotcheck/smartapps") {
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.to_string_lossy();
        counts.0 += 1;
        let Ok(app) = App::read(&name, &text) else {
            println!("{name}: no app");
            continue;
        };
        let (inputs, unknown) = app.inputs(&BTreeMap::new(), &[], &|| false);
        counts.1 += 1;
        counts.2 += usize::from(!inputs.is_empty());
        counts.3 += usize::from(unknown.is_empty());
        if inputs.is_empty() || !unknown.is_empty() {
            println!("{name}: {} inputs, {unknown:?}", inputs.len());
        }
    }
    println!(
        "{} files, {} apps, {} with inputs, {} without anything unknown",
        counts.0, counts.1, counts.2, counts.3
    );
}

/// Reads the apps of the corpus that are pairs' members: those that control a device.
fn unfolded(paths: &[PathBuf]) -> Option<anyorder_home::lower::HomeProgram> {
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).ok()?;
        App::read(&path.file_name()?.to_string_lossy(), &text).ok()
    };
    let apps: Vec<App> = paths.iter().map(read).collect::<Option<_>>()?;
    let table = anyorder_home::capability::Capabilities::built_in();
    let home = anyorder_home::config::shared(&apps, &table);
    let options = anyorder_home::lower::Options::default();
    Some(anyorder_home::lower::program("home", &apps, &home, &options).expect("a valid program"))
}

#[test]
fn published_apps_unfold() {
    let mut counts = std::collections::BTreeMap::new();
    let mut whole = 0;
    let mut number = 0;
    // All of them take minutes.
    let most = if std::env::var_os("ANYORDER_EFFORT").is_some() { usize::MAX } else { 20 };
    for path in apps("iotcheck/smartapps").into_iter().take(most) {
        let start = std::time::Instant::now();
        let Some(made) = unfolded(std::slice::from_ref(&path)) else { continue };
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        number += 1;
        let lost: Vec<_> = made
            .notes
            .iter()
            .filter(|note| note.kind != anyorder_home::unfold::NoteKind::Approximated)
            .collect();
        whole += usize::from(lost.is_empty());
        println!(
            "{name}: {} handlers, {} executions, {} globals, {} events, {:?} {}",
            made.handlers,
            made.executions,
            made.program.globals.len(),
            made.program.events.len(),
            start.elapsed(),
            lost.len()
        );
        for note in lost {
            *counts.entry(note.text.clone()).or_insert(0) += 1;
            println!("   {:?} {}:{} {}", note.kind, note.line, note.column, note.text);
        }
    }
    let mut counts: Vec<_> = counts.into_iter().map(|(text, count)| (count, text)).collect();
    counts.sort_by(|a, b| b.cmp(a));
    for (count, text) in counts.iter().take(80) {
        println!("{count:5} {text}");
    }
    println!("{whole} of {number} apps are understood whole");
}
