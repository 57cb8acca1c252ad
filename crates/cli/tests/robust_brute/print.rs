//! Models as text.

use crate::robust_brute::ast::{
    Block, Code, Event, Expr, Handler, Kept, Lane, Model, Operator, Order, Place, Post, Stmt,
    Target, VarKind, Word,
};
use std::fmt::Write;

/// Writes a model.
pub(crate) fn print(model: &Model) -> String {
    let mut text = Text { model, out: String::from("model random\n\n"), depth: 0 };
    text.line("setting granularity = access;");
    for (var, kind) in model.vars.iter().enumerate() {
        text.line(&match kind {
            VarKind::Int(first) => format!("var v{var} = {first};"),
            VarKind::Array => format!("var v{var}: [int; 2];"),
            VarKind::List => format!("var v{var}: list<int> = [];"),
            VarKind::Handle => format!("var v{var}: task? = null;"),
        });
    }
    (0..model.locks).for_each(|lock| text.line(&format!("lock m{lock};")));
    let declared = model.handlers.iter().filter(|handler| handler.declared);
    declared.for_each(|handler| text.handler(handler));
    if !model.init.is_empty() {
        text.block("init", &model.init);
    }
    model.events.iter().for_each(|event| text.event(event));
    model.codes.iter().for_each(|code| text.code(code));
    if !model.driver.is_empty() {
        let name = |(event, at): &(usize, Option<i64>)| {
            let name = &model.events[*event].name;
            at.map_or(name.clone(), |at| format!("{name}[{at}]"))
        };
        let names: Vec<String> = model.driver.iter().map(name).collect();
        text.line(&format!("driver {};", names.join(", ")));
    }
    model.idle.iter().for_each(|line| text.line(line));
    text.out
}

/// A local of a body.
fn local(number: usize) -> String {
    format!("l{number}")
}

struct Text<'a> {
    model: &'a Model,
    out: String,
    depth: usize,
}

