//! Statements and declarations as Groovy.

use super::groovy::{ASSIGNMENT, CONDITIONAL, Printer, is_plain_name};
use super::text::escaped;
use crate::ast::{
    Annotation, Block, Case, Class, ClassKind, Declaration, Expr, ForHead, Import, Item, Method,
    Modifiers, Parameter, Stmt, StmtKind, TypeName, TypeParameter,
};

impl Printer {
    /// Prints statements between braces, of which the first was printed.
    pub(super) fn statements(&mut self, statements: &[Stmt]) {
        self.depth += 1;
        for stmt in statements {
            self.line();
            self.stmt(stmt);
        }
        self.depth -= 1;
        self.line();
    }

    fn block(&mut self, block: &Block) {
        self.add("{");
        self.statements(&block.statements);
        self.add("}");
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        for label in &stmt.labels {
            self.add(&format!("{label}: "));
        }
        match &stmt.kind {
            StmtKind::Empty => self.add(";"),
            StmtKind::Package(name) => self.add(&format!("package {name}")),
            StmtKind::Import(import) => self.import(import),
            StmtKind::Class(class) => self.class(class),
            StmtKind::Method(method) => self.method(method),
            StmtKind::Declare(declaration) => self.declaration(declaration),
            StmtKind::Expr(e) => self.statement_expr(e),
            StmtKind::Block(block) => self.block(block),
            StmtKind::If(condition, yes, no) => {
                self.head("if", condition);
                self.stmt(yes);
                if let Some(no) = no {
                    self.line();
                    self.add("else ");
                    self.stmt(no);
                }
            }
            StmtKind::While(condition, body) => {
                self.head("while", condition);
                self.stmt(body);
            }
            StmtKind::For(head, body) => {
                self.for_head(head);
                self.stmt(body);
            }
            StmtKind::Switch(value, cases) => {
                self.head("switch", value);
                self.add("{");
                self.depth += 1;
                cases.iter().for_each(|case| self.case(case));
                self.depth -= 1;
                self.line();
                self.add("}");
            }
            StmtKind::Try(block, catches, last) => {
                self.add("try ");
                self.block(block);
                for one in catches {
                    self.add(" catch (");
                    for (index, type_name) in one.types.iter().enumerate() {
                        self.add(if index == 0 { "" } else { "| " });
                        self.type_name(type_name);
                        self.add(" ");
                    }
                    self.add(&format!("{}) ", one.name));
                    self.block(&one.body);
                }
                if let Some(block) = last {
                    self.add(" finally ");
                    self.block(block);
                }
            }
            StmtKind::Synchronized(lock, block) => {
                self.head("synchronized", lock);
                self.block(block);
            }
            StmtKind::Return(None) => self.add("return"),
            StmtKind::Return(Some(value)) => {
                self.add("return ");
                self.expr(value, ASSIGNMENT);
            }
            StmtKind::Break(label) => self.jump("break", label.as_deref()),
            StmtKind::Continue(label) => self.jump("continue", label.as_deref()),
            StmtKind::Throw(value) => {
                self.add("throw ");
                self.expr(value, ASSIGNMENT);
            }
            StmtKind::Assert(condition, message) => {
                self.add("assert ");
                self.expr(condition, CONDITIONAL);
                if let Some(message) = message {
                    self.add(", ");
                    self.expr(message, ASSIGNMENT);
                }
            }
            StmtKind::Error => self.add("/* error */"),
        }
    }

    fn head(&mut self, word: &str, condition: &Expr) {
        self.add(&format!("{word} ("));
        self.expr(condition, if word == "if" { CONDITIONAL } else { ASSIGNMENT });
        self.add(") ");
    }

    fn jump(&mut self, word: &str, label: Option<&str>) {
        self.add(word);
        if let Some(label) = label {
            self.add(&format!(" {label}"));
        }
    }

    fn for_head(&mut self, head: &ForHead) {
        self.add("for (");
        match head {
            ForHead::Each(variable, items) => {
                self.parameter(variable);
                self.add(" in ");
                self.expr(items, 10);
            }
            ForHead::Classic(first, condition, next) => {
                first.iter().for_each(|e| self.expr(e, ASSIGNMENT));
                self.add("; ");
                condition.iter().for_each(|e| self.expr(e, ASSIGNMENT));
                self.add("; ");
                next.iter().for_each(|e| self.expr(e, ASSIGNMENT));
            }
        }
        self.add(") ");
    }

    fn case(&mut self, case: &Case) {
        self.line();
        match &case.value {
            Some(value) => {
                self.add("case ");
                self.expr(value, ASSIGNMENT);
            }
            None => self.add("default"),
        }
        self.add(":");
        self.depth += 1;
        for stmt in &case.body {
            self.line();
            self.stmt(stmt);
        }
        self.depth -= 1;
    }

    fn import(&mut self, import: &Import) {
        import.annotations.iter().for_each(|one| {
            self.annotation(one);
            self.line();
        });
        self.add(if import.is_static { "import static " } else { "import " });
        self.add(&import.name);
        self.add(if import.is_star { ".*" } else { "" });
        if let Some(alias) = &import.alias {
            self.add(&format!(" as {alias}"));
        }
    }

