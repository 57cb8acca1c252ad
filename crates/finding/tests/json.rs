//! The JSON of a result: field order, omissions, round trip, and the published schema.

use anyorder_finding::{
    CheckedHome, Coverage, CoverageLevel, CycleConflict, ExplanationStep, Finding, Harm, Input,
    Kind, OptionValue, Ordered, Outcome, RaceCategory, Related, RelatedKind, Reproduced,
    Reproduction, Severity, Site, SourceLines, Stat, Suppressed, Usage, Verdict, Warning,
    WarningKind, Witness, WitnessPlace, assign_ids, option, schema, stat,
};
use anyorder_mutate::schema::check;
use serde_json::Value;

/// A result in which every field is present.
fn full() -> Outcome {
    let site = |line, event: &str, access: &str| Site {
        file: Some("app.js".into()),
        line: Some(line),
        column: Some(3),
        function: Some("f".into()),
        label: Some("L1".into()),
        event: Some(event.into()),
        task: Some("load/click#1".into()),
        handler: Some("page".into()),
        thread: Some("main".into()),
        location: Some("cart.items@0x41".into()),
        allocated: Some("app.js:2 in init".into()),
        access: Some(access.into()),
        chain: vec!["posted by `init` at event 3".into(), "input `click`".into()],
        locks: vec!["m".into()],
        stack: vec!["app.js:7 in f".to_owned(), "app.js:1".to_owned()].into(),
        source: Some(SourceLines { first: 1, lines: vec!["let x;".into()], newer: true }),
        frames: Vec::new(),
    };
    let mut outcome = Outcome::new("check", "0.1.0");
    outcome.inputs = vec![Input::new("run.trace".as_ref(), "native")];
    outcome
        .options
        .set(option::RULES, "android")
        .set(option::MAX_PAIRS, 1000_u64)
        .set(option::STRICT, false)
        .set(option::FILTER, vec!["unload".to_owned()]);
    outcome.verdict = Verdict::Findings;
    outcome.cut_by(option::TIME_LIMIT);
    outcome.bounded_by(option::MAX_DEPTH);
    outcome.usages = vec![Usage {
        automation: "lights.groovy".into(),
        attribute: "switch.switch".into(),
        writes: vec!["on".into()],
        reads: true,
        hears: true,
    }];
    outcome.homes = vec![CheckedHome {
        automations: vec!["lights.groovy".into()],
        complete: false,
        limits: vec!["time_limit".into()],
    }];
    outcome.warnings.push(Warning {
        kind: WarningKind::Ignored,
        input: Some("run.trace".into()),
        text: "operation `inv` is unknown".into(),
        count: 2,
        places: vec!["event 5".into()],
    });
    outcome.findings.push(Finding {
        category: Some(RaceCategory::CoEnabled.word().into()),
        severity: Severity::Note,
        harm: Harm::Harmless,
        harm_class: Some("equal".into()),
        title: "`cart.items` is read and written in either order".into(),
        input: Some("run.trace".into()),
        group: Some("0123456789abcdef".into()),
        group_of_memory: true,
        sites: vec![site(1, "7", "read"), site(9, "12", "write")],
        related: vec![Related {
            kind: RelatedKind::Lock,
            text: "`m`, held by `main`, was taken".into(),
            of: vec![1],
            site: Site { line: Some(5), ..Site::default() },
        }],
        pairs: vec![["7".into(), "12".into()]],
        pairs_total: 3,
        confirmed: Some(false),
        reproduced: Some(Reproduction {
            class: Reproduced::Feasible,
            text: "took this order".into(),
            plan: Some(serde_json::json!({"format": "native-plan"})),
        }),
        form: Some("last".into()),
        explanation: vec![ExplanationStep {
            text: "`a` posts `b`".into(),
            rule: Some("post".into()),
            events: vec!["3".into()],
        }],
        pivot: Some("12".into()),
        root: Some("7".into()),
        cycle: vec![CycleConflict {
            from: "click".into(),
            to: "load".into(),
            location: "cart.items@0x41".into(),
            before: "7".into(),
            after: "12".into(),
            forced: Some(false),
        }],
        witness: Some(Witness {
            format: "schedule".into(),
            place: WitnessPlace::Path("w.json".into()),
        }),
        replay: Some("anyorder replay w.json".into()),
        coverage: Some(Coverage {
            level: CoverageLevel::Task,
            uncovered: true,
            uncovered_pairs: 1,
        }),
        filters: vec!["unload".into()],
        suppressed: Some(Suppressed {
            reason: Some("known".into()),
            line: Some(4),
            file: Some("t.supp".into()),
        }),
        baseline: true,
        ..Finding::new(Kind::Race)
    });
    let categories: Ordered<u64> = RaceCategory::ALL.iter().map(|c| (c.word(), 0)).collect();
    outcome.stats.set(stat::EVENTS, 12_u64).set(stat::RACES_BY_CATEGORY, categories);
    outcome.stats.keep("levels", Stat::List(vec![1, 2]));
    assign_ids(&mut outcome.findings);
    outcome
}

