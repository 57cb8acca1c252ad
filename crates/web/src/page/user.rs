//! The user of a page: finds elements, and moves the mouse and presses keys as trusted input.

use super::driver::PageDriver;
use super::input::{Key, key_of, of_character};
use super::runtime::NAME;
use crate::actions::{Target, UserStep, UserStepKind};
use crate::error::WebError;
use serde_json::{Value, json};
use std::time::Duration;

/// Where an element is.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Spot {
    x: f64,
    y: f64,
}

/// Whether the user can take a step now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Readiness {
    Ready,
    /// The target is not there, or not visible.
    Missing,
    /// The target is a control that is disabled, or a field that takes no text.
    Refused,
}

/// The time between two steps of typing, in seconds. A list joins letters that come within one
/// second to a word, so that a second word would choose nothing.
const PAUSE_OF_TYPING: f64 = 2.0;

/// When the first key is pressed, in seconds since 1970: any time, the same in all runs.
const FIRST_KEY: f64 = 1.7e9;

/// How many steps the mouse takes from one element to another one.
const DRAG_STEPS: u32 = 5;

/// How long a step of a drag takes, in milliseconds of the page.
const DRAG_STEP_MS: u32 = 50;

/// How long the browser may take to begin a drag of its own.
const DRAG_BEGINS: Duration = Duration::from_millis(500);

impl PageDriver {
    /// Returns whether the target of a step is there, and visible and not disabled if it must be.
    pub(crate) fn can_take(&mut self, step: &UserStep) -> Result<Readiness, WebError> {
        let Some(target) = step.target() else { return Ok(Readiness::Ready) };
        // The target of a file field is often hidden behind a button.
        let visible = step.visible && !matches!(step.kind, UserStepKind::Upload { .. });
        let using = match step.kind {
            UserStepKind::Click(_) => "click",
            UserStepKind::Type { .. } => "type",
            _ => "",
        };
        let found = self.find(target, visible, using, false)?;
        Ok(match spot_of(&found) {
            Some(_) if found["refuses"] == true => Readiness::Refused,
            Some(_) => Readiness::Ready,
            None => Readiness::Missing,
        })
    }

    /// Takes a step. An element that went away meanwhile is not used.
    pub(crate) fn take_step(&mut self, step: &UserStep) -> Result<(), WebError> {
        match &step.kind {
            UserStepKind::Click(target) => {
                if let Some(spot) = self.locate(target, true)? {
                    self.mouse("mouseMoved", spot, 0)?;
                    self.mouse("mousePressed", spot, 1)?;
                    self.mouse("mouseReleased", spot, 0)?;
                }
            }
            UserStepKind::Type { into, text } => {
                self.focus(into)?;
                self.state.pauses += PAUSE_OF_TYPING;
                for character in text.chars() {
                    self.press(&of_character(character, 0))?;
                }
            }
            UserStepKind::Press(name) => {
                if let Some(key) = key_of(name) {
                    self.press(&key)?;
                }
            }
            UserStepKind::Hover(target) => {
                if let Some(spot) = self.locate(target, true)? {
                    self.mouse("mouseMoved", spot, 0)?;
                }
            }
            UserStepKind::Scroll { target, by: (x, y) } => {
                let by = json!({"left": x, "top": y, "behavior": "instant"});
                let on = match target {
                    Some(target) => format!("{NAME}.element({})", selector(target)),
                    None => "window".to_owned(),
                };
                self.look(&format!("({on}).scrollBy({by})"))?;
            }
            UserStepKind::Drag { from, to } => self.drag(from, to)?,
            UserStepKind::Upload { into, files } => self.upload(into, files)?,
            UserStepKind::Wait(_) => {}
            UserStepKind::Navigate(url) => {
                self.look(&format!("void location.assign({})", json!(url)))?;
            }
        }
        Ok(())
    }

    fn locate(&mut self, target: &Target, scroll: bool) -> Result<Option<Spot>, WebError> {
        self.find(target, false, "", scroll).map(|found| spot_of(&found))
    }

    fn find(
        &mut self,
        target: &Target,
        visible: bool,
        using: &str,
        scroll: bool,
    ) -> Result<Value, WebError> {
        let target = selector(target);
        let call = format!("{NAME}.locate({target},{visible},{},{scroll})", json!(using));
        let answer = self.look(&call)?;
        serde_json::from_str(answer.as_str().unwrap_or("{}"))
            .map_err(|_| WebError::Answer("locate".to_owned()))
    }

    fn mouse(&mut self, kind: &str, spot: Spot, buttons: u32) -> Result<(), WebError> {
        self.state.has_pointer = true;
        let moved = kind == "mouseMoved";
        let (button, clicks) = if moved && buttons == 0 { ("none", 0) } else { ("left", 1) };
        let params = json!({
            "type": kind, "x": spot.x, "y": spot.y, "button": button, "buttons": buttons,
            "clickCount": clicks,
        });
        self.call("Input.dispatchMouseEvent", params)?;
        self.hold_animations()
    }

