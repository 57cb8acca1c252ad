//! Keys, for trusted input.

use serde_json::{Value, json};

/// A key with its modifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Key {
    key: String,
    code: String,
    /// What it types; empty if nothing.
    text: String,
    number: u32,
    modifiers: u32,
}

/// The keys with names, what they type, and their numbers.
const NAMED: &[(&str, &str, u32)] = &[
    ("Enter", "\r", 13),
    ("Tab", "", 9),
    ("Escape", "", 27),
    ("Backspace", "", 8),
    ("Delete", "", 46),
    ("Home", "", 36),
    ("End", "", 35),
    ("PageUp", "", 33),
    ("PageDown", "", 34),
    ("ArrowLeft", "", 37),
    ("ArrowUp", "", 38),
    ("ArrowRight", "", 39),
    ("ArrowDown", "", 40),
    ("F1", "", 112),
    ("F2", "", 113),
    ("F5", "", 116),
    ("Space", " ", 32),
];

const MODIFIERS: &[(&str, u32)] = &[("Alt", 1), ("Control", 2), ("Meta", 4), ("Shift", 8)];

/// Returns the key of a name, such as `Enter`, `a` or `Control+a`; `None` if there is none.
pub(crate) fn key_of(name: &str) -> Option<Key> {
    let mut rest = name;
    let mut modifiers = 0;
    while let Some((word, after)) = rest.split_once('+').filter(|(_, after)| !after.is_empty()) {
        modifiers |= MODIFIERS.iter().find(|(known, _)| *known == word)?.1;
        rest = after;
    }
    let named = NAMED.iter().find(|(known, ..)| *known == rest);
    let mut key = match named {
        Some((word, text, number)) => {
            let key = if *word == "Space" { " " } else { word };
            let (key, code, text) = (key.to_owned(), (*word).to_owned(), (*text).to_owned());
            Key { key, code, text, number: *number, modifiers }
        }
        None => {
            let mut characters = rest.chars();
            let (character, None) = (characters.next()?, characters.next()) else { return None };
            of_character(character, modifiers)
        }
    };
    // A shortcut types nothing.
    if modifiers & !8 != 0 {
        key.text.clear();
    }
    Some(key)
}

/// Returns the key that types a character.
pub(crate) fn of_character(character: char, modifiers: u32) -> Key {
    if character == '\n' {
        let (key, code) = ("Enter".to_owned(), "Enter".to_owned());
        return Key { key, code, text: "\r".to_owned(), number: 13, modifiers };
    }
    let upper = character.to_ascii_uppercase();
    let (code, number) = match upper {
        'A'..='Z' => (format!("Key{upper}"), u32::from(upper)),
        '0'..='9' => (format!("Digit{upper}"), u32::from(upper)),
        ' ' => ("Space".to_owned(), 32),
        _ => (String::new(), 0),
    };
    Key { key: character.to_string(), code, text: character.to_string(), number, modifiers }
}

impl Key {
    /// Returns whether a button is active while it is pressed.
    pub(crate) fn activates(&self) -> bool {
        matches!(self.text.as_str(), " " | "\r")
    }

    /// Returns the two events of pressing and releasing it.
    pub(crate) fn events(&self) -> [Value; 2] {
        let kind = if self.text.is_empty() { "rawKeyDown" } else { "keyDown" };
        let event = |kind: &str, text: &str| {
            let mut event = json!({
                "type": kind, "key": self.key, "code": self.code, "modifiers": self.modifiers,
                "windowsVirtualKeyCode": self.number, "nativeVirtualKeyCode": self.number,
            });
            if !text.is_empty() {
                event["text"] = json!(text);
                event["unmodifiedText"] = json!(text);
            }
            event
        };
        [event(kind, &self.text), event("keyUp", "")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_names() {
        assert_eq!(key_of("Enter").unwrap().text, "\r");
        assert_eq!(key_of("a").unwrap().code, "KeyA");
        let shortcut = key_of("Control+Shift+a").unwrap();
        assert_eq!((shortcut.modifiers, shortcut.text.as_str()), (10, ""));
        assert_eq!(key_of("+").unwrap().key, "+");
        assert_eq!(key_of("Shift++").unwrap().key, "+");
        for name in ["", "ab", "Control+", "Hyper+a"] {
            assert_eq!(key_of(name), None, "{name}");
        }
    }
}
