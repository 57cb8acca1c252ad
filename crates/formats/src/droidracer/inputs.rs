//! The input events of Android's components, read from the fields of an operation.

use super::fields::{Fields, identity};
use crate::fault::LineError;
use anyorder_trace::{EventKind, Input, InputFamily, InputId, Interner, NameId};
use hashbrown::HashMap;

/// An input event and what happens to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct InputOperation {
    /// `Enable`, `Disable` or `Trigger`.
    pub(super) kind: EventKind,
    /// The input.
    pub(super) input: InputId,
    /// The number of the operation that it refers to.
    pub(super) refers: Option<u32>,
}

/// Makes inputs from fields; equal fields give the same input.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Lifecycle inputs by instance and state. An operation may omit the component's name and still
    /// mean the same input.
    lifecycle: HashMap<(u64, NameId), Input>,
}

impl Inputs {
    /// Returns the input event of an operation; `None` for other operations.
    pub(super) fn operation(
        &mut self,
        interner: &mut Interner,
        word: &[u8],
        fields: &Fields<'_>,
    ) -> Result<Option<InputOperation>, LineError> {
        use EventKind::{Disable, Enable, Trigger};
        let mut refers = None;
        let (kind, input) = match word {
            b"ENABLE-EVENT" => (Enable, view(interner, fields)?),
            b"TRIGGER-EVENT" => (Trigger, view(interner, fields)?),
            b"ENABLE-WINDOW-FOCUS" => (Enable, focus(fields)?),
            b"TRIGGER-WINDOW-FOCUS" => (Trigger, focus(fields)?),
            b"ENABLE-LIFECYCLE" => (Enable, self.lifecycle(interner, fields)?),
            b"TRIGGER-LIFECYCLE" => (Trigger, self.lifecycle(interner, fields)?),
            b"INSTANCE-INTENT" => (Enable, instance_intent(interner, fields)?),
            b"ADD_IDLE_HANDLER" => (Enable, idle(fields)?),
            b"QUEUE_IDLE" => (Trigger, idle(fields)?),
            b"REMOVE_IDLE_HANDLER" => (Disable, idle(fields)?),
            b"TRIGGER-SERVICE" => service(interner, fields)?,
            b"TRIGGER-BROADCAST" | b"TRIGGER-RECEIVER" => {
                let text = fields.text("state")?;
                let state = broadcast_state(&text);
                if fields.has("onRecLater") {
                    refers = u32::try_from(fields.signed("onRecLater")?).ok();
                }
                (broadcast_kind(state), receiver(interner, fields, state)?)
            }
            // The older spelling of a registration.
            b"REGISTER-BROADCAST" | b"REGISTER-RECEIVER" | b"REGISTER-BROADCAST-RECEIVER" => {
                (Enable, receiver(interner, fields, "REGISTER_RECEIVER")?)
            }
            _ => return Ok(None),
        };
        Ok(Some(InputOperation { kind, input: interner.input(input)?, refers }))
    }

    fn lifecycle(
        &mut self,
        interner: &mut Interner,
        fields: &Fields<'_>,
    ) -> Result<Input, LineError> {
        let component = fields.text("component")?;
        let instance = fields.identity("id")?;
        let state = interner.name(&fields.text("state")?)?;
        if let Some(input) = self.lifecycle.get(&(instance, state)) {
            return Ok(*input);
        }
        let component = interner.name(&component)?;
        let family = InputFamily::Lifecycle;
        let input = Input { family, state, component, instance, ..Input::default() };
        self.lifecycle.insert((instance, state), input);
        Ok(input)
    }
}

/// A user's action on a view.
fn view(interner: &mut Interner, fields: &Fields<'_>) -> Result<Input, LineError> {
    let instance = fields.identity("view")?;
    let event = fields.signed("event")?;
    let name = interner.name(&format!("event {event}"))?;
    Ok(Input { family: InputFamily::Ui, name, instance, ..Input::default() })
}

fn focus(fields: &Fields<'_>) -> Result<Input, LineError> {
    let instance = fields.identity("windowHash")?;
    Ok(Input { family: InputFamily::Focus, instance, ..Input::default() })
}

/// An intent has become an activity.
fn instance_intent(interner: &mut Interner, fields: &Fields<'_>) -> Result<Input, LineError> {
    let instance = fields.identity("instance")?;
    let argument = fields.identity("intentId")?;
    let state = interner.name("INSTANCE")?;
    Ok(Input { family: InputFamily::Lifecycle, state, instance, argument, ..Input::default() })
}

fn idle(fields: &Fields<'_>) -> Result<Input, LineError> {
    let instance = fields.identity("idler")?;
    let argument = fields.identity("queue")?;
    Ok(Input { family: InputFamily::Idle, instance, argument, ..Input::default() })
}

/// Requests and callbacks of a service; the state distinguishes them.
fn service(interner: &mut Interner, fields: &Fields<'_>) -> Result<(EventKind, Input), LineError> {
    let component = interner.name(&fields.text("component")?)?;
    let id = fields.identity("id")?;
    let state = fields.text("state")?;
    let (kind, instance, argument) = match &*state {
        "REQUEST_START_SERVICE" => (EventKind::Enable, 0, id),
        "REQUEST_BIND_SERVICE" => (EventKind::Enable, id, 0),
        "REQUEST_STOP_SERVICE" => (EventKind::Enable, 0, 0),
        "REQUEST_UNBIND_SERVICE" => (EventKind::Disable, id, 0),
        "SERVICE_CONNECT" => (EventKind::Trigger, id, 0),
        "SERVICE-ARGS" => (EventKind::Trigger, 0, id),
        _ => (EventKind::Trigger, 0, 0),
    };
    let state = interner.name(&state)?;
    let family = InputFamily::Service;
    Ok((kind, Input { family, state, component, instance, argument, ..Input::default() }))
}

/// Sending, registering or receiving a broadcast; the state distinguishes them.
fn receiver(interner: &mut Interner, fields: &Fields<'_>, state: &str) -> Result<Input, LineError> {
    let name = interner.name(&fields.text("action")?)?;
    let receiver = fields.text("component")?;
    let argument = if fields.has("intent") { fields.identity("intent")? } else { 0 };
    let (component, instance) = match identity(receiver.as_bytes()) {
        Some(instance) => (NameId::EMPTY, instance),
        // The receiver is given by its class: the id of the name serves as identity.
        None => {
            let component = interner.name(&receiver)?;
            (component, u64::from(component.0))
        }
    };
    let state = interner.name(state)?;
    Ok(Input { family: InputFamily::Broadcast, name, state, component, instance, argument })
}

fn broadcast_kind(state: &str) -> EventKind {
    match state {
        "SEND_BROADCAST" | "SEND_STICKY_BROADCAST" | "REGISTER_RECEIVER" | "ONRECEIVE_LATER" => {
            EventKind::Enable
        }
        "UNREGISTER_RECEIVER" | "REMOVE_STICKY_BROADCAST" => EventKind::Disable,
        _ => EventKind::Trigger,
    }
}

/// Returns the state word that the rules use for a broadcast operation, whatever its spelling.
fn broadcast_state(word: &str) -> &str {
    match word.strip_prefix("ABC_").unwrap_or(word) {
        "TRIGGER_ONRECEIVE" | "TRIGGER_ONRECIEVE" | "ONRECIEVE" => "ONRECEIVE",
        "TRIGGER_ONRECIEVE_LATER" | "TRIGGER_ONRECEIVE_LATER" | "ONRECIEVE_LATER" => {
            "ONRECEIVE_LATER"
        }
        word => word,
    }
}
