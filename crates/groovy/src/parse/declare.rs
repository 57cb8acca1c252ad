//! Declarations: modifiers, annotations, types, variables, methods, parameters.

use super::parser::{Left, Parser, Res};
use crate::ast::{
    Annotation, Block, Declaration, Expr, Method, Modifiers, Parameter, StmtKind, TypeName,
    TypeParameter, Variable,
};
use crate::lex::Kind;

impl Parser<'_> {
    pub(super) fn modifiers(&mut self) -> Res<Modifiers> {
        let mut modifiers = Modifiers::default();
        loop {
            match self.kind() {
                Kind::Word("def") if !modifiers.has_def => {
                    modifiers.has_def = true;
                    self.bump();
                }
                Kind::Word(word) if self.is_modifier_at(self.at) => {
                    if modifiers.words.contains(&word) || word == "threadsafe" {
                        return Err(self.expected("another modifier"));
                    }
                    modifiers.words.push(word);
                    self.bump();
                }
                Kind::Op("@") if !self.is_word_at(self.at + 1, "interface") => {
                    modifiers.annotations.push(self.annotation()?);
                }
                _ => return Ok(modifiers),
            }
            self.skip_newline();
        }
    }

    pub(super) fn dotted_name(&mut self) -> Res<String> {
        let mut name = self.name("a name")?;
        while self.is_op(".") && self.kind_at(self.behind_newline(self.at + 1)) == Kind::Name {
            self.bump();
            self.skip_newline();
            name.push('.');
            name += &self.name("a name")?;
        }
        Ok(name)
    }

    pub(super) fn annotation(&mut self) -> Res<Annotation> {
        let start = self.at;
        self.expect_op("@")?;
        let name = self.dotted_name()?;
        let mut members = Vec::new();
        if self.eat_op("(") {
            if !self.is_op(")") {
                if self.kind() == Kind::Name && self.is_op_at(self.at + 1, "=") {
                    loop {
                        let key = self.name("the name of a member")?;
                        self.expect_op("=")?;
                        members.push((key, self.annotation_value()?));
                        if !self.eat_op(",") {
                            break;
                        }
                    }
                } else {
                    members.push(("value".to_owned(), self.annotation_value()?));
                }
            }
            self.expect_op(")")?;
        }
        Ok(Annotation { span: self.span_from(start), name, members })
    }

    pub(super) fn annotation_value(&mut self) -> Res<Expr> {
        let start = self.at;
        if self.is_op("@") {
            let annotation = self.nested(|parser| parser.annotation())?;
            let kind = crate::ast::ExprKind::Annotation(Box::new(annotation));
            return Ok(Expr::new(self.span_from(start), kind));
        }
        self.nested(|parser| parser.conditional(Left::Inner))
    }

    /// Reads a type with its brackets.
    pub(super) fn type_name(&mut self) -> Res<TypeName> {
        let start = self.at;
        let mut type_name = self.type_name_without_brackets()?;
        while self.is_op("[") && self.is_op_at(self.at + 1, "]") {
            self.at += 2;
            type_name.dimensions += 1;
        }
        type_name.span = self.span_from(start);
        Ok(type_name)
    }

    pub(super) fn type_name_without_brackets(&mut self) -> Res<TypeName> {
        let mut pending = 0;
        let type_name = self.type_in(&mut pending)?;
        if pending > 0 {
            return Err(self.expected("fewer `>`"));
        }
        Ok(type_name)
    }

    /// Reads a type. `pending`: how many enclosing `<` the last `>>` or `>>>` closed too.
    fn type_in(&mut self, pending: &mut u32) -> Res<TypeName> {
        let start = self.at;
        let mut type_name = TypeName {
            span: self.span(),
            name: String::new(),
            arguments: None,
            bound: None,
            dimensions: 0,
        };
        if self.is_primitive_at(self.at) {
            self.bump();
            type_name.name = self.text_at(start).to_owned();
            return Ok(type_name);
        }
        if self.eat_op("?") {
            type_name.name = "?".to_owned();
            let bound = ["extends", "super"].into_iter().find(|word| self.is_word(word));
            if let Some(word) = bound {
                self.bump();
                self.skip_newline();
                let inner = self.nested(|parser| parser.type_in(pending))?;
                type_name.bound = Some((word, Box::new(inner)));
                self.skip_newline();
            }
            return Ok(type_name);
        }
        type_name.name = self.name("a type")?;
        self.type_arguments(&mut type_name, pending)?;
        while *pending == 0 && self.is_op(".") && self.kind_at(self.at + 1) == Kind::Name {
            self.bump();
            type_name.name.push('.');
            type_name.name += &self.name("a type")?;
            self.type_arguments(&mut type_name, pending)?;
        }
        type_name.span = self.span_from(start);
        Ok(type_name)
    }

    fn type_arguments(&mut self, type_name: &mut TypeName, pending: &mut u32) -> Res<()> {
        if !self.eat_op("<") {
            return Ok(());
        }
        self.skip_newline();
        let mut arguments = Vec::new();
        if self.eat_op(">") {
            type_name.arguments = Some(arguments);
            return Ok(());
        }
        loop {
            let mut argument = self.nested(|parser| parser.type_in(pending))?;
            while *pending == 0 && self.is_op("[") && self.is_op_at(self.at + 1, "]") {
                self.at += 2;
                argument.dimensions += 1;
            }
            arguments.push(argument);
            if *pending > 0 || !self.eat_op(",") {
                break;
            }
            self.skip_newline();
        }
        type_name.arguments = Some(arguments);
        if *pending > 0 {
            *pending -= 1;
            return Ok(());
        }
        self.skip_newline();
        *pending = match self.kind() {
            Kind::Op(">") => 0,
            Kind::Op(">>") => 1,
            Kind::Op(">>>") => 2,
            _ => return Err(self.expected("`>`")),
        };
        self.bump();
        Ok(())
    }

    pub(super) fn type_parameters(&mut self) -> Res<Vec<TypeParameter>> {
        let mut parameters = Vec::new();
        if !self.eat_op("<") {
            return Ok(parameters);
        }
        self.skip_newline();
        let mut pending = 0;
        loop {
            let mut parameter = TypeParameter { name: self.name("a type")?, bounds: vec![] };
            if self.eat_word("extends") {
                self.skip_newline();
                parameter.bounds.push(self.type_in(&mut pending)?);
                while pending == 0 && self.eat_op("&") {
                    self.skip_newline();
                    parameter.bounds.push(self.type_in(&mut pending)?);
                }
            }
            parameters.push(parameter);
            if pending > 0 || !self.eat_op(",") {
                break;
            }
            self.skip_newline();
        }
        self.skip_newline();
        if pending == 0 {
            self.expect_op(">")?;
        }
        self.skip_newline();
        Ok(parameters)
    }

    /// Reads variables or a method, at a place where [`Parser::is_declaration_at`] holds.
    pub(super) fn declaration(&mut self) -> Res<StmtKind> {
        let start = self.at;
        let modifiers = self.modifiers()?;
        let type_parameters = self.type_parameters()?;
        // A name with a small letter is no type here: `def item x` has one name too many.
        let type_name = match self.behind_declared_type(self.at) {
            Some(_) => self.declared_type()?,
            None => None,
        };
        let is_method =
            matches!(self.kind(), Kind::Name | Kind::Text) && self.is_op_at(self.at + 1, "(");
        if is_method || !type_parameters.is_empty() {
            let mut method = self.method(modifiers, type_name, start)?;
            method.type_parameters = type_parameters;
            return Ok(StmtKind::Method(Box::new(method)));
        }
        let mut variables = vec![self.variable()?];
        while self.eat_op(",") {
            self.skip_newline();
            variables.push(self.variable()?);
        }
        let together = None;
        Ok(StmtKind::Declare(Declaration { modifiers, type_name, variables, together }))
    }

    /// Reads the type before a name, if there is one.
    fn declared_type(&mut self) -> Res<Option<TypeName>> {
        let is_name = matches!(self.kind(), Kind::Text)
            || (self.kind() == Kind::Name
                && self
                    .behind_type(self.at, false)
                    .is_none_or(|behind| !matches!(self.kind_at(behind), Kind::Name | Kind::Text)));
        if is_name { Ok(None) } else { self.type_name().map(Some) }
    }

    fn variable(&mut self) -> Res<Variable> {
        let start = self.at;
        let name = self.name("the name of a variable")?;
        let value = if self.eat_op("=") {
            self.skip_newline();
            Some(self.expr_or_command(Left::Statement)?)
        } else {
            None
        };
        Ok(Variable { span: self.span_from(start), type_name: None, name, value })
    }

    /// Reads one variable, in a condition or in parentheses.
    pub(super) fn single_declaration(&mut self) -> Res<Declaration> {
        let modifiers = self.modifiers()?;
        let type_name = self.declared_type()?;
        let variables = vec![self.variable()?];
        Ok(Declaration { modifiers, type_name, variables, together: None })
    }

    /// Reads `def (a, b) = value`.
    pub(super) fn tuple_declaration(&mut self) -> Res<Declaration> {
        let modifiers = self.modifiers()?;
        self.expect_op("(")?;
        let mut variables = Vec::new();
        loop {
            let start = self.at;
            let type_name = self.declared_type()?;
            let name = self.name("the name of a variable")?;
            variables.push(Variable { span: self.span_from(start), type_name, name, value: None });
            if !self.eat_op(",") {
                break;
            }
        }
        self.expect_op(")")?;
        self.expect_op("=")?;
        self.skip_newline();
        let together = Some(self.expr(Left::Statement)?);
        Ok(Declaration { modifiers, type_name: None, variables, together })
    }

    /// Reads a method from its name on.
    pub(super) fn method(
        &mut self,
        modifiers: Modifiers,
        result: Option<TypeName>,
        start: usize,
    ) -> Res<Method> {
        let name = match self.kind() {
            Kind::Text => {
                self.bump();
                self.string_at(self.at - 1)
            }
            _ => self.name("the name of a method")?,
        };
        self.expect_op("(")?;
        let parameters = if self.is_op(")") { vec![] } else { self.parameters()? };
        self.expect_op(")")?;
        let throws = self.throws()?;
        let body = if matches!(self.kind_behind_newline(), Kind::Op("{")) {
            self.skip_newline();
            Some(self.method_body()?)
        } else {
            None
        };
        if body.is_none() && !self.in_interface && !modifiers.words.contains(&"abstract") {
            let message = format!("the method `{name}` has no body");
            return Err(self.report(self.span_from(start), message));
        }
        Ok(Method {
            span: self.span_from(start),
            modifiers,
            type_parameters: vec![],
            result,
            name,
            parameters,
            throws,
            body,
            is_constructor: false,
            default: None,
        })
    }

    pub(super) fn method_body(&mut self) -> Res<Block> {
        self.nested(|parser| parser.block())
    }

    pub(super) fn throws(&mut self) -> Res<Vec<String>> {
        let mut throws = Vec::new();
        if self.is_word_at(self.behind_newline(self.at), "throws") {
            self.skip_newline();
            self.bump();
            self.skip_newline();
            throws.push(self.dotted_name()?);
            while self.eat_op(",") {
                self.skip_newline();
                throws.push(self.dotted_name()?);
            }
        }
        Ok(throws)
    }

    /// Reads one or more parameters.
    pub(super) fn parameters(&mut self) -> Res<Vec<Parameter>> {
        let mut parameters = vec![self.parameter()?];
        while self.eat_op(",") {
            self.skip_newline();
            if let Some(last) = parameters.last().filter(|last: &&Parameter| last.is_variable) {
                let message = "only the last parameter may take many arguments".to_owned();
                return Err(self.report(last.span, message));
            }
            parameters.push(self.parameter()?);
        }
        Ok(parameters)
    }

    pub(super) fn parameter(&mut self) -> Res<Parameter> {
        let start = self.at;
        let modifiers = self.modifiers()?;
        if modifiers.words.iter().any(|word| *word != "final") {
            return Err(self.expected("`final`, `def` or a type"));
        }
        let behind = self.behind_type(self.at, false);
        let dots = behind.is_some_and(|at| self.is_op_at(at, "..."));
        let typed = dots || behind.is_some_and(|at| self.kind_at(at) == Kind::Name);
        let type_name = if typed { Some(self.type_name()?) } else { None };
        let is_variable = self.eat_op("...");
        let name = self.name("the name of a parameter")?;
        let default = if self.eat_op("=") {
            self.skip_newline();
            Some(self.expr_or_command(Left::Statement)?)
        } else {
            None
        };
        let span = self.span_from(start);
        Ok(Parameter { span, modifiers, type_name, is_variable, name, default })
    }
}
