//! The input events of Android's components, read from the fields of an operation.

use super::fields::{FieldError, Fields, identity};
use crate::event::EventKind;
use crate::ids::{InputId, NameId};
use crate::tables::{Input, InputFamily, Interner, TableFull};
use hashbrown::HashMap;

/// Why an operation could not become an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// A field is wrong.
    Field(FieldError),
    /// A table is full.
    Full(TableFull),
}

impl From<FieldError> for Fault {
    fn from(error: FieldError) -> Fault {
        Fault::Field(error)
    }
}

impl From<TableFull> for Fault {
    fn from(error: TableFull) -> Fault {
        Fault::Full(error)
    }
}

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

impl InputOperation {
    const fn new(kind: EventKind, input: InputId) -> InputOperation {
        InputOperation { kind, input, refers: None }
    }
}

/// Makes inputs from fields; equal fields give the same input.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// Lifecycle inputs by instance and state. An operation may omit the component's name and still
    /// mean the same input.
    lifecycle: HashMap<(u64, NameId), InputId>,
}

impl Inputs {
    /// `ENABLE-EVENT`, `TRIGGER-EVENT`: a user's action on a view.
    pub(super) fn ui(
        &mut self,
        interner: &mut Interner,
        kind: EventKind,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let instance = fields.identity("view")?;
        let event = fields.signed("event")?;
        let name = interner.name(&format!("event {event}"))?;
        let input = Input { family: InputFamily::Ui, name, instance, ..Input::default() };
        Ok(InputOperation::new(kind, interner.input(input)?))
    }

    /// `ENABLE-WINDOW-FOCUS`, `TRIGGER-WINDOW-FOCUS`.
    pub(super) fn focus(
        &mut self,
        interner: &mut Interner,
        kind: EventKind,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let instance = fields.identity("windowHash")?;
        let input = Input { family: InputFamily::Focus, instance, ..Input::default() };
        Ok(InputOperation::new(kind, interner.input(input)?))
    }

    /// `ENABLE-LIFECYCLE`, `TRIGGER-LIFECYCLE`.
    pub(super) fn lifecycle(
        &mut self,
        interner: &mut Interner,
        kind: EventKind,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let component = fields.text("component")?;
        let instance = fields.identity("id")?;
        let state = interner.name(&fields.text("state")?)?;
        let input = match self.lifecycle.get(&(instance, state)) {
            Some(input) => *input,
            None => {
                let component = interner.name(&component)?;
                let family = InputFamily::Lifecycle;
                let input = Input { family, state, component, instance, ..Input::default() };
                let input = interner.input(input)?;
                self.lifecycle.insert((instance, state), input);
                input
            }
        };
        Ok(InputOperation::new(kind, input))
    }

    /// `INSTANCE-INTENT`: an intent has become an activity.
    pub(super) fn instance_intent(
        &mut self,
        interner: &mut Interner,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let instance = fields.identity("instance")?;
        let argument = fields.identity("intentId")?;
        let state = interner.name("INSTANCE")?;
        let family = InputFamily::Lifecycle;
        let input = Input { family, state, instance, argument, ..Input::default() };
        Ok(InputOperation::new(EventKind::Enable, interner.input(input)?))
    }

    /// `ADD_IDLE_HANDLER`, `QUEUE_IDLE`, `REMOVE_IDLE_HANDLER`.
    pub(super) fn idle(
        &mut self,
        interner: &mut Interner,
        kind: EventKind,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let instance = fields.identity("idler")?;
        let argument = fields.identity("queue")?;
        let input = Input { family: InputFamily::Idle, instance, argument, ..Input::default() };
        Ok(InputOperation::new(kind, interner.input(input)?))
    }

    /// `TRIGGER-SERVICE`: requests and callbacks; the state distinguishes them.
    pub(super) fn service(
        &mut self,
        interner: &mut Interner,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let component = interner.name(&fields.text("component")?)?;
        let id = fields.identity("id")?;
        let state = fields.text("state")?;
        let kind = match &*state {
            "REQUEST_START_SERVICE" | "REQUEST_BIND_SERVICE" | "REQUEST_STOP_SERVICE" => {
                EventKind::Enable
            }
            "REQUEST_UNBIND_SERVICE" => EventKind::Disable,
            _ => EventKind::Trigger,
        };
        let (instance, argument) = match &*state {
            "REQUEST_BIND_SERVICE" | "SERVICE_CONNECT" | "REQUEST_UNBIND_SERVICE" => (id, 0),
            "REQUEST_START_SERVICE" | "SERVICE-ARGS" => (0, id),
            _ => (0, 0),
        };
        let state = interner.name(&state)?;
        let family = InputFamily::Service;
        let input = Input { family, state, component, instance, argument, ..Input::default() };
        Ok(InputOperation::new(kind, interner.input(input)?))
    }

    /// `TRIGGER-BROADCAST`, `TRIGGER-RECEIVER`: sending, registering, receiving; the state
    /// distinguishes them.
    pub(super) fn broadcast(
        &mut self,
        interner: &mut Interner,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let state = fields.text("state")?;
        let state = broadcast_state(&state);
        let kind = match state {
            "SEND_BROADCAST"
            | "SEND_STICKY_BROADCAST"
            | "REGISTER_RECEIVER"
            | "ONRECEIVE_LATER" => EventKind::Enable,
            "UNREGISTER_RECEIVER" | "REMOVE_STICKY_BROADCAST" => EventKind::Disable,
            _ => EventKind::Trigger,
        };
        let later = if fields.has("onRecLater") { fields.signed("onRecLater")? } else { -1 };
        let input = self.receiver(interner, fields, state)?;
        Ok(InputOperation { kind, input, refers: u32::try_from(later).ok() })
    }

    /// `REGISTER-BROADCAST`, `REGISTER-RECEIVER`: the older spelling of a registration.
    pub(super) fn register(
        &mut self,
        interner: &mut Interner,
        fields: &Fields<'_>,
    ) -> Result<InputOperation, Fault> {
        let input = self.receiver(interner, fields, "REGISTER_RECEIVER")?;
        Ok(InputOperation::new(EventKind::Enable, input))
    }

    fn receiver(
        &mut self,
        interner: &mut Interner,
        fields: &Fields<'_>,
        state: &str,
    ) -> Result<InputId, Fault> {
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
        let family = InputFamily::Broadcast;
        Ok(interner.input(Input { family, name, state, component, instance, argument })?)
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
