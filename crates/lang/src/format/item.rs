//! Declarations.

use super::Formatter;
use super::comments::blocks_in;
use super::doc::{Doc, all, group, indent, list, separated, text};
use crate::ast::{
    ClassDecl, ClassMember, ConstDecl, EnumDecl, Expr, Ident, IndexDecl, Item, ItemKind,
    RecordDecl, RecordField, SettingValue, SizedName, SpecCall, SpecClause, SpecDecl, TypeExpr,
    VarDecl, Variant,
};
use crate::source::Span;

impl Formatter<'_> {
    pub(super) fn item(&mut self, item: &Item) -> Doc {
        if let Some(regions) = leaf_regions(item)
            && self.comments.strays(item.span, &regions)
        {
            return self.as_written(item.span);
        }
        match &item.kind {
            ItemKind::Const(ConstDecl { name, ty, value }) => {
                all([text("const "), self.variable(name, ty.as_ref(), Some(value)), text(";")])
            }
            ItemKind::Index(IndexDecl { name, size }) => {
                all([text("index "), self.variable(name, None, Some(size)), text(";")])
            }
            ItemKind::Enum(decl) => self.enum_doc(decl, item.span),
            ItemKind::Record(decl) => self.record_doc(decl, item.span),
            ItemKind::Class(decl) => self.class_doc(decl, item.span),
            ItemKind::Var(vars) => names("var", vars.iter().map(|var| self.var(var)).collect()),
            ItemKind::Lock(locks) => self.sized_names("lock", locks),
            ItemKind::Cond(conds) => self.sized_names("cond", conds),
            ItemKind::Handler(decl) => self.handler(decl),
            ItemKind::Fn(decl) => self.function(decl),
            ItemKind::Task(decl) => self.task(decl),
            ItemKind::Event(decl) => self.event(decl),
            ItemKind::Thread(decl) => self.thread(decl),
            ItemKind::Init(body) => {
                group(all([text("init "), self.block(body, self.is_one_line(item.span))]))
            }
            ItemKind::Driver(events) => {
                names("driver", events.iter().map(|event| self.reference(event)).collect())
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
        names(word, list.iter().map(|name| self.sized_name(name)).collect())
    }

    fn var(&mut self, var: &VarDecl) -> Doc {
        self.variable(&var.name, var.ty.as_ref(), var.init.as_ref())
    }

    /// `name: T = e`.
    pub(super) fn variable(
        &mut self,
        name: &Ident,
        ty: Option<&TypeExpr>,
        init: Option<&Expr>,
    ) -> Doc {
        let ty = self.optional(": ", ty, Self::ty);
        all([text(&name.name), ty, self.optional(" = ", init, Self::expr)])
    }

    fn enum_doc(&mut self, decl: &EnumDecl, span: Span) -> Doc {
        let place = |f: &Self, variant: &Variant| match variant.payload.last() {
            Some(last) => f.to_paren(variant.name.span.to(last.span)),
            None => variant.name.span,
        };
        let head = text(format!("enum {} ", decl.name.name));
        self.in_braces(head, span, &decl.variants, place, |f, variant, comma| {
            let payload: Vec<Doc> = variant.payload.iter().map(|t| f.ty(t)).collect();
            let payload = if payload.is_empty() { text("") } else { list("(", payload, ")") };
            all([text(&variant.name.name), payload, comma])
        })
    }

    /// Extends `place` to the `)` after it.
    fn to_paren(&self, place: Span) -> Span {
        let rest = self.text.get(place.end as usize..).unwrap_or("");
        let close = rest.find(')').map_or(0, |at| at as u32 + 1);
        Span::new(place.start, place.end + close)
    }

    fn record_doc(&mut self, decl: &RecordDecl, span: Span) -> Doc {
        let place = |_: &Self, field: &RecordField| field.name.span.to(field.ty.span);
        let head = text(format!("record {} ", decl.name.name));
        self.in_braces(head, span, &decl.fields, place, |f, field, comma| {
            all([f.variable(&field.name, Some(&field.ty), None), comma])
        })
    }

    fn class_doc(&mut self, decl: &ClassDecl, span: Span) -> Doc {
        let mut last_span = Span::default();
        let place = |_: &Self, member: &ClassMember| match member {
            // `var a, b;` gives two members of one span: their comments go to the first.
            ClassMember::Field(field) => {
                let own = std::mem::replace(&mut last_span, field.span) != field.span;
                if own { field.span } else { field.span.after() }
            }
            ClassMember::Method(method) => method.span,
        };
        let head = text(format!("class {} ", decl.name.name));
        self.in_braces(head, span, &decl.members, place, |f, member, _| match member {
            ClassMember::Field(field) => all([text("var "), f.var(&field.var), text(";")]),
            ClassMember::Method(method) => f.function(method),
        })
    }

    fn spec_doc(&mut self, decl: &SpecDecl, span: Span) -> Doc {
        let head = text(format!("spec {} ", decl.class.name));
        let place = |_: &Self, clause: &SpecClause| clause.span;
        self.in_braces(head, span, &decl.clauses, place, |f, clause, _| {
            let calls = [call(&clause.left), text(" ~ "), call(&clause.right)];
            let when = f.optional(" when ", clause.when.as_ref(), Self::expr);
            all([all(calls), when, text(";")])
        })
    }
}

/// Lays out `word a, b;`.
fn names(word: &str, list: Vec<Doc>) -> Doc {
    let list = indent(separated(list, &[text(","), Doc::Line]));
    group(all([text(format!("{word} ")), list, text(";")]))
}

fn call(call: &SpecCall) -> Doc {
    let args: Vec<&str> = call.args.iter().map(|arg| arg.name.as_str()).collect();
    let result = call.result.as_ref().map_or_else(String::new, |r| format!("/{}", r.name));
    text(format!("{}({}){result}", call.method.name, args.join(", ")))
}

/// Returns the blocks within the expressions of a declaration; `None` if the declaration has parts
/// that keep their own comments.
fn leaf_regions(item: &Item) -> Option<Vec<Span>> {
    let exprs: Vec<&Expr> = match &item.kind {
        ItemKind::Const(ConstDecl { value: e, .. })
        | ItemKind::Index(IndexDecl { size: e, .. })
        | ItemKind::Invariant { expr: e, .. }
        | ItemKind::Final(e) => vec![e],
        ItemKind::Var(vars) => vars.iter().filter_map(|var| var.init.as_ref()).collect(),
        ItemKind::Driver(events) => events.iter().filter_map(|e| e.index.as_deref()).collect(),
        ItemKind::Response(decl) => vec![&decl.trigger, &decl.reaction],
        ItemKind::Lock(_)
        | ItemKind::Cond(_)
        | ItemKind::Handler(_)
        | ItemKind::Component { .. }
        | ItemKind::Setting(_) => vec![],
        _ => return None,
    };
    let mut out = Vec::new();
    exprs.iter().for_each(|e| blocks_in(e, &mut out));
    Some(out)
}
