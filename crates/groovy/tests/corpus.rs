//! Published apps: their trees are those of the real compiler, and printing keeps them.

use crate::oracle::{Oracle, corpus};
use anyorder_groovy::{
    parse,
    print::{print, show},
};

#[test]
fn apps_have_the_trees_of_the_real_compiler() {
    let files = corpus();
    let Some(mut oracle) = Oracle::start("trees.groovy") else { return };
    let mut wrong = Vec::new();
    for (path, text) in &files {
        let real = oracle.ask(text);
        let parsed = parse(text);
        let ours = match parsed.diagnostics.first() {
            None => Ok(show(&parsed.script)),
            Some(first) => Err(format!("{first:?}")),
        };
        match (&real, &ours) {
            (Ok(real), Ok(ours)) if real == ours => {}
            (Err(_), Err(_)) => {}
            (Ok(real), Ok(ours)) => {
                let at = real.bytes().zip(ours.bytes()).position(|(a, b)| a != b).unwrap_or(0);
                let part = |text: &str| {
                    String::from_utf8_lossy(
                        &text.as_bytes()[at.saturating_sub(80)..(at + 120).min(text.len())],
                    )
                    .into_owned()
                };
                wrong.push(format!(
                    "{}: differs\n  real {}\n  ours {}",
                    path.display(),
                    part(real),
                    part(ours)
                ));
            }
            _ => wrong.push(format!(
                "{}: {:?} {:?}",
                path.display(),
                real.as_ref().map(|_| ()),
                ours.as_ref().map(|_| ())
            )),
        }
    }
    println!("{} files", files.len());
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn apps_survive_printing() {
    for (path, text) in corpus() {
        let parsed = parse(&text);
        if !parsed.diagnostics.is_empty() {
            println!("{}: {:?}", path.display(), parsed.diagnostics[0]);
            continue;
        }
        let printed = print(&parsed.script);
        let again = parse(&printed);
        assert!(
            again.diagnostics.is_empty(),
            "{}: {:?}\n{printed}",
            path.display(),
            again.diagnostics[0]
        );
        assert_eq!(show(&parsed.script), show(&again.script), "{}", path.display());
        assert_eq!(print(&again.script), printed, "{}", path.display());
    }
}
