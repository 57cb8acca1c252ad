//! Classes and their members.

use super::parser::{AHEAD_MAX, Parser, Res};
use crate::ast::{Class, ClassKind, EnumConstant, Item, Method, Modifiers, StmtKind, TypeName};
use crate::lex::Kind;

impl Parser<'_> {
    /// Reads a class, interface, enum, trait or annotation type.
    pub(super) fn class(&mut self) -> Res<Class> {
        let start = self.at;
        let modifiers = self.modifiers()?;
        let kind = match self.kind() {
            Kind::Word("interface") => ClassKind::Interface,
            Kind::Word("enum") => ClassKind::Enum,
            Kind::Word("trait") => ClassKind::Trait,
            Kind::Op("@") => {
                self.bump();
                ClassKind::Annotation
            }
            _ => ClassKind::Class,
        };
        self.bump();
        let name = self.name("the name of a class")?;
        self.skip_newline();
        let mut class = Class {
            span: self.span_from(start),
            kind,
            modifiers,
            name,
            type_parameters: self.type_parameters()?,
            extends: vec![],
            implements: vec![],
            constants: vec![],
            items: vec![],
        };
        self.skip_newline();
        if self.eat_word("extends") {
            class.extends = self.types(kind != ClassKind::Class)?;
        }
        if self.eat_word("implements") {
            class.implements = self.types(true)?;
        }
        self.classes.push(class.name.clone());
        let body = self.class_body(&mut class);
        self.classes.pop();
        body?;
        class.span = self.span_from(start);
        Ok(class)
    }

    fn types(&mut self, many: bool) -> Res<Vec<TypeName>> {
        self.skip_newline();
        let mut types = vec![self.type_name_without_brackets()?];
        while many && self.eat_op(",") {
            self.skip_newline();
            types.push(self.type_name_without_brackets()?);
        }
        self.skip_newline();
        Ok(types)
    }

    /// Reads the members in braces.
    pub(super) fn class_body(&mut self, class: &mut Class) -> Res<()> {
        let is_interface = matches!(class.kind, ClassKind::Interface | ClassKind::Annotation);
        let outer = std::mem::replace(&mut self.in_interface, is_interface);
        let result = self.class_items(class);
        self.in_interface = outer;
        result
    }

    fn class_items(&mut self, class: &mut Class) -> Res<()> {
        self.nested(|parser| {
            let behind = parser.behind_bracket(parser.at);
            parser.expect_op("{")?;
            parser.skip_newline();
            if class.kind == ClassKind::Enum
                && parser.kind() == Kind::Name
                && parser.starts_constant()
            {
                parser.constants(class)?;
            }
            loop {
                while parser.kind() == Kind::Newline || parser.is_op(";") {
                    parser.bump();
                }
                if parser.is_op("}") || parser.kind() == Kind::End {
                    break;
                }
                let start = parser.at;
                match parser.item(class) {
                    Ok(item) => {
                        class.items.push(item);
                        let separated = parser.kind() == Kind::Newline
                            || parser.is_op(";")
                            || parser.is_op("}");
                        if !separated {
                            parser.expected("a newline, `;` or `}`");
                            parser.recover(start, behind);
                        }
                    }
                    Err(_) => parser.recover(start, behind),
                }
            }
            parser.expect_op("}")
        })
    }

    /// Returns whether the first member of an enum is a constant.
    fn starts_constant(&self) -> bool {
        let mut at = self.at + 1;
        for open in ["(", "{"] {
            if self.is_op_at(at, open) {
                match self.behind_bracket(at) {
                    Some(behind) => at = behind,
                    None => return true,
                }
            }
        }
        matches!(self.kind_at(at), Kind::Op("," | ";" | "}") | Kind::Newline)
    }

    fn constants(&mut self, class: &mut Class) -> Res<()> {
        loop {
            let start = self.at;
            let modifiers = self.modifiers()?;
            let name = self.name("a constant")?;
            let arguments = if self.is_op("(") { Some(self.arguments("(", ")")?) } else { None };
            let body = if self.is_op("{") {
                let mut body = Class {
                    span: self.span(),
                    kind: ClassKind::Anonymous,
                    modifiers: Modifiers::default(),
                    name: String::new(),
                    type_parameters: vec![],
                    extends: vec![],
                    implements: vec![],
                    constants: vec![],
                    items: vec![],
                };
                self.class_body(&mut body)?;
                Some(Box::new(body))
            } else {
                None
            };
            let span = self.span_from(start);
            let annotations = modifiers.annotations;
            class.constants.push(EnumConstant { span, annotations, name, arguments, body });
            let comma = self.behind_newline(self.at);
            if !self.is_op_at(comma, ",") {
                return Ok(());
            }
            self.at = comma + 1;
            self.skip_newline();
            if self.kind() != Kind::Name && !self.is_op("@") {
                return Ok(());
            }
        }
    }

    fn item(&mut self, class: &Class) -> Res<Item> {
        let start = self.at;
        if self.is_op("{") {
            return Ok(Item::Initializer(false, self.method_body()?));
        }
        if self.is_word("static") && self.is_op_at(self.behind_newline(start + 1), "{") {
            self.bump();
            self.skip_newline();
            return Ok(Item::Initializer(true, self.method_body()?));
        }
        if self.is_class_at(start) {
            return Ok(Item::Class(Box::new(self.nested(|parser| parser.class())?)));
        }
        let name = self.behind_modifiers(start);
        if self.kind_at(name) == Kind::Name
            && self.text_at(name) == class.name
            && self.is_op_at(self.behind_newline(name + 1), "(")
        {
            return Ok(Item::Method(Box::new(self.constructor(start)?)));
        }
        if !self.is_declaration_at(start) && !self.is_generic_method_at(start) {
            return Err(self.expected("a member of a class"));
        }
        match self.declaration()? {
            StmtKind::Method(mut method) => {
                if class.kind == ClassKind::Annotation && self.eat_word("default") {
                    self.skip_newline();
                    method.default = Some(self.annotation_value()?);
                }
                Ok(Item::Method(method))
            }
            StmtKind::Declare(declaration) => Ok(Item::Field(Box::new(declaration))),
            _ => Err(self.expected("a member of a class")),
        }
    }

    fn constructor(&mut self, start: usize) -> Res<Method> {
        let modifiers = self.modifiers()?;
        if self.is_word_at(self.behind_newline(self.at + 1), "(") {
            self.bump();
        }
        let behind = self.behind_bracket(self.at + 1).unwrap_or(self.at);
        let body = (behind..behind + AHEAD_MAX).find(|at| self.is_op_at(*at, "{"));
        let first = body.map(|open| self.behind_newline(open + 1));
        self.constructor_call =
            first.filter(|at| self.is_whole_call(*at)).map(|at| self.span_at(at).start);
        let mut method = self.method(modifiers, None, start)?;
        method.is_constructor = true;
        Ok(method)
    }

    /// Returns whether the statement at `index` is one call in parentheses.
    fn is_whole_call(&self, index: usize) -> bool {
        let open = index + 1;
        let end = self.behind_bracket(open).filter(|_| self.is_op_at(open, "("));
        end.is_some_and(|at| {
            matches!(self.kind_at(at), Kind::Newline | Kind::Op(";" | "}") | Kind::End)
        })
    }
}
