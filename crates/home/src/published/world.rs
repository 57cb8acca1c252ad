//! The home of the published tool, and what a state of it holds.

use super::events::{self, Choice, NoEvents};
use super::inputs;
use super::kept::{Held, Kept};
use super::table::Table;
use anyorder_groovy::ast::{Expr, ExprKind, Number, Script, StmtKind};
use anyorder_groovy::parse;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The apps of a home as the published tool sees them.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) table: &'static Table,
    pub(super) apps: Vec<Member>,
    pub(super) choices: Vec<Choice>,
    /// The devices of the home, by their numbers in the table.
    pub(super) devices: Vec<usize>,
}

/// An app of the home.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) file: String,
    /// What is left of its text: from the first line with a definition on.
    pub(super) script: Script,
    /// Its fields with their first values.
    pub(super) fields: Vec<(String, Kept)>,
    /// The names of its methods.
    pub(super) methods: BTreeSet<String>,
    /// Why its inputs are not all known.
    pub(super) lost: Option<String>,
    lines: Vec<usize>,
}

/// Why there is no such home.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum NoHome {
    Syntax(String),
    Events(NoEvents),
}

impl Home {
    /// Makes the home of apps, each with its file and text.
    pub(super) fn new(apps: &[(String, String)], stop: &dyn Fn() -> bool) -> Result<Home, NoHome> {
        let table = Table::built_in();
        let texts: Vec<&str> = apps.iter().map(|(_, text)| text.as_str()).collect();
        let (words, choices) = events::read(table, &texts).map_err(NoHome::Events)?;
        let mut members = vec![];
        for (number, ((file, text), words)) in apps.iter().zip(words).enumerate() {
            members.push(member(table, number, file, text, &words, stop)?);
        }
        let held = members.iter().flat_map(|app| &app.fields);
        let mut devices: Vec<usize> = held
            .filter_map(|(_, value)| match value {
                Kept::Held(Held::Group(device)) => Some(*device),
                _ => None,
            })
            .collect();
        devices.sort_unstable();
        devices.dedup();
        Ok(Home { table, apps: members, choices, devices })
    }

    /// Returns the position of a byte of an app: line and column, from 1.
    pub(super) fn position(&self, app: usize, at: usize) -> (usize, usize) {
        let lines = &self.apps[app].lines;
        let line = lines.partition_point(|start| *start <= at).max(1);
        (line, at - lines.get(line - 1).copied().unwrap_or(0) + 1)
    }

    /// Returns the state before anything is installed, by the first choice.
    pub(super) fn first(&self, is_second: bool) -> World {
        let which = usize::from(is_second);
        let values = |fields: &[(String, [Kept; 2])]| {
            fields.iter().map(|(_, both)| both[which].clone()).collect()
        };
        let mode = if is_second { "home" } else { "away" };
        World {
            mode: Kept::from(mode),
            location_mode: Kept::from(mode),
            is_touched: 0,
            is_own_mode: false,
            is_mode_hashed: false,
            hashed: BTreeSet::new(),
            is_manual: false,
            devices: self
                .devices
                .iter()
                .map(|device| {
                    let device = &self.table.devices[*device];
                    [values(&device.group), values(&device.item)]
                })
                .collect(),
            apps: self.apps.iter().map(|app| Running::new(&app.fields)).collect(),
        }
    }
}

/// What a state holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct World {
    pub(super) mode: Kept,
    pub(super) location_mode: Kept,
    pub(super) is_touched: i32,
    /// The mode was set by an app: it is a text of its own, not the one of the program.
    pub(super) is_own_mode: bool,
    /// A hash was made of it.
    pub(super) is_mode_hashed: bool,
    /// An event of a person is under way.
    pub(super) is_manual: bool,
    /// The names of subscribed events that were looked up as names of properties. A text of the
    /// Java program keeps the hash that is made of it then, and so it is another state.
    pub(super) hashed: BTreeSet<String>,
    /// The fields of the group and of the item of each device.
    pub(super) devices: Vec<[Vec<Kept>; 2]>,
    pub(super) apps: Vec<Running>,
}