    /// Presses a key, and releases it.
    fn press(&mut self, key: &Key) -> Result<(), WebError> {
        for mut event in key.events() {
            event["timestamp"] = json!(FIRST_KEY + self.state.pauses);
            self.call("Input.dispatchKeyEvent", event)?;
            if key.activates() {
                self.hold_animations()?;
            }
        }
        Ok(())
    }

    /// Lets the styles of a pressed or pointed-at element begin their transitions: whether the
    /// browser draws between two inputs would decide otherwise whether there are any.
    fn hold_animations(&mut self) -> Result<(), WebError> {
        self.within_step("hold()")
    }

    /// Calls the runtime while a step goes on.
    fn within_step(&mut self, call: &str) -> Result<(), WebError> {
        match self.in_context(None, call) {
            // The page goes away.
            Err(WebError::Refused { .. }) => Ok(()),
            other => other.map(drop),
        }
    }

    /// Gives an element the focus if it has not got it.
    fn focus(&mut self, target: &Target) -> Result<(), WebError> {
        let element = format!("{NAME}.element({})", selector(target));
        // A user who clicks into a field goes on at its end.
        let focus = format!(
            "(e => {{ if (!e || e === document.activeElement) return; e.focus(); try {{ \
             e.setSelectionRange(e.value.length, e.value.length) }} catch {{}} }})({element})"
        );
        self.look(&focus).map(drop)
    }

    fn drag(&mut self, from: &Target, to: &Target) -> Result<(), WebError> {
        let (Some(start), Some(end)) = (self.locate(from, true)?, self.locate(to, false)?) else {
            return Ok(());
        };
        self.call("Input.setInterceptDrags", json!({"enabled": true}))?;
        self.state.dragged = None;
        self.mouse("mouseMoved", start, 0)?;
        self.mouse("mousePressed", start, 1)?;
        let mut may_begin = true;
        for step in 1..=DRAG_STEPS {
            let part = f64::from(step) / f64::from(DRAG_STEPS);
            let at = |from: f64, to: f64| from + (to - from) * part;
            let spot = Spot { x: at(start.x, end.x), y: at(start.y, end.y) };
            self.mouse("mouseMoved", spot, 1)?;
            self.pass(DRAG_STEP_MS)?;
            if may_begin && self.can_be_dragged(from)? {
                if self.until_answered(DRAG_BEGINS, |state| state.dragged.is_some())? {
                    self.drop_at(end)?;
                    break;
                }
                // The page does not let it, as with an image that it moves itself.
                may_begin = false;
            }
        }
        self.mouse("mouseReleased", end, 0)
    }

    /// Returns whether the browser itself may drag an element, as those with `draggable`.
    fn can_be_dragged(&mut self, element: &Target) -> Result<bool, WebError> {
        let element = format!("{NAME}.element({})", selector(element));
        let call = format!(
            "!!((e) => {{ for (; e; e = e.parentElement) if (e.draggable) return true }})({element})"
        );
        Ok(self.state.dragged.is_some() || self.look(&call)? == true)
    }

    /// Moves what the browser drags to a place, and drops it.
    fn drop_at(&mut self, spot: Spot) -> Result<(), WebError> {
        let Some(data) = self.state.dragged.take() else { return Ok(()) };
        for kind in ["dragEnter", "dragOver", "dragOver", "drop"] {
            let params = json!({"type": kind, "x": spot.x, "y": spot.y, "data": data});
            self.call("Input.dispatchDragEvent", params)?;
            self.pass(DRAG_STEP_MS)?;
        }
        Ok(())
    }

    /// Lets time pass within a step.
    fn pass(&mut self, time: u32) -> Result<(), WebError> {
        self.within_step(&format!("pass({time})"))
    }

    fn upload(&mut self, into: &Target, files: &[std::path::PathBuf]) -> Result<(), WebError> {
        let expression = format!("{NAME}.element({})", selector(into));
        let mut params = json!({"expression": expression});
        if let Some(observer) = self.state.observer {
            params["contextId"] = json!(observer);
        }
        let found = self.call("Runtime.evaluate", params)?;
        let Some(object) = found["result"]["objectId"].as_str() else { return Ok(()) };
        let files: Vec<String> = files
            .iter()
            .map(|file| file.canonicalize().unwrap_or_else(|_| file.clone()))
            .map(|file| file.display().to_string())
            .collect();
        let params = json!({"objectId": object, "files": files});
        self.call("DOM.setFileInputFiles", params).map(drop)
    }
}

/// Returns where an element is that was looked for, if it can be used.
fn spot_of(found: &Value) -> Option<Spot> {
    let spot = found["x"].as_f64().zip(found["y"].as_f64());
    spot.filter(|_| found["usable"] == true).map(|(x, y)| Spot { x, y })
}

/// Returns the arguments by which the runtime finds an element.
fn selector(target: &Target) -> String {
    format!("{},{},{}", json!(target.kind.word()), json!(target.text), target.nth)
}
