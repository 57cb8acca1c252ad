//! Methods and classes in the canonical form.

use super::canonical::{Out, short, type_or_dash, type_text};
use super::text::quoted;
use crate::ast::{
    Block, Class, ClassKind, Declaration, EnumConstant, Import, Item, Method, Variable,
};

pub(super) fn method(out: &mut Out, method: &Method) {
    if method.is_constructor {
        out.open("constructor");
    } else {
        out.open(&format!("method {}", quoted(&method.name)));
        out.leaf(&type_or_dash(method.result.as_ref()));
    }
    out.annotations(&method.modifiers.annotations);
    out.parameters(&method.parameters);
    if !method.throws.is_empty() {
        out.leaf(&format!("throws {}", method.throws.join(",")));
    }
    match (&method.body, &method.default) {
        (Some(body), _) => out.block(body),
        (None, Some(value)) => out.expr(value),
        (None, None) => out.leaf("nothing"),
    }
    out.close();
}

/// Shows a class and then those inside it.
pub(super) fn class(out: &mut Out, class: &Class, outer: &str) {
    let name = format!("{outer}{}", class.name);
    let (head, base) = match class.kind {
        ClassKind::Interface | ClassKind::Annotation => ("interface", "Object"),
        ClassKind::Enum => ("enum", "Enum"),
        ClassKind::Class | ClassKind::Trait | ClassKind::Anonymous => ("class", "Object"),
    };
    let inner = class.items.iter().filter_map(|item| match item {
        Item::Class(inner) => Some(inner),
        _ => None,
    });
    // The compiler adds an enum behind the classes inside it, any other class before them.
    if class.kind == ClassKind::Enum {
        inner.clone().for_each(|one| self::class(out, one, &format!("{name}$")));
    }
    out.open(&format!("{head} {name}"));
    out.annotations(&class.modifiers.annotations);
    if class.kind == ClassKind::Trait {
        out.leaf("@groovy.transform.Trait()");
    }
    let is_interface = head == "interface";
    let base =
        class.extends.first().filter(|_| !is_interface).map(type_text).unwrap_or(base.into());
    out.leaf(&format!("(extends {base})"));
    out.open("implements");
    let interfaces = if is_interface { &class.extends } else { &class.implements };
    interfaces.iter().for_each(|one| out.leaf(&type_text(one)));
    if class.kind == ClassKind::Annotation {
        out.leaf("Annotation");
    }
    out.close();
    members(out, class);
    out.close();
    if class.kind != ClassKind::Enum {
        inner.for_each(|one| self::class(out, one, &format!("{name}$")));
    }
}

pub(super) fn members(out: &mut Out, class: &Class) {
    out.open("members");
    all_fields(out, class);
    for item in &class.items {
        if let Item::Initializer(false, block) = item {
            out.open("initializer");
            out.open("block");
            out.block(block);
            out.close();
            out.close();
        }
    }
    for item in &class.items {
        if let Item::Method(one) = item
            && one.is_constructor
        {
            method(out, one);
        }
    }
    let mut seen = false;
    for item in &class.items {
        match item {
            Item::Method(one) if !one.is_constructor => method(out, one),
            Item::Initializer(true, _) if !std::mem::replace(&mut seen, true) => {
                static_initializer(out, class);
            }
            _ => {}
        }
    }
    out.close();
}

/// A field, shown.
struct Field<'a> {
    name: &'a str,
    text: String,
    /// It has no visibility of its own.
    is_property: bool,
}

/// Shows the constants and fields. A property takes the place of an earlier field of its name, but
/// keeps what that is; a field with a visibility takes the place of an earlier property.
fn all_fields(out: &mut Out, class: &Class) {
    let mut all: Vec<Field<'_>> = Vec::new();
    for one in &class.constants {
        let from = out.text.len();
        constant(out, one);
        let text = out.text.split_off(from);
        all.push(Field { name: &one.name, text, is_property: false });
    }
    for item in &class.items {
        let Item::Field(declaration) = item else { continue };
        let visible = |word: &&str| matches!(*word, "public" | "private" | "protected");
        let is_property = !declaration.modifiers.words.iter().any(visible);
        for one in &declaration.variables {
            let from = out.text.len();
            field(out, declaration, one);
            let text = out.text.split_off(from);
            let new = Field { name: &one.name, text, is_property };
            let old = all.iter().rposition(|own| own.name == one.name);
            let known = all.iter().any(|own| own.name == one.name && own.is_property);
            match old {
                Some(at) if is_property && !known => {
                    let old = all.remove(at);
                    all.push(Field { is_property, ..old });
                }
                Some(at) if !is_property && all[at].is_property => {
                    all.remove(at);
                    all.push(new);
                }
                _ => all.push(new),
            }
        }
    }
    all.iter().for_each(|one| out.text += &one.text);
}

fn constant(out: &mut Out, constant: &EnumConstant) {
    out.open(&format!("variable {} constant", constant.name));
    out.annotations(&constant.annotations);
    match (&constant.arguments, &constant.body) {
        (None, None) => out.leaf("nothing"),
        (arguments, body) => {
            out.mixed_list(arguments.as_deref().unwrap_or_default());
            if body.is_some() {
                out.text.pop();
                out.leaf("(class body)");
                out.close();
            }
        }
    }
    out.close();
}

/// Shows the static initialisers as one method.
fn static_initializer(out: &mut Out, class: &Class) {
    let blocks: Vec<&Block> = class
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Initializer(true, block) => Some(block),
            _ => None,
        })
        .collect();
    out.leaf("(method \"<clinit>\" void (parameters)");
    out.open("block");
    blocks.iter().for_each(|block| out.block(block));
    out.close();
    out.close();
}

fn field(out: &mut Out, declaration: &Declaration, one: &Variable) {
    out.open(&format!("variable {}", one.name));
    out.leaf(&type_or_dash(declaration.type_name.as_ref()));
    out.annotations(&declaration.modifiers.annotations);
    match &one.value {
        Some(value) => out.expr(value),
        None => out.leaf("nothing"),
    }
    out.close();
}

pub(super) fn import_text(import: &Import) -> String {
    let (path, last) = import.name.rsplit_once('.').unwrap_or(("", &import.name));
    let alias = import.alias.as_deref().unwrap_or(last);
    match (import.is_static, import.is_star) {
        (false, false) => format!("(import {} {alias})", short(&import.name)),
        (false, true) => format!("(import* {}.)", import.name),
        (true, false) => format!("(import-static {} {last} {alias})", short(path)),
        (true, true) => format!("(import-static* {})", short(&import.name)),
    }
}
