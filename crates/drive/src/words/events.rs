//! Events, tasks and chains of posts in words.

use anyorder_common::text::quote;
use anyorder_finding::Site;
use anyorder_trace::{
    EventId, EventKind, InputId, LocationId, Mailbox, NameId, SiteId, Tables, TaskId, TaskKind,
    Trace,
};

/// The most posts of a chain that are reported. Longer chains are cut in the middle.
const CHAIN_POSTS_MAX: usize = 40;

/// Returns an event in words: `write of x in task (event 12)`.
pub(crate) fn event(trace: &Trace, id: EventId) -> String {
    let event = trace.event(id);
    let what = match event.kind() {
        EventKind::Post => format!("post of `{}`", trace.task_name(TaskId(event.operand))),
        EventKind::Get => format!("begin of `{}`", trace.task_name(event.task)),
        EventKind::End => format!("end of `{}`", trace.task_name(event.task)),
        EventKind::Trigger | EventKind::Enable | EventKind::Disable => {
            let input = trace.tables().input_text(InputId(event.operand));
            format!("{} of `{input}`", event.kind().word())
        }
        kind => match event.location() {
            Some(location) => format!("{} of `{}`", kind.word(), trace.location_text(location)),
            None => kind.word().to_owned(),
        },
    };
    let place = task(trace, event.task);
    let at = at_site(trace, id);
    match event.kind() {
        EventKind::Get | EventKind::End => format!("{what} (event {}{at})", trace.label(id)),
        _ => format!("{what} in {place} (event {}{at})", trace.label(id)),
    }
}

/// Returns where an event happened, ` at FILE:LINE`; nothing if that is not known.
fn at_site(trace: &Trace, id: EventId) -> String {
    match trace.tables().site_text(trace.event(id).site).as_ref() {
        "?" => String::new(),
        site => format!(" at {site}"),
    }
}

/// Returns a task in words: `task` on `handler`.
pub(crate) fn task(trace: &Trace, task: TaskId) -> String {
    let handler = trace.handler_name(trace.span(task).handler);
    match trace.tables().tasks[task.index()].kind {
        TaskKind::Posted => format!("`{}` on `{handler}`", trace.task_name(task)),
        TaskKind::Initial => format!("`{handler}`"),
        TaskKind::Burst => format!("`{}` of `{handler}`", trace.task_name(task)),
    }
}

/// Returns the chain of posts that led to a task. Its own post comes first; the input event or the
/// thread at the root comes last.
pub(crate) fn chain(trace: &Trace, mut at: TaskId) -> Vec<String> {
    let mut lines = Vec::new();
    let trigger_of = |task: TaskId| {
        let span = trace.span(task);
        let end = span.last.0.min(span.first.0.saturating_add(64));
        (span.first.0..=end).map(EventId).find(|event| {
            trace.event(*event).task == task && trace.event(*event).kind() == EventKind::Trigger
        })
    };
    loop {
        if !trace.span(at).first.is_none()
            && let Some(trigger) = trigger_of(at)
        {
            let input = trace.tables().input_text(InputId(trace.event(trigger).operand));
            lines.push(format!("handles input `{input}` (event {})", trace.label(trigger)));
        }
        let Some(post) = trace.span(at).post.some() else { break };
        let def = trace.tables().tasks[at.index()];
        let delay =
            if def.delay > 0 { format!(" with delay {}", def.delay) } else { String::new() };
        let by = trace.event(post).task;
        lines.push(format!(
            "`{}` posted{delay} by {} (event {}{})",
            trace.task_name(at),
            task(trace, by),
            trace.label(post),
            at_site(trace, post)
        ));
        if by == at || lines.len() > CHAIN_POSTS_MAX {
            break;
        }
        at = by;
    }
    lines
}

/// Returns a position in the source as a site of a finding.
pub(crate) fn position(tables: &Tables, id: SiteId) -> Site {
    let position = tables.sites.get(id.index()).copied().unwrap_or_default();
    let text = |name: NameId| (name != NameId::EMPTY).then(|| tables.name(name).to_owned());
    let number = |number: u32| (number != 0).then_some(number);
    Site {
        file: text(position.file),
        line: number(position.line),
        column: number(position.column),
        function: text(position.function),
        label: text(position.label).or_else(|| text(position.function)),
        ..Site::default()
    }
}

/// Returns an event as a site of a finding.
pub(crate) fn site(trace: &Trace, id: EventId) -> Site {
    let event = trace.event(id);
    let tables = trace.tables();
    let handler = trace.span(event.task).handler;
    let mailbox = tables.handlers.get(handler.index()).map(|handler| handler.mailbox);
    let name = trace.handler_name(handler).to_owned();
    let serves = mailbox.is_some_and(|m| m != Mailbox::None);
    let atomic = if event.mode().is_atomic() { " atomic" } else { "" };
    Site {
        event: Some(trace.label(id)),
        task: Some(trace.task_name(event.task).to_owned()),
        handler: serves.then(|| name.clone()),
        thread: Some(name),
        location: event.location().map(|location| trace.location_text(location)),
        access: Some(format!("{}{atomic}", event.kind().word())),
        chain: chain(trace, event.task),
        ..position(tables, event.site)
    }
}

/// Returns the name of a location for a title, without the object.
pub(crate) fn location_title(trace: &Trace, location: LocationId) -> String {
    trace.tables().location_without_object(location)
}

/// Returns the command that explains the order of two events.
pub(crate) fn why_command(input: &str, trace: &Trace, pair: [EventId; 2]) -> String {
    let [a, b] = pair.map(|event| trace.event_name(event));
    format!("anyorder why {}", [input, &a, &b].map(quote).join(" "))
}
