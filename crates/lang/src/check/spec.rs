//! Commutativity specifications of classes.

use super::body::{Body, BodyKind};
use super::checker::{Checker, unknown, wrong_kind};
use super::model::{ClassId, LocalKind, Meaning};
use super::types::Type;
use crate::ast::{Ident, SpecCall, SpecDecl};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;

impl<'a> Checker<'a> {
    pub(super) fn spec(&mut self, spec: &'a SpecDecl) {
        let found = self.names.get(spec.class.name.as_str()).copied();
        let Some((Meaning::Class(id), _)) = found else {
            let known = self.program.classes.iter().map(|class| class.name.as_str());
            let place = (spec.class.name.as_str(), spec.class.span);
            self.report(match found {
                Some(found) => Some(wrong_kind(&spec.class, found, "a class")),
                None => unknown(Code::UNKNOWN_NAME, "class", place, known),
            });
            return;
        };
        self.set_meaning(spec.class.id, Meaning::Class(id));
        let mut pairs: HashMap<[&str; 2], Span> = HashMap::new();
        for clause in &spec.clauses {
            self.in_body(Body::of(BodyKind::Spec), |c| {
                c.spec_call(id, &clause.left);
                c.spec_call(id, &clause.right);
                if let Some(when) = &clause.when {
                    c.expect(when, &Type::Bool);
                }
            });
            // The relation is symmetric: one clause for each pair.
            let (left, right) = (&clause.left.method, &clause.right.method);
            let mut pair = [left.name.as_str(), right.name.as_str()];
            pair.sort_unstable();
            let [a, b] = pair;
            if a.is_empty() {
                continue;
            }
            let place = left.span.to(right.span);
            let first = *pairs.entry(pair).or_insert(place);
            if first != place {
                let message = format!("`{a}` and `{b}` are specified twice");
                self.report(
                    Diagnostic::new(Code::SPEC, place, message).also(first, "first specified here"),
                );
            }
        }
    }

    fn spec_call(&mut self, id: ClassId, call: &'a SpecCall) {
        let info = &self.program.classes[id.index()];
        let Some(at) = info.methods.iter().position(|method| method.name == call.method.name)
        else {
            let what = format!("method of `{}`", info.name);
            let known = info.methods.iter().map(|method| method.name.as_str());
            let place = (call.method.name.as_str(), call.method.span);
            self.report(unknown(Code::UNKNOWN_MEMBER, &what, place, known));
            for name in call.args.iter().chain(&call.result) {
                self.spec_name(name, Type::Any);
            }
            return;
        };
        let method = info.methods[at].clone();
        self.set_meaning(call.method.id, Meaning::Method(id, at as u32));
        if method.params.len() != call.args.len() {
            let message = format!(
                "`{}` has {} parameters, found {} names",
                method.name,
                method.params.len(),
                call.args.len()
            );
            self.error(Code::SPEC, call.method.span, message);
        }
        for (at, name) in call.args.iter().enumerate() {
            let ty = method.params.get(at).map_or(Type::Any, |(_, ty)| ty.clone());
            self.spec_name(name, ty);
        }
        if let Some(name) = &call.result {
            if method.result == Type::Nothing {
                let message = format!("`{}` gives no result to name", method.name);
                self.error(Code::SPEC, name.span, message);
            }
            self.spec_name(name, method.result);
        }
    }

    fn spec_name(&mut self, name: &'a Ident, ty: Type) {
        self.declare_local(name, ty, LocalKind::Spec);
    }
}
