use super::*;

fn kinds(text: &str) -> Vec<TokenKind> {
    lex(text).tokens.iter().map(|token| token.kind).collect()
}

#[test]
fn the_longest_sign_wins() {
    use TokenKind::*;
    assert_eq!(
        kinds("a+=b++ ..->=>"),
        [Name, PlusEq, Name, PlusPlus, DotDot, Arrow, FatArrow, End]
    );
    assert_eq!(kinds("0..3"), [Int, DotDot, Int, End]);
    assert_eq!(kinds("_ _x"), [Underscore, Name, End]);
}

#[test]
fn comments_nest_and_are_no_tokens() {
    let lexed = lex("a /* x /* y */ z */ b // c\r\nd");
    assert_eq!(lexed.tokens.len(), 4);
    let texts: Vec<&str> =
        lexed.comments.iter().map(|c| c.span.of("a /* x /* y */ z */ b // c\r\nd")).collect();
    assert_eq!(texts, ["/* x /* y */ z */", "// c"]);
    assert!(lexed.diagnostics.is_empty());
    assert_eq!(lex("/* /* */").diagnostics.len(), 1);
}

#[test]
fn strings_end_on_their_line() {
    let text = "\"a\\\"b\" \"open\nx";
    let lexed = lex(text);
    assert_eq!(kinds(text), [TokenKind::Str, TokenKind::Str, TokenKind::Name, TokenKind::End]);
    assert_eq!(lexed.diagnostics.len(), 1);
    assert_eq!(unescape(r#""a\"\n\u{41}\q""#, 10), ("a\"\nA".to_string(), vec![Span::new(22, 24)]));
    assert_eq!(lex("\"\\ä").tokens.len(), 2, "a character of several bytes behind a backslash");
}

#[test]
fn numbers_have_64_bits() {
    assert_eq!(parse_int("1_000"), Ok(1000));
    assert_eq!(parse_int("0xff"), Ok(255));
    assert_eq!(parse_int("9223372036854775808"), Ok(1 << 63));
    assert_eq!(parse_int("9223372036854775809"), Err(IntError::TooLarge));
    assert_eq!(parse_int("99999999999999999999999"), Err(IntError::TooLarge));
    assert_eq!(parse_int("12ab"), Err(IntError::Malformed));
    assert_eq!(parse_int("0x"), Err(IntError::Malformed));
}

#[test]
fn a_run_of_unknown_characters_is_one_message() {
    let lexed = lex("a @@# b");
    assert_eq!(lexed.diagnostics.len(), 1);
    assert_eq!(lexed.diagnostics[0].primary.span, Span::new(2, 5));
}
