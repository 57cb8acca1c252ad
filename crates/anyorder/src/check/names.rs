//! The variable or field that a value was given to, read off the source: `count` of
//! `let count = Arc::new(AtomicUsize::new(0))`.

/// Returns the name of what is made in a line at a column, from 1. `None` where it is not obvious.
///
/// Walks from the call to the left, out of calls (`Arc::new(`) and tuples.
pub(super) fn name_in(line: &str, column: u32) -> Option<String> {
    let before: Vec<char> = line.chars().take(column.checked_sub(1)? as usize).collect();
    let mut text: String = before.into_iter().collect();
    let mut index: Option<usize> = None;
    loop {
        let head = text.trim_end();
        match head.chars().next_back()? {
            '=' => return named(head.strip_suffix('=')?, index),
            ':' if !head.ends_with("::") => {
                let field = word_at_end(head.strip_suffix(':')?)?;
                return Some(with_index(field, index));
            }
            '&' | '|' => return None,
            _ => {}
        }
        let (outer, commas, bracket) = opened(head)?;
        let call = outer.trim_end_matches(|c: char| c.is_alphanumeric() || "_:<>!".contains(c));
        let is_call = call.len() < outer.len();
        match (is_call, bracket) {
            // The only argument of a call, or its first one.
            (true, _) if commas > 0 => return None,
            (true, '(') => {}
            (false, '(' | '[') if index.is_none() => index = Some(commas),
            _ => return None,
        }
        text = call.to_owned();
    }
}

/// Returns the name of what a method is called on, in a line at a column, from 1: `count` of
/// `shared.count.load(Relaxed)`. `None` where it is not obvious.
pub(super) fn name_used(line: &str, column: u32) -> Option<String> {
    let before: String = line.chars().take(column.checked_sub(1)? as usize).collect();
    match before.trim_end().strip_suffix('.') {
        Some(path) => word_at_end(path),
        // The column is that of the path.
        None => {
            let after = line.get(before.len()..)?;
            let path = after.split('(').next()?.rsplit_once('.')?.0;
            word_at_end(path)
        }
    }
    .filter(|name| *name != "self")
    .map(str::to_owned)
}

/// Returns the text before the bracket that is open at the end of a text, how many commas follow
/// the bracket, and the bracket.
fn opened(text: &str) -> Option<(&str, usize, char)> {
    let (mut depth, mut commas) = (0_usize, 0);
    for (at, c) in text.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' if depth > 0 => depth -= 1,
            '(' | '[' => return Some((&text[..at], commas, c)),
            '{' | ';' => return None,
            ',' if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}

/// The name on the left of `=`.
fn named(left: &str, index: Option<usize>) -> Option<String> {
    let left = left.trim_end();
    if left.ends_with(['=', '!', '<', '>', '+', '-', '*', '/', '|', '&']) && !left.ends_with('>') {
        return None;
    }
    let declared = ["let mut ", "let ", "static mut ", "static ", "const "];
    let after = declared.iter().find_map(|word| {
        let (before, after) = left.rsplit_once(word)?;
        let is_word = before.is_empty() || before.ends_with([' ', '\t', '{', '(', ';']);
        is_word.then_some(after)
    })?;
    let after = after.trim();
    if let Some(tuple) = after.strip_prefix('(') {
        let names: Vec<&str> = tuple.split(')').next()?.split(',').map(str::trim).collect();
        let name = names.get(index?)?.trim_start_matches("mut ");
        return is_name(name).then(|| name.to_owned());
    }
    let name = after.split(':').next()?.trim();
    is_name(name).then(|| with_index(name, index))
}

fn with_index(name: &str, index: Option<usize>) -> String {
    match index {
        Some(index) => format!("{name}.{index}"),
        None => name.to_owned(),
    }
}

fn word_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let start = text.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    let word = &text[start..];
    is_name(word).then_some(word)
}

fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.chars().all(is_part) && text.chars().next().is_some_and(|c| !c.is_numeric() && c != '_')
}

