//! Atomic blocks of recorded runs.

use crate::common::searched::json;
use crate::common::{file, folder, run};
use serde_json::Value;

fn found(result: &Value, kind: &str) -> Vec<Value> {
    let findings = result["findings"].as_array().expect("findings");
    findings.iter().filter(|finding| finding["kind"] == kind).cloned().collect()
}

/// `T1` reads and writes a balance in two sections of one lock; `T2` writes between those of the
/// second block.
const ACCOUNT: &str = "\
T1|begin|10\nT1|acq(L)|11\nT1|r(balance)|12\nT1|rel(L)|13\nT1|acq(L)|14\nT1|w(balance)|15\n\
T1|rel(L)|16\nT1|end|17\n\
T1|begin|10\nT1|acq(L)|11\nT1|r(balance)|12\nT1|rel(L)|13\n\
T2|acq(L)|21\nT2|w(balance)|23\nT2|rel(L)|24\n\
T1|acq(L)|14\nT1|w(balance)|15\nT1|rel(L)|16\nT1|end|17\n\
T1|begin|30\nT1|r(other)|31\nT1|end|32\n";

#[test]
fn an_interrupted_block_is_a_finding() {
    let folder = folder();
    let trace = file(&folder, "account.std", ACCOUNT);
    let text = run(&["check", &trace]);
    assert_eq!(text.status, 1, "{text:?}");
    let words = text.stdout.split_whitespace().collect::<Vec<&str>>().join(" ");
    for part in [
        "the atomic block of `T1` that begins at 10 (event 9) is interrupted by `T2`",
        "`T1` reads `balance` at 12 (event 11) before `T2` writes `balance` at 23 (event 14)",
        "`T2` gives back `L` at 24 (event 15) before `T1` takes `L` at 14 (event 16)",
        "from 10 (event 9) to 17 (event 19)",
    ] {
        assert!(words.contains(part), "{part}: {}", text.stdout);
    }
    let result = json(&run(&["check", &trace, "--format", "json"]));
    let findings = found(&result, "atomicity");
    assert_eq!((findings.len(), findings[0]["cycle"].as_array().unwrap().len()), (1, 3));
    assert_eq!(result["stats"]["transactions"], 3);
    assert_eq!(result["stats"]["transactions_on_cycles"], 1);
    let no = json(&run(&["check", &trace, "--transactions", "no", "--format", "json"]));
    assert_eq!(found(&no, "atomicity").len(), 0);
    assert!(no["stats"]["transactions"].is_null());
}

/// The usual repairs: one section for the block; a read whose result is not used later; nothing of
/// the other thread between.
#[test]
fn blocks_that_are_not_interrupted_are_silent() {
    let folder = folder();
    let one_section = ACCOUNT.replace("T1|rel(L)|13\nT1|acq(L)|14\n", "");
    // `T2` then has to come before or after the whole section.
    let cut = "T1|begin|10\nT1|acq(L)|11\nT1|r(balance)|12\n";
    let other = "T2|acq(L)|21\nT2|w(balance)|23\nT2|rel(L)|24\n";
    let second = format!("{cut}T1|rel(L)|13\n{other}");
    let one_section = one_section.replace(&second, &format!("{other}{cut}"));
    let late = ACCOUNT.replace(other, "") + other;
    let elsewhere = ACCOUNT.replace("T2|w(balance)", "T2|w(b)").replace("T2|acq(L)", "T2|acq(M)");
    let elsewhere = elsewhere.replace("T2|rel(L)", "T2|rel(M)");
    for (name, text) in [("one", one_section), ("late", late), ("elsewhere", elsewhere)] {
        let trace = file(&folder, &format!("{name}.std"), text);
        let result = json(&run(&["check", &trace, "--format", "json"]));
        assert_eq!(found(&result, "atomicity").len(), 0, "{name}: {result}");
        assert_eq!(result["stats"]["transactions"], 3, "{name}: {result}");
        assert_eq!(result["stats"]["transactions_on_cycles"], 0, "{name}");
    }
}

#[test]
fn marks_that_do_not_fit_are_named() {
    let folder = folder();
    let trace = file(&folder, "odd.std", format!("T9|w(x)|1\nT9|end|2\n{ACCOUNT}"));
    let result = json(&run(&["check", &trace, "--format", "json"]));
    assert_eq!(found(&result, "atomicity").len(), 0);
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("some end without a begin"), "{warnings}");
    let yes = json(&run(&["check", &trace, "--transactions", "yes", "--format", "json"]));
    assert_eq!(found(&yes, "atomicity").len(), 1);
}
