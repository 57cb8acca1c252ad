use super::*;
use crate::ast::{ExprKind, ItemKind, Mailbox, StmtKind};

/// Returns the codes and places of the messages for a text, as `E006 12..13`.
fn messages(text: &str) -> Vec<String> {
    let diagnostics = parse(text).diagnostics;
    diagnostics.iter().map(|d| format!("{} {:?}", d.code.as_str(), d.primary.span)).collect()
}

fn sound(text: &str) -> Model {
    let parsed = parse(text);
    assert!(parsed.diagnostics.is_empty(), "{text}: {:?}", parsed.diagnostics);
    parsed.model
}

/// Returns the tree of an expression with all parentheses written.
fn shape(expr: &str) -> String {
    let model = sound(&format!("model m\nconst c = {expr};"));
    let Some(ItemKind::Const(decl)) = model.items.first().map(|item| &item.kind) else {
        panic!("no constant")
    };
    shown(&decl.value)
}

fn shown(expr: &crate::ast::Expr) -> String {
    match &expr.kind {
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Name(name) => name.clone(),
        ExprKind::Paren(inner) => shown(inner),
        ExprKind::Unary(op, operand) => format!("({op:?} {})", shown(operand)),
        ExprKind::Binary { op, left, right, .. } => {
            format!("({} {op:?} {})", shown(left), shown(right))
        }
        ExprKind::Field { base, name } => format!("{}.{}", shown(base), name.name),
        ExprKind::Index { base, index } => format!("{}[{}]", shown(base), shown(index)),
        ExprKind::Method { receiver, name, args } => {
            let args: Vec<String> = args.iter().map(shown).collect();
            format!("{}.{}({})", shown(receiver), name.name, args.join(", "))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_the_table_says() {
    assert_eq!(shape("1 + 2 * 3 - 4"), "((1 Add (2 Mul 3)) Sub 4)");
    assert_eq!(shape("!a && b || c"), "(((Not a) And b) Or c)");
    assert_eq!(shape("a + 1 < b == c"), "(((a Add 1) Lt b) Eq c)");
    assert_eq!(shape("0..n + 1"), "(0 Range (n Add 1))");
    assert_eq!(shape("-a.b[1] % 2"), "((Neg a.b[1]) Rem 2)");
    assert_eq!(shape("(1 + 2) * 3"), "((1 Add 2) Mul 3)");
    assert_eq!(shape("a - b - c"), "((a Sub b) Sub c)");
    assert_eq!(shape("x in xs && y"), "((x In xs) And y)");
    assert_eq!(shape("-9223372036854775808"), i64::MIN.to_string());
    assert_eq!(shape("m.set(1, 2)"), "m.set(1, 2)", "reserved words are names behind a dot");
}

#[test]
fn names_before_braces_are_records_only_where_no_block_follows() {
    let model = sound("model m\ninit { if a { b = R { x: 1 }; } while x == (R { x: 1 }) { } }");
    let Some(ItemKind::Init(body)) = model.items.first().map(|item| &item.kind) else {
        panic!("no init")
    };
    assert!(matches!(body.stmts[0].kind, StmtKind::If(_)));
    assert!(matches!(body.stmts[1].kind, StmtKind::While { .. }));
}

#[test]
fn declarations_keep_what_was_written() {
    let model = sound(
        "model m\nindex W = 3;\nhandler w[W]: bag;\nonce disabled event e[i in 0..3] on w[i] when x after a, b {}\n",
    );
    let ItemKind::Index(index) = &model.items[0].kind else { panic!("no index type") };
    assert_eq!(index.name.name, "W");
    let ItemKind::Handler(handler) = &model.items[1].kind else { panic!("no handler") };
    assert!(handler.mailbox == Mailbox::Bag && handler.name.size.is_some());
    let ItemKind::Event(event) = &model.items[2].kind else { panic!("no event") };
    assert!(event.once && event.disabled && event.family.is_some() && event.on.is_some());
    assert!(event.when.is_some() && event.after.len() == 2);
}

#[test]
fn values_without_semicolon_end_functions_and_branches() {
    let model = sound("model m\nfn f() -> int { if a { 1 } else { 2 } }\nfn g() { if a { b(); } }");
    let ItemKind::Fn(f) = &model.items[0].kind else { panic!("no function") };
    assert!(f.body.value.is_some() && f.body.stmts.is_empty());
    let ItemKind::Fn(g) = &model.items[1].kind else { panic!("no function") };
    assert!(g.body.value.is_none() && g.body.stmts.len() == 1);
}

#[test]
fn recovery_goes_on_at_the_next_statement_and_declaration() {
    let text =
        "model m\ninit { let = 1; x = ; y = 2 }\nvar a = 1\nvar b = 2;\nevnt c {}\nevent d {}";
    let parsed = parse(text);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert_eq!(codes, ["E006", "E006", "E008", "E008", "E006"]);
    let kinds: Vec<bool> =
        parsed.model.items.iter().map(|item| !matches!(item.kind, ItemKind::Error)).collect();
    assert_eq!(kinds, [true, true, true, false, true]);
    let ItemKind::Init(body) = &parsed.model.items[0].kind else { panic!("no init") };
    assert_eq!(body.stmts.len(), 3, "three statements, two of them with gaps");
}

#[test]
fn a_missing_brace_is_told_at_the_next_declaration_with_the_open_one() {
    let text = "model m\ninit {\n  x = 1;\ntask t() { }\n";
    let parsed = parse(text);
    assert_eq!(messages(text), ["E009 24..28"]);
    assert_eq!(parsed.diagnostics[0].secondary[0].span, Span::new(13, 14));
    assert_eq!(parsed.model.items.len(), 2);
}

#[test]
fn one_mistake_is_one_message() {
    assert_eq!(messages("model m\nvar x = (1;"), ["E009 18..19"]);
    assert_eq!(messages("model m\nvar x = [1, 2;"), ["E006 21..22"]);
    assert_eq!(messages("model m\ninit { f(1, ); }"), Vec::<String>::new());
    assert_eq!(messages("model m\ninit { x = 1 y = 2; }"), ["E008 20..20"]);
    assert_eq!(messages("model m\n}"), ["E009 8..9"]);
    assert_eq!(messages("model m\nonce handler h: fifo;"), ["E012 8..12"]);
    assert_eq!(messages("model m\nevent e(x) {}"), ["E006 15..16"]);
    assert_eq!(messages(""), ["E007 0..0"]);
}

#[test]
fn node_ids_are_dense_and_each_is_used_once() {
    let text = include_str!("../../tests/all.any");
    let model = sound(text);
    let shown = format!("{model:?}");
    let mut seen = vec![0u32; model.node_count as usize];
    for element in shown.split("id: #").skip(1) {
        let digits: String = element.chars().take_while(char::is_ascii_digit).collect();
        seen[digits.parse::<usize>().expect("a number")] += 1;
    }
    assert!(seen.iter().all(|count| *count <= 1), "an id is used twice");
    let used = seen.iter().filter(|count| **count == 1).count();
    assert!(used * 100 > seen.len() * 95, "{used} of {} ids are in the tree", seen.len());
}