/// What an app holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Running {
    pub(super) fields: Vec<Kept>,
    pub(super) heard: Subscriptions<Kept>,
}

/// The subscriptions of an app, in four lists. The values are not cleared with the others.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(super) struct Subscriptions<T> {
    pub(super) objects: Vec<T>,
    /// The names of the events, and whether a name is a text of the program: one without a value
    /// after it is.
    pub(super) events: Vec<(String, bool)>,
    pub(super) values: Vec<String>,
    pub(super) handlers: Vec<T>,
}

impl<T> Default for Subscriptions<T> {
    fn default() -> Self {
        Self { objects: vec![], events: vec![], values: vec![], handlers: vec![] }
    }
}

impl Running {
    fn new(fields: &[(String, Kept)]) -> Running {
        let fields = fields.iter().map(|(_, value)| value.clone()).collect();
        Running { fields, heard: Subscriptions::default() }
    }
}

fn member(
    table: &Table,
    number: usize,
    file: &str,
    text: &str,
    words: &events::Words,
    stop: &dyn Fn() -> bool,
) -> Result<Member, NoHome> {
    let parsed = parse(text);
    if let Some(first) = parsed.diagnostics.first() {
        return Err(NoHome::Syntax(format!("{file}: {}", first.message)));
    }
    let asked = inputs::settings(table, &parsed.script, stop);
    let mut fields: Vec<(String, Kept)> =
        vec![("location_mode".to_owned(), Kept::Null), ("zipCode".to_owned(), Kept::Int(92617))];
    let empty = |name: &str| (Kept::from(name), Kept::List(vec![]));
    let state = ["home", "away", "night"].map(empty).to_vec();
    fields.push(("state".to_owned(), Kept::Map(state)));
    let version = vec![(Kept::from("version"), Kept::from("1.01"))];
    fields.push(("atomicState".to_owned(), Kept::Map(version)));
    let mut settings = vec![(Kept::from("app"), Kept::Held(Held::App))];
    for (name, value) in asked.values {
        settings.push((Kept::from(&*name), value.clone()));
        fields.push((name, value));
    }
    settings.push((Kept::from("END"), Kept::from("END")));
    fields.push(("settings".to_owned(), Kept::Map(settings)));
    for name in &words.methods {
        if !fields.iter().any(|(own, _)| own == name) {
            let method = Held::Method(number, name.clone());
            fields.push((name.clone(), Kept::Held(method)));
        }
    }
    let start = first_definition(text);
    let mut script = parsed.script;
    script.statements.retain(|stmt| stmt.span.start as usize >= start);
    for stmt in &script.statements {
        if let StmtKind::Declare(declaration) = &stmt.kind {
            fields.extend(declaration.variables.iter().map(|one| {
                let value = one.value.as_ref().and_then(constant);
                (one.name.clone(), value.unwrap_or_default())
            }));
        }
    }
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let lines = std::iter::once(0).chain(lines).collect();
    let methods = script.statements.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Method(method) => Some(method.name.clone()),
        _ => None,
    });
    let methods = methods.collect();
    Ok(Member { file: file.to_owned(), script, fields, methods, lost: asked.lost, lines })
}

/// Returns the value of a constant.
fn constant(expr: &Expr) -> Option<Kept> {
    match &expr.bare().kind {
        ExprKind::Bool(one) => Some(Kept::Bool(*one)),
        ExprKind::Number(Number::Int(one)) => Some(Kept::Int(*one)),
        ExprKind::Number(Number::Long(one)) => Some(Kept::Long(*one)),
        ExprKind::Text(text) => Some(Kept::from(&**text)),
        ExprKind::List(items) if items.is_empty() => Some(Kept::List(vec![])),
        ExprKind::EmptyMap => Some(Kept::Map(vec![])),
        _ => None,
    }
}

/// Returns where the first line with a definition starts.
fn first_definition(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.contains("def ") {
            return at;
        }
        at += line.len();
    }
    at
}
