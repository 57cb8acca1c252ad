//! `anyorder certify`: certificates of all kinds, and what is refused.

mod common;

use common::{NOTES, file, folder, path, run, run_with_stdin};
use serde_json::Value;

const LATE: &str = "examples/models/late-script-load.any";

/// An order proof about the example, as `why` writes it.
fn order_proof(folder: &tempfile::TempDir) -> String {
    let proof = path(folder, "order.proof");
    let ran = run(&["why", NOTES, "1", "12", "--certificate", &proof]);
    assert_eq!(ran.status, 0, "{ran:?}");
    proof
}

#[test]
fn a_proof_of_an_order_is_checked_again() {
    let folder = folder();
    let proof = order_proof(&folder);
    let ran = run(&["certify", NOTES, &proof]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stdout.contains("happens before"), "{}", ran.stdout);
    let text = std::fs::read_to_string(&proof).unwrap();
    let wrong = file(&folder, "wrong", text.replace(" po", " post"));
    let ran = run(&["certify", NOTES, &wrong, &proof]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(ran.stdout.contains("line 5 (path, step 1)"), "{}", ran.stdout);
    let cut = file(&folder, "cut", "order-proof 1\nrules mailbox\n");
    assert_eq!(run(&["certify", NOTES, &cut]).status, 2);
    assert_eq!(run(&["certify", NOTES, &cut, &wrong]).status, 1);
}

#[test]
fn a_pair_without_an_order_has_no_proof() {
    let folder = folder();
    let proof = path(&folder, "none");
    let ran = run(&["why", NOTES, "80", "88", "--certificate", &proof]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.stderr.contains("was not written"), "{}", ran.stderr);
    assert!(!std::path::Path::new(&proof).exists());
}

#[test]
fn the_findings_of_a_result_are_checked_and_their_titles_are_not_repeated() {
    let result = run(&["predict", NOTES, "--format", "json"]).stdout;
    let mut value: Value = serde_json::from_str(&result).unwrap();
    value["findings"][0]["title"] = "a lie".into();
    value["findings"][0]["witness"]["inline"]["title"] = "a lie".into();
    let ran = run_with_stdin(&["certify", NOTES, "-"], value.to_string().as_bytes());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(!ran.stdout.contains("a lie"), "{}", ran.stdout);
    for (field, wrong) in [("events", 1.into()), ("more", true.into()), ("left_out", 1.into())] {
        let mut value: Value = serde_json::from_str(&result).unwrap();
        value["findings"][0]["witness"]["inline"][field] = wrong;
        let ran = run_with_stdin(&["certify", NOTES, "-"], value.to_string().as_bytes());
        assert_eq!(ran.status, if field == "events" { 1 } else { 2 }, "{field}: {ran:?}");
    }
    let mut value: Value = serde_json::from_str(&result).unwrap();
    value["findings"][0]["witness"]["inline"]["steps"][0]["text"] = "a lie".into();
    let ran = run_with_stdin(&["certify", NOTES, "-"], value.to_string().as_bytes());
    assert_eq!(ran.status, 1, "{ran:?}");
}

#[test]
fn a_schedule_of_a_model_is_run_step_by_step() {
    let result = run(&["check", LATE, "--format", "json"]).stdout;
    let ran = run_with_stdin(&["certify", LATE, "-", "--format", "json"], result.as_bytes());
    assert_eq!(ran.status, 0, "{ran:?}");
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["certificates"][0]["kind"], "schedule");
    assert_eq!(answer["certificates"][0]["verdict"], "holds");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut value: Value = serde_json::from_str(&result).unwrap();
        change(&mut value["findings"][0]["witness"]["inline"]);
        run_with_stdin(&["certify", LATE, "-"], value.to_string().as_bytes()).status
    };
    assert_eq!(changed(&|one| one["options"]["shows"] = "deadlock".into()), 1);
    assert_eq!(changed(&|one| one["choices"][0]["handler"] = "nobody".into()), 1);
    assert_eq!(changed(&|one| one["program"]["hash"] = "0".repeat(32).into()), 1);
    assert_eq!(changed(&|one| one["options"]["note"] = "x".into()), 2);
    assert_eq!(changed(&|one| one["choices"][0]["more"] = 1.into()), 2);
}

#[test]
fn a_certificate_of_another_kind_of_input_is_none() {
    let folder = folder();
    let proof = order_proof(&folder);
    assert_eq!(run(&["certify", LATE, &proof]).status, 2);
    let text = file(&folder, "text", "nothing of the trace\n");
    assert_eq!(run(&["certify", NOTES, &text]).status, 2);
    let ran = run(&["certify", "-", "-"]);
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(ran.stderr.contains("given twice"), "{}", ran.stderr);
}

#[test]
fn consistency_is_checked_by_the_rule_of_its_mailboxes() {
    let folder = folder();
    let trace = file(
        &folder,
        "t.edt",
        "edtrace 1\np1 ui - post m1\np2 ui - post m2\ng2 k m2 get\nr2 k m2 r x init\n\
         g1 k m1 get\nw1 k m1 w x\n",
    );
    let proof = path(&folder, "proof");
    let ran = run(&["consistency", &trace, "--certificate", &proof, "-q"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(run(&["certify", &trace, &proof]).status, 0);
    let bag = run(&["certify", &trace, &proof, "--mailbox", "bag"]);
    assert_eq!(bag.status, 1, "{bag:?}");
    assert!(bag.stdout.contains("--mailbox bag"), "{}", bag.stdout);
    let witness = path(&folder, "run");
    let bag = ["--mailbox", "bag"];
    let ran = run(&["consistency", &trace, "--witness", &witness, bag[0], bag[1], "-q"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(run(&["certify", &trace, &witness, bag[0], bag[1]]).status, 0);
    assert_eq!(run(&["certify", &trace, &witness]).status, 1);
}
