//! Declarations.

use super::Formatter;
use super::doc::{Doc, all, group, indent, text};
use super::region;
use super::stmt::{Lines, braces};
use crate::ast::{
    ClassDecl, ClassMember, EnumDecl, Item, ItemKind, RecordDecl, Ref, SettingValue, SizedName,
    SpecCall, SpecDecl, VarDecl,
};
use crate::source::Span;

impl Formatter<'_> {
    pub(super) fn item(&mut self, item: &Item) -> Doc {
        if let Some(regions) = leaf_regions(item)
            && self.comments.strays(item.span, &regions)
        {
            self.comments.skip_to(item.span.end);
            return Doc::Verbatim(item.span.of(self.text).to_string());
        }
        match &item.kind {
            ItemKind::Const(decl) => {
                let mut docs = vec![text(format!("const {}", decl.name.name))];
                if let Some(ty) = &decl.ty {
                    docs.extend([text(": "), self.ty(ty)]);
                }
                docs.extend([text(" = "), self.expr(&decl.value), text(";")]);
                Doc::All(docs)
            }
            ItemKind::Index(decl) => {
                let size = self.expr(&decl.size);
                all([text(format!("index {} = ", decl.name.name)), size, text(";")])
            }
            ItemKind::Enum(decl) => self.enum_doc(decl, item.span),
            ItemKind::Record(decl) => self.record_doc(decl, item.span),
            ItemKind::Class(decl) => self.class_doc(decl, item.span),
            ItemKind::Var(vars) => {
                let vars = vars.iter().map(|var| self.var(var)).collect();
                names("var", vars)
            }
            ItemKind::Lock(locks) => self.sized_names("lock", locks),
            ItemKind::Cond(conds) => self.sized_names("cond", conds),
            ItemKind::Handler(decl) => self.handler(decl),
            ItemKind::Fn(decl) => self.function(decl),
            ItemKind::Task(decl) => self.task(decl),
            ItemKind::Event(decl) => self.event(decl),
            ItemKind::Thread(decl) => self.thread(decl),
            ItemKind::Init(body) => {
                let inline = self.is_one_line(item.span);
                group(all([text("init "), self.block(body, inline)]))
            }
            ItemKind::Driver(events) => {
                let events = events.iter().map(|event| self.reference(event)).collect();
                names("driver", events)
            }
            ItemKind::Component { name, members } => {
                let members = members.iter().map(|member| text(member.name.clone())).collect();
                names(&format!("component {}:", name.name), members)
            }
            ItemKind::Invariant { name, expr } => {
                all([text(format!("invariant {}: ", name.name)), self.expr(expr), text(";")])
            }
            ItemKind::Response(decl) => {
                let trigger = self.expr(&decl.trigger);
                let reaction =
                    indent(all([Doc::Line, text("leads_to "), self.expr(&decl.reaction)]));
                let head = text(format!("response {}: ", decl.name.name));
                group(all([head, trigger, reaction, text(";")]))
            }
            ItemKind::Final(expr) => all([text("final: "), self.expr(expr), text(";")]),
            ItemKind::Spec(decl) => self.spec_doc(decl, item.span),
            ItemKind::Setting(decl) => {
                let value = match &decl.value {
                    SettingValue::Word(word) => word.name.clone(),
                    SettingValue::Int(_, span) => span.of(self.text).to_string(),
                    SettingValue::Error => String::new(),
                };
                text(format!("setting {} = {value};", decl.name.name))
            }
            ItemKind::Error => text(item.span.of(self.text)),
        }
    }

    fn sized_names(&mut self, word: &str, list: &[SizedName]) -> Doc {
        let list = list.iter().map(|name| self.sized_name(name)).collect();
        names(word, list)
    }

    fn var(&mut self, var: &VarDecl) -> Doc {
        let mut docs = vec![text(&var.name.name)];
        if let Some(ty) = &var.ty {
            docs.extend([text(": "), self.ty(ty)]);
        }
        if let Some(init) = &var.init {
            docs.extend([text(" = "), self.expr(init)]);
        }
        Doc::All(docs)
    }

    fn enum_doc(&mut self, decl: &EnumDecl, span: Span) -> Doc {
        let inline = self.is_one_line(span);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        for (at, variant) in decl.variants.iter().enumerate() {
            let end = variant.payload.last().map_or(variant.name.span, |ty| ty.span);
            let place = variant.name.span.to(end);
            let place = if variant.payload.is_empty() { place } else { self.to_paren(place) };
            let comma = comma(at + 1 < decl.variants.len(), inline);
            self.put(&mut lines, place, |f| {
                let payload: Vec<Doc> = variant.payload.iter().map(|t| f.ty(t)).collect();
                let name = text(&variant.name.name);
                if payload.is_empty() {
                    return all([name, comma]);
                }
                all([name, super::doc::list("(", payload, ")"), comma])
            });
        }
        self.put_rest(&mut lines, span.end.saturating_sub(1));
        let head = text(format!("enum {} ", decl.name.name));
        group(all([head, braces(lines, line)]))
    }

    /// Extends `place` to the `)` after it.
    fn to_paren(&self, place: Span) -> Span {
        let rest = self.text.get(place.end as usize..).unwrap_or("");
        let close = rest.find(')').map_or(0, |at| at as u32 + 1);
        Span::new(place.start, place.end + close)
    }

    fn record_doc(&mut self, decl: &RecordDecl, span: Span) -> Doc {
        let inline = self.is_one_line(span);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        for (at, field) in decl.fields.iter().enumerate() {
            let comma = comma(at + 1 < decl.fields.len(), inline);
            self.put(&mut lines, field.name.span.to(field.ty.span), |f| {
                all([text(format!("{}: ", field.name.name)), f.ty(&field.ty), comma])
            });
        }
        self.put_rest(&mut lines, span.end.saturating_sub(1));
        let head = text(format!("record {} ", decl.name.name));
        group(all([head, braces(lines, line)]))
    }

    fn class_doc(&mut self, decl: &ClassDecl, span: Span) -> Doc {
        let inline = self.is_one_line(span);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        let mut last_span = Span::default();
        for member in &decl.members {
            match member {
                // `var a, b;` gives two members with the same span. The first one gets the
                // comments.
                ClassMember::Field(field) => {
                    let own = field.span != last_span;
                    last_span = field.span;
                    let at = if own { field.span } else { field.span.after() };
                    self.put(&mut lines, at, |f| all([text("var "), f.var(&field.var), text(";")]));
                }
                ClassMember::Method(method) => {
                    self.put(&mut lines, method.span, |f| f.function(method));
                }
            }
        }
        self.put_rest(&mut lines, span.end.saturating_sub(1));
        let head = text(format!("class {} ", decl.name.name));
        group(all([head, braces(lines, line)]))
    }

    fn spec_doc(&mut self, decl: &SpecDecl, span: Span) -> Doc {
        let inline = self.is_one_line(span);
        let line = if inline { Doc::Line } else { Doc::Hard };
        let mut lines = Lines::new(line.clone());
        for clause in &decl.clauses {
            self.put(&mut lines, clause.span, |f| {
                let mut docs = vec![call(&clause.left), text(" ~ "), call(&clause.right)];
                if let Some(when) = &clause.when {
                    docs.extend([text(" when "), f.expr(when)]);
                }
                docs.push(text(";"));
                Doc::All(docs)
            });
        }
        self.put_rest(&mut lines, span.end.saturating_sub(1));
        let head = text(format!("spec {} ", decl.class.name));
        group(all([head, braces(lines, line)]))
    }
}