/// Returns the name of a type without paths: `Mutex<Vec<u8>>`.
pub(super) fn short_type(name: &str) -> String {
    let (mut short, mut word) = (String::new(), String::new());
    for c in name.chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => word.push(c),
            ':' => word.clear(),
            c => {
                short.push_str(&std::mem::take(&mut word));
                short.push(c);
            }
        }
    }
    short + &word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(line: &str) -> Option<String> {
        let column = line.find('^').expect("a mark");
        name_in(&line.replace('^', ""), column as u32 + 1)
    }

    #[test]
    fn a_name_is_read_off_where_it_is_obvious() {
        let cases = [
            ("    let count = ^AtomicUsize::new(0);", Some("count")),
            ("    let mut count: Mutex<i32> = ^Mutex::new(0);", Some("count")),
            ("    let count = Arc::new(^AtomicUsize::new(0));", Some("count")),
            ("    let count = anyorder::sync::Arc::new(Some(^Cell::new(0)));", Some("count")),
            ("    let (a, b) = (^Mutex::new(0), Mutex::new(1));", Some("a")),
            (
                "    let (a, mut b) = (Arc::new(Mutex::new(0)), Arc::new(^Mutex::new(1)));",
                Some("b"),
            ),
            ("    let pair = Arc::new((^Mutex::new(false), Condvar::new()));", Some("pair.0")),
            ("    let pair = Arc::new((Mutex::new(false), ^Condvar::new()));", Some("pair.1")),
            ("    let locks = [Mutex::new(0), ^Mutex::new(0)];", Some("locks.1")),
            ("    let s = Arc::new(Shared { flag: ^AtomicBool::new(false) });", Some("flag")),
            ("        flag: Arc::new(^AtomicBool::new(false)),", Some("flag")),
            ("static READY: AtomicBool = ^AtomicBool::new(false);", Some("READY")),
            ("let (sender, receiver) = ^channel();", None),
            ("    f(1, ^Mutex::new(0));", None),
            ("    x == ^Mutex::new(0)", None),
            ("    ^Mutex::new(0)", None),
            ("|| ^Mutex::new(0)", None),
            ("    let outlet = { ^Mutex::new(0) };", None),
            ("    letter = ^Mutex::new(0);", None),
            ("    let x = vec.iter().map(|_| ^Mutex::new(0));", None),
            ("^", None),
        ];
        for (line, expected) in cases {
            assert_eq!(name(line).as_deref(), expected, "{line}");
        }
        // A column beyond the line, and between wide characters.
        assert_eq!(name_in("é", 99), None);
        assert_eq!(name_in("    let é = Mutex::new(0)", 13).as_deref(), Some("é"));
        assert_eq!(name_in("", 0), None);
    }

    #[test]
    fn the_name_of_what_is_used() {
        let used = |line: &str| {
            let column = line.find('^').expect("a mark");
            name_used(&line.replace('^', ""), column as u32 + 1)
        };
        assert_eq!(used("    let x = self.count.^load(Relaxed);").as_deref(), Some("count"));
        assert_eq!(used("    ^self.count.load(Relaxed);").as_deref(), Some("count"));
        assert_eq!(used("    count.^load(Relaxed);").as_deref(), Some("count"));
        assert_eq!(used("    self.^load(Relaxed);"), None);
        assert_eq!(used("        .^load(Relaxed);"), None);
        assert_eq!(used("    all[0].^load(Relaxed);"), None);
        assert_eq!(used("^"), None);
    }

    #[test]
    fn types_lose_their_paths() {
        assert_eq!(short_type("a::b::Mutex<alloc::vec::Vec<u8>>"), "Mutex<Vec<u8>>");
        assert_eq!(short_type("(i32, a::B)"), "(i32, B)");
        assert_eq!(short_type("*mut core::cell::Cell<u8>"), "*mut Cell<u8>");
    }
}