impl Text<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{:width$}{line}", "", width = 4 * self.depth);
    }

    fn block(&mut self, head: &str, block: &Block) {
        self.line(&format!("{head} {{"));
        self.inner(block);
        self.line("}");
    }

    fn inner(&mut self, block: &Block) {
        self.depth += 1;
        block.iter().for_each(|stmt| self.stmt(stmt));
        self.depth -= 1;
    }

    fn handler(&mut self, handler: &Handler) {
        let daemon = if handler.daemon { "daemon " } else { "" };
        let array = if handler.array { "[2]" } else { "" };
        let order = match handler.order {
            Order::Fifo => "fifo",
            Order::Bag => "bag",
            Order::Delayed => "delayed",
        };
        self.line(&format!("{daemon}handler {}{array}: {order};", handler.name));
    }

    fn home(&self, home: Option<Lane>) -> String {
        match home {
            Some((handler, at)) if self.model.handlers[handler].array => {
                format!(" on {}[{at}]", self.model.handlers[handler].name)
            }
            Some((handler, _)) => format!(" on {}", self.model.handlers[handler].name),
            None => String::new(),
        }
    }

    fn event(&mut self, event: &Event) {
        let mut head = String::new();
        for (has, word) in [
            (event.unfair, "unfair "),
            (event.daemon, "daemon "),
            (event.disabled, "disabled "),
            (event.once, "once "),
        ] {
            if has {
                head += word;
            }
        }
        let family = if event.family { "[i in 0..2]" } else { "" };
        let _ = write!(head, "event {}{family}{}", event.name, self.home(event.home));
        if !event.after.is_empty() {
            let names: Vec<&str> =
                event.after.iter().map(|at| &*self.model.events[*at].name).collect();
            let _ = write!(head, " after {}", names.join(", "));
        }
        if let Some(guard) = &event.guard {
            let _ = write!(head, " when {}", self.expr(guard));
        }
        self.block(&head, &event.body);
    }

    fn code(&mut self, code: &Code) {
        let word = match code.word {
            Word::Task => "task",
            Word::Procedure => "procedure",
            Word::Function => "fn",
        };
        let parameter = if code.parameter { "i: int" } else { "" };
        let daemon = if code.daemon { "daemon " } else { "" };
        let head = format!("{daemon}{word} {}({parameter}){}", code.name, self.home(code.home));
        self.block(&head, &code.body);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::If(condition, block, other) => {
                self.line(&format!("if {} {{", self.expr(condition)));
                self.inner(block);
                if let Some(other) = other {
                    self.line("} else {");
                    self.inner(other);
                }
                self.line("}");
            }
            Stmt::Match(subject, arms, other) => {
                self.line(&format!("match {} {{", self.expr(subject)));
                self.depth += 1;
                for (value, block) in arms {
                    self.block(&format!("{value} =>"), block);
                }
                self.block("_ =>", other);
                self.depth -= 1;
                self.line("}");
            }
            Stmt::While(condition, block) => {
                self.block(&format!("while {}", self.expr(condition)), block);
            }
            Stmt::Loop(block) => self.block("loop", block),
            Stmt::For(to, end, block) => {
                self.block(&format!("for {} in 0..{end}", local(*to)), block);
            }
            Stmt::With(lock, block) => self.block(&format!("with m{lock}"), block),
            Stmt::Atomic(block) => self.block("atomic", block),
            Stmt::Choose(blocks, labels) => {
                self.line("choose {");
                self.depth += 1;
                for (at, block) in blocks.iter().enumerate() {
                    let label = if *labels { format!("\"c{at}\" =>") } else { String::new() };
                    self.block(&label, block);
                }
                self.depth -= 1;
                self.line("}");
            }
            _ => {
                let line = self.simple(stmt);
                self.line(&line);
            }
        }
    }

    /// A statement on one line.
    fn simple(&self, stmt: &Stmt) -> String {
        let member = |member: &Option<i64>| member.map_or(String::new(), |at| format!("[{at}]"));
        match stmt {
            Stmt::Assign(place, value) => format!("{} = {};", self.place(place), self.expr(value)),
            Stmt::Add(place, value) => format!("{} += {};", self.place(place), self.expr(value)),
            Stmt::Increment(place) => format!("{}++;", self.place(place)),
            Stmt::Push(var, value) => format!("v{var}.push({});", self.expr(value)),
            Stmt::Pop(var) => format!("v{var}.pop();"),
            Stmt::Let(to, value) => format!("let {} = {};", local(*to), self.expr(value)),
            Stmt::Break => "break;".to_owned(),
            Stmt::Continue => "continue;".to_owned(),
            Stmt::Return => "return;".to_owned(),
            Stmt::Assert(condition, false) => format!("assert {};", self.expr(condition)),
            Stmt::Assert(condition, true) => {
                format!("assert {}, \"it holds\";", self.expr(condition))
            }
            Stmt::Fail => "fail \"never\";".to_owned(),
            Stmt::Assume(condition) => format!("assume {};", self.expr(condition)),
            Stmt::Post(post) => self.post(post),
            Stmt::Cancel(place) => format!("cancel {};", self.place(place)),
            Stmt::Call(code, argument, word) => {
                let word = if *word { "call " } else { "" };
                format!("{word}{}({});", self.model.codes[*code].name, self.optional(argument))
            }
            Stmt::Enable(event, at, true) => {
                format!("enable {}{};", self.model.events[*event].name, member(at))
            }
            Stmt::Enable(event, at, false) => {
                format!("disable {}{};", self.model.events[*event].name, member(at))
            }
            Stmt::Acquire(lock) => format!("acquire m{lock};"),
            Stmt::Release(lock) => format!("release m{lock};"),
            Stmt::LetChoose(to, count) => format!("let {} = choose 0..{count};", local(*to)),
            Stmt::Yield => "yield;".to_owned(),
            _ => unreachable!("has a block"),
        }
    }

    fn post(&self, post: &Post) -> String {
        let kept = match post.kept {
            Kept::No => String::new(),
            Kept::Local(to) => format!("let {} = ", local(to)),
            Kept::Var(var) => format!("v{var} = "),
        };
        let call =
            format!("{}({})", self.model.codes[post.code].name, self.optional(&post.argument));
        let name = |handler: usize| self.model.handlers[handler].name.clone();
        let mut text = match &post.target {
            Target::Home => format!("{kept}post {call}"),
            Target::To(handler, None) => format!("{kept}post {call} to {}", name(*handler)),
            Target::To(handler, Some(index)) => {
                format!("{kept}post {call} to {}[{}]", name(*handler), self.expr(index))
            }
            Target::AsyncMain => format!("{kept}async[main] {call}"),
            Target::AsyncAny => format!("{kept}async[any] {call}"),
            Target::Any => format!("{kept}post any {call}"),
        };
        if let Some(delay) = &post.after {
            let _ = write!(text, " after {}", self.expr(delay));
        }
        if post.front {
            text += " front";
        }
        text + ";"
    }

    fn optional(&self, argument: &Option<Expr>) -> String {
        argument.as_ref().map_or(String::new(), |argument| self.expr(argument))
    }

    fn place(&self, place: &Place) -> String {
        match place {
            Place::Var(var) => format!("v{var}"),
            Place::Element(var, index) => format!("v{var}[{}]", self.expr(index)),
            Place::Local(from) => local(*from),
        }
    }

    fn expr(&self, expr: &Expr) -> String {
        match expr {
            Expr::Int(value) => value.to_string(),
            Expr::Place(place) => self.place(place),
            Expr::Whole(var) if self.model.vars[*var] == VarKind::Array => format!("v{var}.sum()"),
            Expr::Whole(var) => format!("v{var}.len()"),
            Expr::Parameter => "i".to_owned(),
            Expr::Not(inner) => format!("!({})", self.expr(inner)),
            Expr::Enabled(event) => format!("enabled({})", self.model.events[*event].name),
            Expr::Binary(operator, a, b) => {
                let sign = match operator {
                    Operator::Add => "+",
                    Operator::Subtract => "-",
                    Operator::Divide => "/",
                    Operator::Equal => "==",
                    Operator::Unequal => "!=",
                    Operator::Less => "<",
                    Operator::And => "&&",
                    Operator::Or => "||",
                };
                format!("({} {sign} {})", self.expr(a), self.expr(b))
            }
        }
    }
}