/// Returns the comma after an element. The last element only has one if elements are on their own
/// lines.
fn comma(more: bool, inline: bool) -> Doc {
    match (more, inline) {
        (false, true) => Doc::IfBroken(","),
        _ => text(","),
    }
}

/// Lays out `word a, b;`.
fn names(word: &str, list: Vec<Doc>) -> Doc {
    let mut docs = Vec::new();
    for (at, doc) in list.into_iter().enumerate() {
        if at > 0 {
            docs.extend([text(","), Doc::Line]);
        }
        docs.push(doc);
    }
    group(all([text(format!("{word} ")), indent(Doc::All(docs)), text(";")]))
}

fn call(call: &SpecCall) -> Doc {
    let args: Vec<&str> = call.args.iter().map(|arg| arg.name.as_str()).collect();
    let result = call.result.as_ref().map_or_else(String::new, |r| format!("/{}", r.name));
    text(format!("{}({}){result}", call.method.name, args.join(", ")))
}

/// Returns the blocks within the expressions of a declaration; `None` if the declaration has parts
/// that keep their own comments.
fn leaf_regions(item: &Item) -> Option<Vec<Span>> {
    let mut out = Vec::new();
    let of_ref = |reference: &Ref, out: &mut Vec<Span>| {
        reference.index.iter().for_each(|index| region::of_expr(index, out));
    };
    match &item.kind {
        ItemKind::Const(decl) => region::of_expr(&decl.value, &mut out),
        ItemKind::Index(decl) => region::of_expr(&decl.size, &mut out),
        ItemKind::Var(vars) => {
            vars.iter()
                .filter_map(|var| var.init.as_ref())
                .for_each(|init| region::of_expr(init, &mut out));
        }
        ItemKind::Lock(_)
        | ItemKind::Cond(_)
        | ItemKind::Handler(_)
        | ItemKind::Component { .. }
        | ItemKind::Setting(_) => {}
        ItemKind::Driver(events) => events.iter().for_each(|event| of_ref(event, &mut out)),
        ItemKind::Invariant { expr, .. } | ItemKind::Final(expr) => region::of_expr(expr, &mut out),
        ItemKind::Response(decl) => {
            region::of_expr(&decl.trigger, &mut out);
            region::of_expr(&decl.reaction, &mut out);
        }
        _ => return None,
    }
    Some(out)
}
