//! Automations and scripts as a tree: old and new syntax, lists or single ones.

pub use action::{Action, ActionKind, Branch, Call, Count, Repeat};
pub use automation::{Automation, Mode};
pub use condition::{Condition, ConditionKind};
pub use home::{Helper, Home, Scene};
pub use trigger::{At, Match, Trigger, TriggerKind};
pub use words::{Bound, Duration};
pub(crate) use words::{is_entity, shown as shown_number};

mod action;
mod automation;
mod condition;
mod home;
mod reader;
mod trigger;
mod words;