    pub(super) fn annotation(&mut self, one: &Annotation) {
        self.add(&format!("@{}", one.name));
        if one.members.is_empty() {
            return;
        }
        self.add("(");
        for (index, (name, value)) in one.members.iter().enumerate() {
            self.add(if index == 0 { "" } else { ", " });
            self.add(&format!("{name} = "));
            self.expr(value, CONDITIONAL);
        }
        self.add(")");
    }

    fn modifiers(&mut self, modifiers: &Modifiers) {
        for one in &modifiers.annotations {
            self.annotation(one);
            self.add(" ");
        }
        for word in &modifiers.words {
            self.add(&format!("{word} "));
        }
        if modifiers.has_def {
            self.add("def ");
        }
    }

    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        self.modifiers(&declaration.modifiers);
        if let Some(type_name) = &declaration.type_name {
            self.type_name(type_name);
            self.add(" ");
        }
        let many = declaration.together.is_some();
        self.add(if many { "(" } else { "" });
        for (index, one) in declaration.variables.iter().enumerate() {
            self.add(if index == 0 { "" } else { ", " });
            if let Some(type_name) = &one.type_name {
                self.type_name(type_name);
                self.add(" ");
            }
            self.add(&one.name);
            if let Some(value) = &one.value {
                self.add(" = ");
                self.expr(value, ASSIGNMENT);
            }
        }
        if let Some(value) = &declaration.together {
            self.add(") = ");
            self.expr(value, ASSIGNMENT);
        }
    }

    pub(super) fn parameters(&mut self, parameters: &[Parameter]) {
        for (index, one) in parameters.iter().enumerate() {
            self.add(if index == 0 { "" } else { ", " });
            self.parameter(one);
        }
    }

    fn parameter(&mut self, one: &Parameter) {
        self.modifiers(&one.modifiers);
        if let Some(type_name) = &one.type_name {
            self.type_name(type_name);
            self.add(if one.is_variable { "... " } else { " " });
        } else if one.is_variable {
            self.add("... ");
        }
        self.add(&one.name);
        if let Some(value) = &one.default {
            self.add(" = ");
            self.expr(value, ASSIGNMENT);
        }
    }

    fn type_parameters(&mut self, parameters: &[TypeParameter]) {
        if parameters.is_empty() {
            return;
        }
        self.add("<");
        for (index, one) in parameters.iter().enumerate() {
            self.add(if index == 0 { "" } else { ", " });
            self.add(&one.name);
            for (index, bound) in one.bounds.iter().enumerate() {
                self.add(if index == 0 { " extends " } else { " & " });
                self.type_name(bound);
            }
        }
        self.add("> ");
    }

    fn method(&mut self, method: &Method) {
        self.modifiers(&method.modifiers);
        self.type_parameters(&method.type_parameters);
        if let Some(result) = &method.result {
            self.type_name(result);
            self.add(" ");
        }
        if is_plain_name(&method.name) {
            self.add(&method.name);
        } else {
            self.add(&format!("'{}'", escaped(&method.name, '\'')));
        }
        self.add("(");
        self.parameters(&method.parameters);
        self.add(")");
        if !method.throws.is_empty() {
            self.add(&format!(" throws {}", method.throws.join(", ")));
        }
        if let Some(value) = &method.default {
            self.add(" default ");
            self.expr(value, CONDITIONAL);
        }
        if let Some(body) = &method.body {
            self.add(" ");
            self.block(body);
        }
    }

    fn types(&mut self, word: &str, types: &[TypeName]) {
        for (index, one) in types.iter().enumerate() {
            self.add(&if index == 0 { format!(" {word} ") } else { ", ".to_owned() });
            self.type_name(one);
        }
    }

    fn class(&mut self, class: &Class) {
        self.modifiers(&class.modifiers);
        self.add(match class.kind {
            ClassKind::Interface => "interface ",
            ClassKind::Enum => "enum ",
            ClassKind::Trait => "trait ",
            ClassKind::Annotation => "@interface ",
            ClassKind::Class | ClassKind::Anonymous => "class ",
        });
        self.add(&class.name);
        self.type_parameters(&class.type_parameters);
        self.types("extends", &class.extends);
        self.types("implements", &class.implements);
        self.add(" ");
        self.class_body(class);
    }

    pub(super) fn class_body(&mut self, class: &Class) {
        self.add("{");
        self.depth += 1;
        for (index, constant) in class.constants.iter().enumerate() {
            self.add(if index == 0 { "" } else { "," });
            self.line();
            for one in &constant.annotations {
                self.annotation(one);
                self.add(" ");
            }
            self.add(&constant.name);
            if let Some(arguments) = &constant.arguments {
                self.arguments("(", arguments, ")");
            }
            if let Some(body) = &constant.body {
                self.add(" ");
                self.class_body(body);
            }
        }
        for item in &class.items {
            self.line();
            match item {
                Item::Field(declaration) => self.declaration(declaration),
                Item::Method(method) => self.method(method),
                Item::Class(class) => self.class(class),
                Item::Initializer(is_static, block) => {
                    self.add(if *is_static { "static " } else { "" });
                    self.block(block);
                }
            }
        }
        self.depth -= 1;
        self.line();
        self.add("}");
    }
}
