//! Fixes, and models without them.
//!
//! | in the fixed model | without the fix |
//! | --- | --- |
//! | `code // fix` | the line is not there |
//! | `code // fix, instead of: other` | `other` |
//! | the lines from `// fix begin` to `// fix end` | those of them that are comments `// was: other`, as `other` |

/// The model without its fix.
pub(crate) fn without(text: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in text.lines() {
        let bare = line.trim_start();
        let indent = &line[..line.len() - bare.len()];
        let kept = match bare {
            "// fix begin" => {
                assert!(!inside, "a fix in a fix: {line}");
                inside = true;
                None
            }
            "// fix end" => {
                assert!(inside, "no fix ends here: {line}");
                inside = false;
                None
            }
            _ if inside => bare.strip_prefix("// was: ").map(|code| format!("{indent}{code}")),
            _ => line_without(line, indent),
        };
        if let Some(kept) = kept {
            out.push_str(&kept);
            out.push('\n');
        }
    }
    assert!(!inside, "a fix does not end");
    out
}

fn line_without(line: &str, indent: &str) -> Option<String> {
    if let Some((_, code)) = line.split_once("// fix, instead of: ") {
        return Some(format!("{indent}{code}"));
    }
    (!line.ends_with("// fix")).then(|| line.to_owned())
}

/// What a model says, without its header (comments and `model NAME`) and without empty lines.
pub(crate) fn body(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with("model ")).skip(1);
    lines.filter(|line| !line.trim().is_empty()).map(|line| format!("{line}\n")).collect()
}

#[test]
fn marks_are_taken_out() {
    let text = "a;\nb; // fix\n  c; // fix, instead of: d;\n  // fix begin\n  // was: e;\n  f;\n  // fix end\ng; // fixed\n";
    assert_eq!(without(text), "a;\n  d;\n  e;\ng; // fixed\n");
    assert_eq!(body("// x\nmodel m\n\na;\n\nb;\n"), "a;\nb;\n");
}
