//! Whether an app can change anything outside of itself, by its text alone.

use super::App;
use anyorder_groovy::ast::{Access, Expr, ExprKind, MemberName, Visitor, walk_expr};
use std::collections::BTreeSet;

/// Calls of the platform and the language that change nothing that another app can see. A call
/// that is not among these, nor a method of the app, may do anything.
#[rustfmt::skip]
const NEUTRAL: &[&str] = &[
    "add", "addAll", "any", "appTouch", "asynchttpGet", "asynchttpPost", "attribute",
    "canSchedule", "capability", "collect", "contains", "containsKey", "createAccessToken",
    "currentState", "currentValue", "debug", "definition", "displayName", "dynamicPage", "each",
    "eachWithIndex", "encodeBase64", "endsWith", "equals", "equalsIgnoreCase", "error", "every",
    "find", "findAll", "first", "format", "get", "getAt", "getBytes", "getDataValue",
    "getSunriseAndSunset", "getTime", "hasAttribute", "hasCapability", "hasCommand", "href",
    "httpError", "httpGet", "httpPost", "httpPostJson", "httpPut", "httpPutJson", "image",
    "indexOf", "info", "input", "isEmpty", "join", "keySet", "label", "last", "latestState",
    "latestValue", "length", "mappings", "max", "min", "mode", "multiply", "nextInt", "now",
    "page", "paragraph", "parseText", "path", "pause", "plus", "preferences", "put", "remove",
    "replace", "replaceAll", "reverse", "round", "runDaily", "runEvery10Minutes",
    "runEvery15Minutes", "runEvery1Hour", "runEvery1Minute", "runEvery30Minutes",
    "runEvery3Hours", "runEvery5Minutes", "runIn", "runOnce", "schedule", "section",
    "sendHubCommand", "sendNotification", "sendNotificationEvent", "sendNotificationToContacts",
    "sendPush", "sendPushMessage", "sendSms", "sendSmsMessage", "size", "sort", "split",
    "startsWith", "subscribe", "substring", "sum", "timeToday", "toBigDecimal", "toDouble",
    "toFloat", "toInteger", "toLong", "toLowerCase", "toString", "toUpperCase", "tokenize",
    "trace", "trim", "unique", "unschedule", "unsubscribe", "values", "warn",
];

/// Properties of the location that are set: `location.mode = "Away"`.
const SET: &[&str] = &["mode", "currentMode"];

/// What the text of an app calls.
#[derive(Default)]
struct Called {
    names: BTreeSet<String>,
    /// The properties that it sets.
    set: BTreeSet<String>,
    /// Whether it calls something by a computed name.
    is_hidden: bool,
}

impl Called {
    fn member(&mut self, name: &MemberName) {
        match name {
            MemberName::Fixed(name) => {
                self.names.insert(name.clone());
            }
            MemberName::Computed(_) => self.is_hidden = true,
        }
    }
}

impl Visitor for Called {
    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call(callee, _) => match &callee.kind {
                ExprKind::Member(member) => self.member(&member.name),
                ExprKind::Name(name) => {
                    self.names.insert(name.clone());
                }
                ExprKind::Closure(_) => {}
                _ => self.is_hidden = true,
            },
            ExprKind::Member(member) if member.access == Access::Pointer => {
                self.member(&member.name);
            }
            ExprKind::Assign(_, target, _) => {
                if let ExprKind::Member(member) = &target.kind {
                    match &member.name {
                        MemberName::Fixed(name) => {
                            self.set.insert(name.clone());
                        }
                        MemberName::Computed(_) => self.is_hidden = true,
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Returns whether the app may set an attribute or the mode, or send an event that others hear.
/// `commands` are those of its devices that set something. An app that does not act takes part in
/// no conflict, loop or breach of a rule.
pub(crate) fn acts(app: &App, commands: &BTreeSet<&str>) -> bool {
    let mut called = Called::default();
    app.script.statements.iter().for_each(|stmt| called.stmt(stmt));
    let may_act = |name: &String| {
        let is_known = NEUTRAL.contains(&name.as_str()) || app.parameters.contains_key(name);
        !is_known || commands.contains(name.as_str())
    };
    called.is_hidden
        || called.names.iter().any(may_act)
        || called.set.iter().any(|name| SET.contains(&name.as_str()))
}
