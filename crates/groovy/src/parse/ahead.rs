//! Reading ahead: is it a declaration, a cast, a closure with parameters, a label?

use super::parser::{AHEAD_MAX, Parser};
use crate::lex::{Kind, MODIFIERS, PRIMITIVES};

impl Parser<'_> {
    pub(super) fn is_modifier_at(&self, index: usize) -> bool {
        matches!(self.kind_at(index), Kind::Word(word) if MODIFIERS.contains(&word))
    }

    pub(super) fn is_primitive_at(&self, index: usize) -> bool {
        matches!(self.kind_at(index), Kind::Word(word) if PRIMITIVES.contains(&word))
    }

    pub(super) fn is_upper_at(&self, index: usize) -> bool {
        self.kind_at(index) == Kind::Name
            && self.text_at(index).chars().next().is_some_and(char::is_uppercase)
    }

    /// Returns the index behind an annotation at `index`.
    pub(super) fn behind_annotation(&self, index: usize) -> Option<usize> {
        if !self.is_op_at(index, "@") || self.kind_at(index + 1) != Kind::Name {
            return None;
        }
        let mut at = index + 2;
        while self.is_op_at(at, ".") && self.kind_at(self.behind_newline(at + 1)) == Kind::Name {
            at = self.behind_newline(at + 1) + 1;
        }
        if self.is_op_at(at, "(") {
            at = self.behind_bracket(at)?;
        }
        Some(at)
    }

    /// Returns the index behind `<...>` at `index`; `index` if there is none. Reads no more than
    /// [`AHEAD_MAX`] tokens.
    fn behind_type_arguments(&self, index: usize) -> Option<usize> {
        if !self.is_op_at(index, "<") {
            return Some(index);
        }
        let mut depth = 0i32;
        for at in index..index + AHEAD_MAX {
            match self.kind_at(at) {
                Kind::Op("<") => depth += 1,
                Kind::Op(">") => depth -= 1,
                Kind::Op(">>") => depth -= 2,
                Kind::Op(">>>") => depth -= 3,
                Kind::Name | Kind::Newline | Kind::Op("." | "," | "?" | "[" | "]" | "&") => {}
                Kind::Word("extends" | "super") => {}
                _ if self.is_primitive_at(at) => {}
                _ => return None,
            }
            if depth <= 0 {
                return (depth == 0).then_some(at + 1);
            }
        }
        None
    }

    /// Returns the index behind a type at `index`: a dotted name with arguments, or a primitive
    /// type, and brackets. `brackets_full`: the brackets may hold something, as in `Foo[3] x`.
    pub(super) fn behind_type(&self, index: usize, brackets_full: bool) -> Option<usize> {
        let mut at = index;
        if self.is_primitive_at(at) {
            at += 1;
        } else {
            if self.kind_at(at) != Kind::Name {
                return None;
            }
            at = self.behind_type_arguments(at + 1)?;
            while self.is_op_at(at, ".")
                && self.kind_at(at + 1) == Kind::Name
                && at - index < AHEAD_MAX
            {
                at = self.behind_type_arguments(at + 2)?;
            }
        }
        while self.is_op_at(at, "[") {
            let behind = self.behind_bracket(at)?;
            if !brackets_full && behind != at + 2 {
                break;
            }
            at = behind;
        }
        Some(at)
    }

    /// Returns the index behind a type that may begin a declaration without `def`: primitive, or
    /// its last name begins with a capital letter.
    pub(super) fn behind_declared_type(&self, index: usize) -> Option<usize> {
        if self.is_primitive_at(index) {
            return self.behind_type(index, true);
        }
        let mut last = index;
        while self.is_op_at(last + 1, ".")
            && self.kind_at(last + 2) == Kind::Name
            && last - index < AHEAD_MAX
        {
            last += 2;
        }
        if !self.is_upper_at(last) {
            return None;
        }
        self.behind_type(index, true)
    }

    /// Returns whether a declaration of variables or a method begins at `index`.
    pub(super) fn is_declaration_at(&self, index: usize) -> bool {
        let mut at = index;
        let mut seen = 0;
        while seen < AHEAD_MAX {
            if self.is_word_at(at, "def") || self.is_modifier_at(at) {
                at = self.behind_newline(at + 1);
            } else if self.is_op_at(at, "@") {
                match self.behind_annotation(at) {
                    Some(behind) => at = self.behind_newline(behind),
                    None => return false,
                }
            } else {
                match self.behind_declared_type(at).filter(|behind| self.goes_on(*behind)) {
                    Some(behind) => at = behind,
                    None => break,
                }
            }
            seen += 1;
        }
        seen > 0 && matches!(self.kind_at(at), Kind::Name | Kind::Text)
    }

    /// Returns whether a declaration can go on at `index`, behind a type.
    fn goes_on(&self, index: usize) -> bool {
        matches!(self.kind_at(index), Kind::Name | Kind::Text | Kind::Op("@"))
            || self.is_word_at(index, "def")
            || self.is_modifier_at(index)
            || self.is_primitive_at(index)
    }

    /// Returns the index behind modifiers and annotations.
    pub(super) fn behind_modifiers(&self, index: usize) -> usize {
        let mut at = index;
        loop {
            if self.is_word_at(at, "def") || self.is_modifier_at(at) {
                at = self.behind_newline(at + 1);
            } else if let Some(behind) = self.behind_annotation(at) {
                at = self.behind_newline(behind);
            } else {
                return at;
            }
        }
    }

    /// Returns whether a token may stand behind a dot in an import, or in a string behind `$a`.
    pub(super) fn is_name_behind_dot(&self, index: usize) -> bool {
        matches!(
            self.kind_at(index),
            Kind::Name | Kind::Word("as" | "def" | "in" | "package" | "trait")
        )
    }

    /// Returns whether a generic method begins here: modifiers, then `<T>`.
    pub(super) fn is_generic_method_at(&self, index: usize) -> bool {
        let at = self.behind_modifiers(index);
        at > index && self.is_op_at(at, "<")
    }

    /// Returns whether `def (a, b)` begins here.
    pub(super) fn is_tuple_declaration_at(&self, index: usize) -> bool {
        let at = self.behind_modifiers(index);
        let defs = (index..at).any(|at| self.is_word_at(at, "def"));
        defs && self.is_op_at(at, "(")
    }

    /// Returns whether a class, interface, enum, trait or annotation type begins here.
    pub(super) fn is_class_at(&self, index: usize) -> bool {
        let at = self.behind_modifiers(index);
        match self.kind_at(at) {
            Kind::Word("class" | "interface" | "enum" | "trait") => true,
            Kind::Op("@") => self.is_word_at(at + 1, "interface"),
            _ => false,
        }
    }

    /// Returns whether a list of parameters and an arrow begin at `index`.
    pub(super) fn has_arrow(&self, index: usize) -> bool {
        let mut at = index;
        if self.is_op_at(self.behind_newline(at), "->") {
            return true;
        }
        loop {
            at = self.behind_modifiers(at);
            match self.behind_parameter(at) {
                Some(behind) => at = behind,
                None => return false,
            }
            if self.is_op_at(self.behind_newline(at), "->") {
                return true;
            }
            if !self.is_op_at(at, ",") {
                return false;
            }
            at = self.behind_newline(at + 1);
        }
    }

    /// Returns the index behind a parameter without its modifiers.
    fn behind_parameter(&self, index: usize) -> Option<usize> {
        let mut at = index;
        if let Some(behind) = self.behind_type(at, false) {
            let dots = usize::from(self.is_op_at(behind, "..."));
            if self.kind_at(behind + dots) == Kind::Name {
                at = behind + dots;
            }
        } else if self.is_op_at(at, "...") {
            at += 1;
        }
        if self.kind_at(at) != Kind::Name {
            return None;
        }
        at += 1;
        if self.is_op_at(at, "=") {
            at = self.behind_newline(at + 1);
            at = self.behind_default(at)?;
        }
        Some(at)
    }

    /// Returns whether parentheses hold no single expression: nothing, a key, or a comma.
    fn is_argument_list(&self, open: usize) -> bool {
        let mut at = open + 1;
        if matches!(self.kind_at(at), Kind::Op(")" | "*")) || self.is_label_at(at) {
            return true;
        }
        loop {
            match self.kind_at(at) {
                Kind::Op(",") => return true,
                Kind::End | Kind::Op(")" | "]" | "}") => return false,
                _ => at = self.behind_bracket(at).unwrap_or(at + 1),
            }
        }
    }

    /// Returns the index of the comma, arrow or newline behind the value of a parameter.
    fn behind_default(&self, index: usize) -> Option<usize> {
        let mut at = index;
        loop {
            match self.kind_at(at) {
                Kind::Op("," | "->") => return Some(at),
                Kind::Newline if !self.continues_at(at) => return Some(at),
                Kind::End | Kind::Op(";" | ")" | "]" | "}") => return None,
                Kind::Op("(" | "[" | "{") | Kind::TextStart => at = self.behind_bracket(at)?,
                _ => at += 1,
            }
        }
    }

    /// Returns whether an expression goes on over the newline at `index`.
    fn continues_at(&self, index: usize) -> bool {
        let before = index.checked_sub(1).map_or(Kind::End, |at| self.kind_at(at));
        let operator =
            matches!(before, Kind::Op(op) if !matches!(op, ")" | "]" | "}" | "++" | "--"));
        let next = self.kind_at(index + 1);
        operator || matches!(next, Kind::Op("?" | ":" | "?:" | "." | "?." | "*." | ".&"))
    }

    /// Returns whether a key with a colon stands at `index`.
    pub(super) fn is_label_at(&self, index: usize) -> bool {
        match self.kind_at(index) {
            Kind::Name | Kind::Number | Kind::Text => self.is_op_at(index + 1, ":"),
            Kind::Word(_) => self.is_op_at(index + 1, ":"),
            Kind::Op("(" | "[" | "{") | Kind::TextStart => {
                self.behind_bracket(index).is_some_and(|behind| self.is_op_at(behind, ":"))
            }
            _ => false,
        }
    }

    /// Returns the index of the equals sign of `(a, b) = ...` at `index`.
    pub(super) fn behind_names(&self, index: usize) -> Option<usize> {
        if !self.is_op_at(index, "(") {
            return None;
        }
        let behind = self.behind_bracket(index).filter(|at| self.is_op_at(*at, "="))?;
        let names = (index + 1..behind - 1).enumerate().all(|(number, at)| match number % 2 {
            0 => self.kind_at(at) == Kind::Name,
            _ => self.is_op_at(at, ","),
        });
        (names && (behind - index - 2) % 2 == 1).then_some(behind)
    }

    /// Returns the index behind `(T)` if that is a cast at `index`, and whether the type is
    /// primitive. Reads only the first token of the operand.
    pub(super) fn behind_cast(&self, index: usize) -> Option<usize> {
        let close = self.behind_bracket(index)?;
        let primitive = self.is_primitive_at(index + 1);
        let behind = self.behind_type(index + 1, false)?;
        if behind + 1 != close {
            return None;
        }
        let starts = match self.kind_at(close) {
            Kind::Name | Kind::Number | Kind::Text | Kind::TextStart => true,
            Kind::Word(word) => {
                matches!(word, "new" | "this" | "super" | "true" | "false" | "null")
                    || PRIMITIVES.contains(&word)
            }
            // `(f)()` is a call.
            Kind::Op("(") => !self.is_argument_list(close),
            Kind::Op("[" | "{" | "!" | "~") => true,
            Kind::Op("-" | "+" | "--" | "++") => primitive,
            _ => false,
        };
        starts.then_some(close)
    }
}
