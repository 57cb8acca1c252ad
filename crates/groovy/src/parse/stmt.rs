//! Statements, blocks, and going on behind a mistake.

use super::parser::{Left, Parser, Res};
use crate::ast::{
    Block, Case, Catch, Expr, ForHead, Import, Modifiers, Parameter, Script, Stmt, StmtKind,
};
use crate::lex::Kind;

impl Parser<'_> {
    /// Reads the whole file.
    pub(super) fn script(&mut self) -> Script {
        let mut statements = Vec::new();
        while self.kind() != Kind::End {
            self.statements(&mut statements, None);
            if self.kind() != Kind::End {
                // A closing bracket that nothing opened.
                self.expected("a statement");
                self.bump();
            }
        }
        Script { statements }
    }

    /// Reads statements up to a closing brace or the end. `behind`: where the block around ends.
    fn statements(&mut self, statements: &mut Vec<Stmt>, behind: Option<usize>) {
        loop {
            while self.kind() == Kind::Newline || self.is_op(";") {
                self.bump();
            }
            if matches!(self.kind(), Kind::End | Kind::Op("}")) {
                return;
            }
            self.at_top = true;
            self.separated(statements, behind);
        }
    }

    /// Reads a statement and looks for a separator behind it.
    fn separated(&mut self, statements: &mut Vec<Stmt>, behind: Option<usize>) {
        let start = self.at;
        self.height = 0;
        let read = self.nested(|parser| parser.statement());
        let ends = matches!(self.kind(), Kind::Newline | Kind::End | Kind::Op(";" | "}"));
        match read {
            Ok(statement) => {
                statements.push(statement);
                if !ends {
                    self.expected("a newline or `;`");
                    self.recover(start, behind);
                }
            }
            Err(_) => {
                self.recover(start, behind);
                statements.push(Stmt::new(self.span_from(start), StmtKind::Error));
            }
        }
    }

    /// Skips the rest of a wrong statement that began at `start`, over whole brackets, but not over
    /// the end of the block around it.
    pub(super) fn recover(&mut self, start: usize, behind: Option<usize>) {
        let stop = behind.map_or(self.tokens.len() - 1, |behind| behind - 1);
        if self.at == start && self.at < stop {
            self.skip_one(stop);
        }
        while self.at < stop {
            match self.kind() {
                Kind::Newline | Kind::End | Kind::Op(";") => return,
                _ => self.skip_one(stop),
            }
        }
    }

    fn skip_one(&mut self, stop: usize) {
        match self.behind_bracket(self.at) {
            Some(behind) if behind <= stop => self.at = behind,
            _ => self.bump(),
        }
    }

    /// Reads a block with its braces.
    pub(super) fn block(&mut self) -> Res<Block> {
        let start = self.at;
        self.expect_op("{")?;
        self.rest_of_block(start)
    }

    /// Reads a block whose brace at `start` was read.
    pub(super) fn rest_of_block(&mut self, start: usize) -> Res<Block> {
        let behind = self.behind_bracket(start);
        let outer = self.height;
        let mut statements = Vec::new();
        let mut highest = 0;
        loop {
            while self.kind() == Kind::Newline || self.is_op(";") {
                self.bump();
            }
            if matches!(self.kind(), Kind::End | Kind::Op("}")) {
                break;
            }
            self.separated(&mut statements, behind);
            highest = highest.max(self.height);
        }
        self.height = outer.max(highest);
        self.expect_op("}")?;
        Ok(Block { span: self.span_from(start), statements })
    }

    fn statement(&mut self) -> Res<Stmt> {
        let start = self.at;
        let at_top = std::mem::replace(&mut self.at_top, false);
        if self.kind() == Kind::Name && self.is_op_at(start + 1, ":") {
            return self.labelled(start);
        }
        let kind = self.statement_kind()?;
        if !at_top && let StmtKind::Class(_) | StmtKind::Method(_) | StmtKind::Import(_) = kind {
            let message = "a class, method or import stands in no other statement".to_owned();
            return Err(self.report(self.span_at(start), message));
        }
        Ok(Stmt::new(self.span_from(start), kind))
    }

    fn labelled(&mut self, start: usize) -> Res<Stmt> {
        let label = self.text_at(start).to_owned();
        self.at += 2;
        self.skip_newline();
        let mut statement = if self.is_op("{") {
            let behind = self.behind_newline(self.at + 1);
            let kind = if self.has_arrow(behind) {
                StmtKind::Expr(self.closure()?)
            } else {
                StmtKind::Block(self.method_body()?)
            };
            Stmt::new(self.span_from(start), kind)
        } else {
            self.nested(|parser| parser.statement())?
        };
        if let StmtKind::Declare(declaration) = &mut statement.kind {
            // The compiler drops the others.
            declaration.variables.truncate(if declaration.together.is_some() {
                usize::MAX
            } else {
                1
            });
        }
        statement.labels.insert(0, label);
        statement.span = self.span_from(start);
        Ok(statement)
    }

    fn statement_kind(&mut self) -> Res<StmtKind> {
        let start = self.at;
        match self.kind() {
            Kind::Word("if") => return self.if_statement(),
            Kind::Word("for") => return self.for_statement(),
            Kind::Word("while") => return self.while_statement(),
            Kind::Word("switch") => return self.switch_statement(),
            Kind::Word("try") => return self.try_statement(),
            Kind::Word("import") => return self.import(vec![]),
            Kind::Word("package") if self.is_first(start) => return self.package(),
            Kind::Word("synchronized") if self.is_op_at(start + 1, "(") => {
                self.bump();
                let lock = self.condition()?;
                self.skip_newline();
                return Ok(StmtKind::Synchronized(lock, self.block()?));
            }
            Kind::Word("return" | "break" | "continue" | "throw" | "assert") => {
                return self.branch();
            }
            _ => {}
        }
        if self.is_generic_method_at(start) {
            return self.declaration();
        }
        if self.is_tuple_declaration_at(start) {
            return Ok(StmtKind::Declare(self.tuple_declaration()?));
        }
        if self.is_declaration_at(start) {
            return self.declaration();
        }
        if self.is_class_at(start) {
            return Ok(StmtKind::Class(Box::new(self.class()?)));
        }
        if self.is_op("@") {
            let behind = self.behind_modifiers(start);
            let first = self.is_first(start);
            if self.is_word_at(behind, "import") || (self.is_word_at(behind, "package") && first) {
                let modifiers: Modifiers = self.modifiers()?;
                return match self.is_word("import") {
                    true => self.import(modifiers.annotations),
                    false => self.package(),
                };
            }
        }
        self.expression_statement()
    }

    fn expression_statement(&mut self) -> Res<StmtKind> {
        if self.is_op("{") && !self.has_arrow(self.behind_newline(self.at + 1)) {
            let message = "a statement that begins with `{` is a closure or a block: write \
                           `{ it -> ... }` or `label: { ... }`";
            return Err(self.report(self.span(), message.to_owned()));
        }
        Ok(StmtKind::Expr(self.expr_or_command(Left::Statement)?))
    }

    /// Reads `(e)` behind a word.
    fn condition(&mut self) -> Res<Expr> {
        self.expect_op("(")?;
        let condition = self.expr(Left::Inner)?;
        self.expect_op(")")?;
        Ok(condition)
    }

    /// Reads the statement that another one governs.
    fn body(&mut self) -> Res<Box<Stmt>> {
        self.skip_newline();
        let start = self.at;
        if self.is_op("{") {
            let block = self.method_body()?;
            return Ok(Box::new(Stmt::new(self.span_from(start), StmtKind::Block(block))));
        }
        let statement = self.nested(|parser| parser.statement())?;
        // Several variables are several statements.
        match &statement.kind {
            StmtKind::Declare(declaration)
                if declaration.variables.len() > 1 && declaration.together.is_none() =>
            {
                let span = statement.span;
                let block = Block { span, statements: vec![statement] };
                Ok(Box::new(Stmt::new(span, StmtKind::Block(block))))
            }
            _ => Ok(Box::new(statement)),
        }
    }

    /// Reads the body of a loop, which may be a semicolon.
    fn loop_body(&mut self) -> Res<Box<Stmt>> {
        if self.is_op(";") {
            self.bump();
            return Ok(Box::new(Stmt::new(self.span_at(self.at - 1), StmtKind::Empty)));
        }
        self.body()
    }

    fn if_statement(&mut self) -> Res<StmtKind> {
        self.bump();
        self.expect_op("(")?;
        let condition =
            self.nested(|parser| parser.grown(|parser| parser.conditional(Left::Inner)))?;
        self.expect_op(")")?;
        let yes = self.body()?;
        // One separator: a semicolon, or a newline with semicolons behind it.
        let mut at = self.behind_newline(self.at);
        let many = at > self.at;
        while self.is_op_at(at, ";") {
            at = self.behind_newline(at + 1);
            if !many {
                break;
            }
        }
        if !self.is_word_at(at, "else") {
            return Ok(StmtKind::If(condition, yes, None));
        }
        self.at = at + 1;
        let no = self.body()?;
        Ok(StmtKind::If(condition, yes, Some(no)))
    }

    fn while_statement(&mut self) -> Res<StmtKind> {
        self.bump();
        let condition = self.condition()?;
        Ok(StmtKind::While(condition, self.loop_body()?))
    }

    fn for_statement(&mut self) -> Res<StmtKind> {
        self.bump();
        let open = self.at;
        self.expect_op("(")?;
        let close = self.behind_bracket(open).unwrap_or(self.tokens.len());
        let mut at = self.at;
        while at < close && !self.is_op_at(at, ";") && self.kind_at(at) != Kind::End {
            at = self.behind_bracket(at).unwrap_or(at + 1);
        }
        let head = if at < close && self.is_op_at(at, ";") {
            self.classic_head()?
        } else {
            self.each_head()?
        };
        self.expect_op(")")?;
        Ok(StmtKind::For(Box::new(head), self.loop_body()?))
    }

    fn classic_head(&mut self) -> Res<ForHead> {
        let first = if self.is_op(";") { None } else { Some(self.strict()?) };
        self.expect_op(";")?;
        let condition = if self.is_op(";") { None } else { Some(self.expr(Left::Inner)?) };
        self.expect_op(";")?;
        let next = if self.is_op(")") { None } else { Some(self.expr(Left::Inner)?) };
        Ok(ForHead::Classic(first, condition, next))
    }

    fn each_head(&mut self) -> Res<ForHead> {
        let start = self.at;
        let typed = self.is_declaration_at(start);
        let variable = if typed {
            self.parameter()?
        } else {
            let name = self.name("the name of a variable")?;
            Parameter {
                span: self.span_from(start),
                modifiers: Modifiers::default(),
                type_name: None,
                is_variable: false,
                name,
                default: None,
            }
        };
        if typed && self.eat_op(":") {
            return Ok(ForHead::Each(variable, self.expr(Left::Inner)?));
        }
        if !self.eat_word("in") {
            return Err(self.expected("`in`"));
        }
        let items = self.nested(|parser| parser.binary(9, Left::Inner))?;
        Ok(ForHead::Each(variable, items))
    }

    fn switch_statement(&mut self) -> Res<StmtKind> {
        self.bump();
        let value = self.condition()?;
        self.skip_newline();
        let open = self.at;
        let behind = self.behind_bracket(open);
        self.expect_op("{")?;
        self.skip_newline();
        let mut cases: Vec<Case> = Vec::new();
        while !self.is_op("}") && self.kind() != Kind::End {
            let start = self.at;
            let value = if self.is_word("default") {
                if cases.iter().any(|case| case.value.is_none()) {
                    return Err(self.expected("no second `default`"));
                }
                self.bump();
                None
            } else if self.eat_word("case") {
                Some(self.expr(Left::Inner)?)
            } else {
                return Err(self.expected("`case`, `default` or `}`"));
            };
            self.expect_op(":")?;
            let span = self.span_from(start);
            self.skip_newline();
            if self.is_op("}") || self.is_op(";") {
                return Err(self.expected("a statement"));
            }
            let mut body = Vec::new();
            self.case_body(&mut body, behind);
            cases.push(Case { span, value, body });
        }
        self.expect_op("}")?;
        Ok(StmtKind::Switch(value, cases))
    }

    fn case_body(&mut self, body: &mut Vec<Stmt>, behind: Option<usize>) {
        let outer = self.height;
        loop {
            while self.kind() == Kind::Newline || self.is_op(";") {
                self.bump();
            }
            let ends = matches!(self.kind(), Kind::End | Kind::Op("}") | Kind::Word("case"))
                || (self.is_word("default") && self.is_op_at(self.at + 1, ":"));
            if ends {
                break;
            }
            self.separated(body, behind);
        }
        self.height = self.height.max(outer);
    }

    fn try_statement(&mut self) -> Res<StmtKind> {
        self.bump();
        self.skip_newline();
        let block = self.method_body()?;
        let mut catches = Vec::new();
        while self.is_word_at(self.behind_newline(self.at), "catch") {
            self.skip_newline();
            catches.push(self.catch()?);
        }
        let mut last = None;
        if self.is_word_at(self.behind_newline(self.at), "finally") {
            self.skip_newline();
            self.bump();
            self.skip_newline();
            last = Some(self.method_body()?);
        }
        if catches.is_empty() && last.is_none() {
            return Err(self.expected("`catch` or `finally`"));
        }
        Ok(StmtKind::Try(block, catches, last))
    }

    fn catch(&mut self) -> Res<Catch> {
        let start = self.at;
        self.bump();
        self.expect_op("(")?;
        self.modifiers()?;
        let mut types = Vec::new();
        if self.kind() == Kind::Name && !self.is_op_at(self.at + 1, ")") {
            types.push(self.type_name()?);
            while self.eat_op("|") {
                types.push(self.type_name()?);
            }
        }
        let name = self.name("the name of a variable")?;
        self.expect_op(")")?;
        self.skip_newline();
        let body = self.method_body()?;
        Ok(Catch { span: self.span_from(start), types, name, body })
    }

    /// Returns whether a statement ends here, so that no expression follows.
    fn at_end(&self) -> bool {
        matches!(self.kind(), Kind::Newline | Kind::End | Kind::Op(";" | "}" | ")" | "]"))
            || self.is_word("else")
    }

    fn branch(&mut self) -> Res<StmtKind> {
        let word = self.kind();
        self.bump();
        match word {
            Kind::Word("return") if self.at_end() => Ok(StmtKind::Return(None)),
            Kind::Word("return") => Ok(StmtKind::Return(Some(self.expr(Left::Inner)?))),
            Kind::Word("throw") => Ok(StmtKind::Throw(self.expr(Left::Inner)?)),
            Kind::Word("assert") => {
                let condition = self.nested(|parser| parser.conditional(Left::Inner))?;
                let message = if self.eat_op(",") || self.eat_op(":") {
                    self.skip_newline();
                    Some(self.expr(Left::Inner)?)
                } else {
                    None
                };
                Ok(StmtKind::Assert(condition, message))
            }
            _ => {
                let label = if self.at_end() { None } else { Some(self.name("a label")?) };
                match word {
                    Kind::Word("break") => Ok(StmtKind::Break(label)),
                    _ => Ok(StmtKind::Continue(label)),
                }
            }
        }
    }

    /// Returns whether nothing but newlines stands before a token.
    fn is_first(&self, index: usize) -> bool {
        index == 0 || (index == 1 && self.kind_at(0) == Kind::Newline)
    }

    fn package(&mut self) -> Res<StmtKind> {
        self.bump();
        Ok(StmtKind::Package(self.dotted_name()?))
    }

    /// Reads a dotted name, in which reserved words may stand behind the first dot.
    fn imported_name(&mut self) -> Res<String> {
        let mut name = self.name("a name")?;
        loop {
            let next = self.behind_newline(self.at + 1);
            if !self.is_op(".") || !matches!(self.kind_at(next), Kind::Name | Kind::Word(_)) {
                return Ok(name);
            }
            self.at = next;
            if !self.is_name_behind_dot(next) {
                return Err(self.expected("a name"));
            }
            name.push('.');
            name += self.text_at(next);
            self.bump();
        }
    }

    fn import(&mut self, annotations: Vec<crate::ast::Annotation>) -> Res<StmtKind> {
        self.bump();
        let is_static = self.eat_word("static");
        let mut import = Import {
            is_static,
            name: self.imported_name()?,
            is_star: false,
            alias: None,
            annotations,
        };
        if self.eat_op(".") {
            self.skip_newline();
            self.expect_op("*")?;
            import.is_star = true;
        } else if self.eat_word("as") {
            self.skip_newline();
            import.alias = Some(self.name("a name")?);
        }
        Ok(StmtKind::Import(import))
    }
}
