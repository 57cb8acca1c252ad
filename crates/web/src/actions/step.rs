//! Steps of a user.

use anyorder_system::TaskName;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How an element is named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TargetKind {
    /// By a CSS selector.
    Css,
    /// By its whole text, with white space made single.
    Text,
    /// By its role, and after a colon its accessible name: `button:Save`.
    Role,
}

impl TargetKind {
    /// Returns the word for it in the file and for the page.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            TargetKind::Css => "css",
            TargetKind::Text => "text",
            TargetKind::Role => "role",
        }
    }
}

/// An element of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// How it is named.
    pub kind: TargetKind,
    /// Its name.
    pub text: String,
    /// Which of several it is, from 0, in the order of the document.
    pub nth: u32,
}

impl Target {
    /// Returns the target of a CSS selector.
    #[must_use]
    pub fn css(selector: &str) -> Target {
        Target { kind: TargetKind::Css, text: selector.to_owned(), nth: 0 }
    }

    /// Returns its name for labels.
    #[must_use]
    pub fn label(&self) -> String {
        let prefix = if self.kind == TargetKind::Css { "" } else { self.kind.word() };
        let equals = if prefix.is_empty() { "" } else { "=" };
        let nth = if self.nth == 0 { String::new() } else { format!("[{}]", self.nth) };
        format!("{prefix}{equals}{}{nth}", self.text)
    }
}

/// What a user does in one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UserStepKind {
    /// Presses and releases the left button over an element.
    Click(Target),
    /// Presses keys in an element, which gets the focus first.
    Type {
        /// The element.
        into: Target,
        /// The characters.
        text: String,
    },
    /// Presses a key, such as `Enter` or `Control+a`, where the focus is.
    Press(String),
    /// Moves the mouse over an element.
    Hover(Target),
    /// Scrolls by pixels to the right and down.
    Scroll {
        /// The element; `None`: the page.
        target: Option<Target>,
        /// By how much.
        by: (i32, i32),
    },
    /// Drags an element to another one.
    Drag {
        /// From here.
        from: Target,
        /// To here.
        to: Target,
    },
    /// Chooses files in a file field.
    Upload {
        /// The field.
        into: Target,
        /// The files.
        files: Vec<PathBuf>,
    },
    /// Does nothing, as soon as an element exists.
    Wait(Target),
    /// Goes to another address, such as `#settings`.
    Navigate(String),
}

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UserStep {
    /// What is done.
    pub kind: UserStepKind,
    /// Whether the element must be visible.
    pub visible: bool,
    /// The name of its event.
    pub name: TaskName,
}

impl UserStep {
    /// Returns the element that must exist.
    #[must_use]
    pub fn target(&self) -> Option<&Target> {
        match &self.kind {
            UserStepKind::Click(target)
            | UserStepKind::Type { into: target, .. }
            | UserStepKind::Hover(target)
            | UserStepKind::Drag { from: target, .. }
            | UserStepKind::Upload { into: target, .. }
            | UserStepKind::Wait(target) => Some(target),
            UserStepKind::Scroll { target, .. } => target.as_ref(),
            UserStepKind::Press(_) | UserStepKind::Navigate(_) => None,
        }
    }
}

/// The steps of a user, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Actions {
    steps: Vec<UserStep>,
}

impl Actions {
    /// Makes a list of steps, and names their events: equal ones are numbered.
    #[must_use]
    pub fn new(steps: impl IntoIterator<Item = (UserStepKind, bool)>) -> Actions {
        let mut counts: BTreeMap<(&'static str, String), u32> = BTreeMap::new();
        let named = steps.into_iter().map(|(kind, visible)| {
            let (word, label) = words(&kind);
            let count = counts.entry((word, label.clone())).or_default();
            let name = TaskName::root(word).with_label(&label).with_ordinal(*count);
            *count += 1;
            UserStep { kind, visible, name }
        });
        Actions { steps: named.collect() }
    }

    /// Returns the steps.
    #[must_use]
    pub fn steps(&self) -> &[UserStep] {
        &self.steps
    }
}

/// Returns the kind and the label of a step's event.
fn words(kind: &UserStepKind) -> (&'static str, String) {
    match kind {
        UserStepKind::Click(target) => ("click", target.label()),
        UserStepKind::Type { into, text } => ("type", format!("{} {text}", into.label())),
        UserStepKind::Press(key) => ("press", key.clone()),
        UserStepKind::Hover(target) => ("hover", target.label()),
        UserStepKind::Scroll { target, .. } => {
            ("scroll", target.as_ref().map(Target::label).unwrap_or_default())
        }
        UserStepKind::Drag { from, to } => ("drag", format!("{} {}", from.label(), to.label())),
        UserStepKind::Upload { into, .. } => ("upload", into.label()),
        UserStepKind::Wait(target) => ("wait", target.label()),
        UserStepKind::Navigate(url) => ("navigate", url.clone()),
    }
}
