//! Files that people write: specifications, baselines, configurations.

use anyorder_commute::{AccessPoints, Document};
use anyorder_finding::{Baseline, Outcome, Suppressions};

/// A specification: errors have a place in the text, and a sound one can be compiled.
///
/// # Panics
///
/// Panics when an error has none, or when two calls commute by the text and conflict by its points.
pub fn specification(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Document::parse(text) {
        Err(errors) => {
            assert!(!errors.0.is_empty());
            for error in &errors.0 {
                assert!(error.span.end <= text.len() && error.span.start <= error.span.end);
                assert!(!error.to_string().is_empty());
            }
        }
        Ok(document) => {
            for spec in &document.specs {
                let points = AccessPoints::of(spec);
                assert!(points.pairs().len() <= spec.methods().len() * spec.methods().len());
                for class in points.classes() {
                    for other in points.conflicts(class) {
                        assert!(
                            points.conflicts(*other).contains(&class),
                            "a conflict has two sides"
                        );
                    }
                }
            }
        }
    }
}

/// A baseline: what is read can be written, and reads the same.
///
/// # Panics
///
/// Panics when it does not.
pub fn baseline(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Baseline::parse(text) {
        Ok(read) => {
            let again = Baseline::parse(&read.to_text()).expect("what was written can be read");
            assert!(again == read, "{text}");
            let mut findings = findings();
            read.apply(&mut findings);
            let once = findings.clone();
            read.apply(&mut findings);
            assert!(once == findings, "applying twice: {text}");
        }
        Err(error) => assert!(error.line >= 1 || error.column == 0, "{error}"),
    }
}

/// A configuration: errors have a place, and suppressions can be applied.
///
/// # Panics
///
/// Panics when an error has none.
pub fn config(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Suppressions::parse(text) {
        Ok(read) => {
            let mut findings = findings();
            read.apply(&mut findings);
            let once = findings.clone();
            read.apply(&mut findings);
            assert!(once == findings, "applying twice: {text}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// The findings of a stored result.
fn findings() -> Vec<anyorder_finding::Finding> {
    let outcome: Outcome = serde_json::from_str(RESULT).expect("a result");
    outcome.findings
}

/// A small result.
pub const RESULT: &str = include_str!("../seeds/result.json");

/// A specification.
pub const SPECIFICATION: &str = "spec set {\n    add(v1)/r1 ~ contains(v2)/r2 when v1 != v2 || !r1;\n    \
    contains(_) ~ contains(_);\n}\nspec counter {\n    inc(a) ~ inc(b);\n    \
    get()/x ~ inc(a) when a == 0 || x % 2 < 1 + 3 * a;\n}\n";

/// A configuration.
pub const CONFIG: &str = "[[suppress]]\nkind = \"race\"\nlocation = \"x*\"\nreason = \"any\"\n\n\
    [[suppress]]\nid = \"271d077b44911372\"\n\n[[suppress]]\ncategory = \"delayed\"\n";

/// A baseline.
pub const BASELINE: &str = "[\n{\"id\":\"00000000000000aa\",\"title\":\"t\"}\n]\n";
