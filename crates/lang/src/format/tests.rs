use super::format;

fn check(text: &str, want: &str) {
    let found = format(text).unwrap_or_else(|d| panic!("{d:?}"));
    assert_eq!(found, want);
    assert_eq!(format(&found).ok().as_deref(), Some(want), "the second time");
}

#[test]
fn spacing_is_canonical() {
    check(
        "model   m\nvar x=1,y : int=2;init{x+=1;\n}",
        "model m\n\nvar x = 1, y: int = 2;\ninit {\n    x += 1;\n}\n",
    );
    check("model m event e{ }", "model m\n\nevent e {}\n");
}

#[test]
fn short_blocks_stay_on_one_line_and_long_ones_break() {
    check("model m\n\nevent e { x = 1; y = 2; }\n", "model m\n\nevent e { x = 1; y = 2; }\n");
    let long = "a".repeat(60);
    let text = format!("model m\n\nevent e {{ {long} = 1; {long} = 2; }}\n");
    check(&text, &format!("model m\n\nevent e {{\n    {long} = 1;\n    {long} = 2;\n}}\n"));
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let text = "// file\nmodel m // the name\n\n// a\nvar x = 1; // b\n\n\n/* c */\ninit {\n    // d\n    x = 2; // e\n\n    // f\n}\n// end\n";
    check(text, &text.replace("\n\n\n", "\n\n"));
}

#[test]
fn a_statement_with_comments_inside_stays_as_it_is() {
    let text = "model m\n\nvar x = [\n  1, // one\n  2\n];\n";
    check(text, text);
}

#[test]
fn long_lists_and_conditions_break() {
    let name = "n".repeat(30);
    let text = format!(
        "model m\n\ninit {{\n    f({name}, {name}, {name}, {name});\n    assert {name} && {name} && {name} && {name};\n}}\n"
    );
    let want = format!(
        "model m\n\ninit {{\n    f(\n        {name},\n        {name},\n        {name},\n        {name},\n    );\n    assert {name}\n        && {name}\n        && {name}\n        && {name};\n}}\n"
    );
    check(&text, &want);
}

#[test]
fn a_file_with_mistakes_is_not_touched() {
    assert!(format("model m\nvar x = ;").is_err());
}

#[test]
fn signs_do_not_run_together() {
    check(
        "model m\n\nvar x = - -1;\nvar y = -(-1);\nvar z = !!true;\n",
        "model m\n\nvar x = - -1;\nvar y = -(-1);\nvar z = !!true;\n",
    );
}