#[test]
fn fields_stand_in_the_documented_order() {
    let mut outcome = full();
    outcome.findings[0].id = "0123456789abcdef".into();
    let json = serde_json::to_string(&outcome).unwrap();
    let expected = concat!(
        r#"{"schema":1,"tool":"anyorder","version":"0.1.0","command":"check","#,
        r#""inputs":[{"path":"run.trace","format":"native"}],"#,
        r#""options":{"rules":"android","max-pairs":1000,"strict":false,"filter":["unload"]},"#,
        r#""verdict":"findings","complete":false,"limits":["time-limit"],"#,
        r#""bounds":["max-depth"],"#,
        r#""warnings":[{"kind":"ignored","input":"run.trace","text":"operation `inv` is unknown","count":2,"places":["event 5"]}],"#,
        r#""findings":[{"#,
        r#""id":"0123456789abcdef","kind":"race","category":"co_enabled","severity":"note","#,
        r#""harm":"harmless","harm_class":"equal","#,
        r#""title":"`cart.items` is read and written in either order","#,
        r#""input":"run.trace","group":"0123456789abcdef","group_of_memory":true,"sites":["#,
        r#"{"file":"app.js","line":1,"column":3,"function":"f","label":"L1","event":"7","task":"load/click#1","#,
        r#""handler":"page","thread":"main","location":"cart.items@0x41","allocated":"app.js:2 in init","access":"read","#,
        r#""chain":["posted by `init` at event 3","input `click`"],"#,
        r#""locks":["m"],"stack":["app.js:7 in f","app.js:1"],"#,
        r#""source":{"first":1,"lines":["let x;"],"newer":true}},"#,
        r#"{"file":"app.js","line":9,"column":3,"function":"f","label":"L1","event":"12","task":"load/click#1","#,
        r#""handler":"page","thread":"main","location":"cart.items@0x41","allocated":"app.js:2 in init","access":"write","#,
        r#""chain":["posted by `init` at event 3","input `click`"],"#,
        r#""locks":["m"],"stack":["app.js:7 in f","app.js:1"],"#,
        r#""source":{"first":1,"lines":["let x;"],"newer":true}}],"#,
        r#""related":[{"kind":"lock","text":"`m`, held by `main`, was taken","of":[1],"site":{"line":5}}],"#,
        r#""pairs":[["7","12"]],"pairs_total":3,"confirmed":false,"#,
        r#""reproduced":{"class":"feasible","text":"took this order","#,
        r#""plan":{"format":"native-plan"}},"form":"last","#,
        r#""explanation":[{"text":"`a` posts `b`","rule":"post","events":["3"]}],"#,
        r#""pivot":"12","root":"7","cycle":[{"from":"click","to":"load","#,
        r#""location":"cart.items@0x41","before":"7","after":"12","forced":false}],"#,
        r#""witness":{"format":"schedule","path":"w.json"},"replay":"anyorder replay w.json","#,
        r#""coverage":{"level":"task","uncovered":true,"uncovered_pairs":1},"#,
        r#""filters":["unload"],"suppressed":{"reason":"known","line":4,"file":"t.supp"},"baseline":true}],"#,
        r#""stats":{"events":12,"races_by_category":{"multi_threaded":0,"cross_posted":0,"#,
        r#""co_enabled":0,"delayed":0,"uncategorised":0},"levels":[1,2]},"#,
        r#""usages":[{"automation":"lights.groovy","attribute":"switch.switch","writes":["on"],"#,
        r#""reads":true,"hears":true}],"homes":[{"automations":["lights.groovy"],"#,
        r#""complete":false,"limits":["time_limit"]}]}"#,
    );
    assert_eq!(json, expected);
}

#[test]
fn absent_fields_are_omitted() {
    let json = serde_json::to_string(&Finding::new(Kind::Deadlock)).unwrap();
    assert_eq!(
        json,
        r#"{"id":"","kind":"deadlock","severity":"warning","harm":"undecided","title":"","sites":[],"confirmed":null}"#
    );
    assert_eq!(serde_json::to_string(&Site::default()).unwrap(), "{}");
}

#[test]
fn results_round_trip_and_unknown_keys_are_ignored() {
    let outcome = full();
    let json = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
    let more = json.replacen('{', r#"{"later":[1],"#, 1);
    assert_eq!(serde_json::from_str::<Outcome>(&more).unwrap(), outcome);
    let inline = Witness {
        format: "schedule".into(),
        place: WitnessPlace::Inline(serde_json::json!({"choices": []})),
    };
    let json = serde_json::to_string(&inline).unwrap();
    assert_eq!(json, r#"{"format":"schedule","inline":{"choices":[]}}"#);
    assert_eq!(serde_json::from_str::<Witness>(&json).unwrap(), inline);
    for value in [
        OptionValue::Bool(true),
        OptionValue::Integer(5),
        OptionValue::Text("5".into()),
        OptionValue::List(vec![]),
    ] {
        let json = serde_json::to_string(&value).unwrap();
        assert_eq!(serde_json::from_str::<OptionValue>(&json).unwrap(), value);
    }
    let stat: Stat = serde_json::from_str("[]").unwrap();
    assert_eq!(stat, Stat::List(vec![]));
}

#[test]
fn results_fit_the_schema() {
    let schema: Value = serde_json::from_str(schema()).unwrap();
    let full = serde_json::to_value(full()).unwrap();
    assert_eq!(check(&schema, &full), Vec::<String>::new());
    let empty = serde_json::to_value(Outcome::new("check", "0.1.0")).unwrap();
    assert_eq!(check(&schema, &empty), Vec::<String>::new());
}

#[test]
fn the_schema_names_every_field_and_word() {
    let schema: Value = serde_json::from_str(schema()).unwrap();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let full = serde_json::to_value(full()).unwrap();
    let defs = &schema["$defs"];
    let finding = &full["findings"][0];
    assert_eq!(keys(&defs["result"]["properties"]), keys(&full));
    assert_eq!(keys(&defs["finding"]["properties"]), keys(finding));
    assert_eq!(keys(&defs["usage"]["properties"]), keys(&full["usages"][0]));
    assert_eq!(keys(&defs["home"]["properties"]), keys(&full["homes"][0]));
    assert_eq!(keys(&defs["site"]["properties"]), keys(&finding["sites"][0]));
    assert_eq!(keys(&defs["coverage"]["properties"]), keys(&finding["coverage"]));
    assert_eq!(keys(&defs["cycle_conflict"]["properties"]), keys(&finding["cycle"][0]));
    assert_eq!(keys(&defs["related"]["properties"]), keys(&finding["related"][0]));
    let words = |value: &Value| -> Vec<String> {
        value["enum"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned()).collect()
    };
    let list = |all: Vec<&str>| -> Vec<String> { all.into_iter().map(str::to_owned).collect() };
    let kinds = Kind::ALL.iter().map(|kind| kind.word()).collect();
    assert_eq!(words(&defs["finding"]["properties"]["kind"]), list(kinds));
    let verdicts = Verdict::ALL.iter().map(|verdict| verdict.word()).collect();
    assert_eq!(words(&defs["result"]["properties"]["verdict"]), list(verdicts));
    let severities = Severity::ALL.iter().map(|severity| severity.word()).collect();
    assert_eq!(words(&defs["finding"]["properties"]["severity"]), list(severities));
    let kinds = WarningKind::ALL.iter().map(|kind| kind.word()).collect();
    assert_eq!(words(&defs["warning"]["properties"]["kind"]), list(kinds));
    assert_eq!(keys(&defs["warning"]["properties"]), keys(&full["warnings"][0]));
    let harms = Harm::ALL.iter().map(|harm| harm.word()).collect();
    assert_eq!(words(&defs["finding"]["properties"]["harm"]), list(harms));
    let levels = CoverageLevel::ALL.iter().map(|level| level.word()).collect();
    assert_eq!(words(&defs["coverage"]["properties"]["level"]), list(levels));
}

#[test]
fn the_checker_finds_mismatches() {
    let schema: Value = serde_json::from_str(schema()).unwrap();
    let good = serde_json::to_value(full()).unwrap();
    for (pointer, bad) in [
        ("/schema", serde_json::json!(2)),
        ("/verdict", serde_json::json!("fine")),
        ("/limits", serde_json::json!("time-limit")),
        ("/options/rules", serde_json::json!(null)),
        ("/findings/0/id", serde_json::json!("XYZ")),
        ("/findings/0/pairs/0", serde_json::json!(["1"])),
        ("/findings/0/confirmed", serde_json::json!("yes")),
        ("/findings/0/sites/0/line", serde_json::json!(1.5)),
        ("/findings/0/sites/0/chain/0", serde_json::json!(1)),
        ("/findings/0/witness", serde_json::json!({"format": "x"})),
        ("/findings/0/coverage/level", serde_json::json!("both")),
        ("/stats/events", serde_json::json!(-1)),
    ] {
        let mut value = good.clone();
        *value.pointer_mut(pointer).unwrap() = bad;
        assert!(!check(&schema, &value).is_empty(), "{pointer}");
    }
    let mut value = good;
    value.as_object_mut().unwrap().remove("stats");
    assert!(!check(&schema, &value).is_empty());
}
