//! What calls of services do to states.

use crate::syntax::{Call, Home};
use crate::yaml::is_template;

/// What a call does to one entity.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// It sets the state.
    Set(String),
    /// It sets the state to what a template says.
    Template(String),
    /// It changes between these two states; from any other state to the first.
    Toggle(&'static str, &'static str),
    /// It sets the state to something that the model does not know.
    Anything,
    /// It sets an attribute: its name and value.
    Attribute(String, String),
    /// It starts an automation or a script without waiting (`script.turn_on`).
    Start,
    /// It ends runs (and turns an automation off).
    TurnOff,
    /// It turns an automation on.
    TurnOn,
    /// It starts a timer.
    TimerStart,
    /// It ends a timer.
    TimerCancel,
}

/// Domains whose states are `on` and `off`.
pub(crate) const SWITCHES: &[&str] = &[
    "binary_sensor",
    "switch",
    "light",
    "input_boolean",
    "fan",
    "automation",
    "siren",
    "remote",
    "humidifier",
    "group",
    "script",
    "schedule",
    "update",
    "calendar",
    "camera",
];

/// Domains of services that only tell people or the outside something.
const OUTPUTS: &[&str] = &[
    "notify",
    "tts",
    "persistent_notification",
    "logbook",
    "system_log",
    "mqtt",
    "rest_command",
    "shell_command",
    "recorder",
    "logger",
    "telegram_bot",
    "frontend",
    "python_script",
    "ifttt",
    "weather",
    "calendar",
    "conversation",
    "google_assistant_sdk",
    "image_processing",
    "zwave_js",
    "zha",
    "hassio",
    "backup",
    "browser_mod",
    "llmvision",
    "var",
    "pyscript",
    "todo",
    "assist_satellite",
    "webostv",
    "local_file",
    "downloader",
    "ai_task",
    "google_generative_ai_conversation",
    "openai_conversation",
    "esphome",
    "octopus_energy",
    "alexa_media",
    "adaptive_lighting",
    "dwains_dashboard",
    "rest",
    "sonos",
    "camera",
    "update",
    "zone",
    "person",
    "device_tracker",
    "influxdb",
    "ffmpeg",
];

/// Returns what a call does to the entities that it names, one effect for each, those of groups and
/// scenes included. `None` if the service is not known, so that it may do anything to them.
#[must_use]
pub fn effects(home: &Home, call: &Call) -> Option<Vec<(String, Effect)>> {
    let targets = call.targets.clone().unwrap_or_default();
    let (domain, service) = (call.domain.as_str(), call.service.as_str());
    let mut found = Vec::new();
    if domain == "scene" {
        return scene(home, service, &targets, call);
    }
    if domain == "script" && !matches!(service, "turn_on" | "turn_off" | "toggle" | "reload") {
        // The script itself is a service: it is called, not started.
        return Some(Vec::new());
    }
    if OUTPUTS.contains(&domain) {
        return Some(Vec::new());
    }
    let mut known = true;
    for target in targets.iter().flat_map(|target| home.members(target)) {
        let of = target.split('.').next().unwrap_or("").to_owned();
        match on_entity(domain, service, &of, call) {
            Some(list) => found.extend(list.into_iter().map(|effect| (target.clone(), effect))),
            None => known = false,
        }
    }
    let harmless = ["reload", "update_entity", "reload_config_entry", "restart", "check_config"];
    (known || harmless.iter().any(|name| service.starts_with(name))).then_some(found)
}

fn scene(
    home: &Home,
    service: &str,
    targets: &[String],
    call: &Call,
) -> Option<Vec<(String, Effect)>> {
    let mut found = Vec::new();
    let mut set = |states: &[(String, String)]| {
        for (entity, state) in states {
            let members = home.members(entity);
            found.extend(members.into_iter().map(|m| (m, Effect::Set(state.clone()))));
        }
    };
    match service {
        "turn_on" => {
            for target in targets {
                set(&home.scenes.get(target)?.states);
            }
        }
        "apply" => {
            let entities = call.data.get("entities")?;
            let mut states = Vec::new();
            for (key, value) in entities.entries() {
                let state = value.get("state").unwrap_or(value).scalar()?;
                let state = match state.as_str() {
                    "True" => "on".to_owned(),
                    "False" => "off".to_owned(),
                    _ => state,
                };
                states.push((key.scalar()?, state));
            }
            set(&states);
        }
        "reload" => {}
        _ => return None,
    }
    Some(found)
}

fn on_entity(domain: &str, service: &str, of: &str, call: &Call) -> Option<Vec<Effect>> {
    let set = |state: &str| Some(vec![Effect::Set(state.to_owned())]);
    let given = |key: &str| {
        let text = call.data.get(key)?.scalar()?;
        Some(vec![if is_template(&text) { Effect::Template(text) } else { Effect::Set(text) }])
    };
    let generic = matches!(domain, "homeassistant" | "group");
    if of == "automation" && (domain == of || generic) {
        return match service {
            "turn_on" => Some(vec![Effect::TurnOn]),
            "turn_off" => Some(vec![Effect::TurnOff]),
            "toggle" => Some(vec![Effect::Toggle("on", "off")]),
            "trigger" => Some(vec![Effect::Start]),
            _ => None,
        };
    }
    if of == "script" && (domain == of || generic) {
        return match service {
            "turn_on" => Some(vec![Effect::Start]),
            "turn_off" => Some(vec![Effect::TurnOff]),
            _ => None,
        };
    }
    match (domain, service) {
        (
            "light" | "switch" | "input_boolean" | "fan" | "siren" | "remote" | "humidifier"
            | "homeassistant",
            "turn_on",
        ) if SWITCHES.contains(&of) => {
            let mut effects = vec![Effect::Set("on".to_owned())];
            for (key, value) in call.data.entries() {
                let known = [
                    "brightness",
                    "brightness_pct",
                    "color_temp",
                    "color_temp_kelvin",
                    "percentage",
                ];
                if let (Some(key), Some(value)) = (key.as_str(), value.scalar())
                    && known.contains(&key)
                    && !is_template(&value)
                {
                    effects.push(Effect::Attribute(key.to_owned(), value));
                }
            }
            Some(effects)
        }
        (_, "turn_on") if SWITCHES.contains(&of) => set("on"),
        (_, "turn_off")
            if SWITCHES.contains(&of)
                || matches!(of, "media_player" | "climate" | "vacuum" | "water_heater") =>
        {
            set("off")
        }
        (_, "toggle") if SWITCHES.contains(&of) => Some(vec![Effect::Toggle("on", "off")]),
        (_, "turn_on" | "toggle")
            if matches!(of, "media_player" | "climate" | "vacuum" | "water_heater" | "cover") =>
        {
            Some(vec![Effect::Anything])
        }
        ("cover", "open_cover") | ("valve", "open_valve") => set("open"),
        ("cover", "close_cover") | ("valve", "close_valve") => set("closed"),
        ("cover" | "valve", "toggle") => Some(vec![Effect::Toggle("open", "closed")]),
        ("cover", "set_cover_position") => {
            match call.data.get("position").and_then(crate::yaml::Node::scalar) {
                Some(text) if text == "0" => set("closed"),
                Some(text) if !is_template(&text) => set("open"),
                _ => Some(vec![Effect::Anything]),
            }
        }
        ("cover", "stop_cover")
        | ("cover", "set_cover_tilt_position")
        | ("cover", "open_cover_tilt")
        | ("cover", "close_cover_tilt") => Some(vec![]),
        ("lock", "lock") => set("locked"),
        ("lock", "unlock" | "open") => set("unlocked"),
        ("alarm_control_panel", "alarm_disarm") => set("disarmed"),
        ("alarm_control_panel", "alarm_arm_away") => set("armed_away"),
        ("alarm_control_panel", "alarm_arm_home") => set("armed_home"),
        ("alarm_control_panel", "alarm_arm_night") => set("armed_night"),
        ("alarm_control_panel", "alarm_arm_vacation") => set("armed_vacation"),
        ("alarm_control_panel", "alarm_trigger") => set("triggered"),
        ("climate", "set_hvac_mode") => given("hvac_mode"),
        ("climate", "set_temperature") => {
            let mut effects = given("hvac_mode").unwrap_or_default();
            if let Some(Effect::Set(value)) = given("temperature").and_then(|mut list| list.pop()) {
                effects.push(Effect::Attribute("temperature".to_owned(), value));
            }
            Some(effects)
        }
        ("climate", "set_preset_mode") => match given("preset_mode").and_then(|mut l| l.pop()) {
            Some(Effect::Set(value)) => {
                Some(vec![Effect::Attribute("preset_mode".to_owned(), value)])
            }
            _ => Some(vec![]),
        },
        ("fan", "set_percentage" | "set_preset_mode" | "oscillate" | "set_direction") => {
            Some(vec![])
        }
        ("climate", _) => Some(vec![]),
        ("vacuum", "start") => set("cleaning"),
        ("vacuum", "return_to_base") => set("returning"),
        ("vacuum", "stop") => set("idle"),
        ("vacuum", "pause") => set("paused"),
        ("vacuum", _) => Some(vec![]),
        ("media_player", "media_play") => set("playing"),
        ("media_player", "media_pause") => set("paused"),
        ("media_player", "media_stop") => set("idle"),
        ("media_player", "play_media" | "media_play_pause") => Some(vec![Effect::Anything]),
        ("media_player", _) => Some(vec![]),
        ("input_select" | "select", "select_option") => given("option"),
        ("input_select" | "select", _) => Some(vec![Effect::Anything]),
        ("input_number" | "number", "set_value") => given("value").map(|list| {
            list.into_iter()
                .map(|e| match e {
                    Effect::Set(text) => {
                        Effect::Set(text.parse::<f64>().map_or(text, crate::syntax::shown_number))
                    }
                    other => other,
                })
                .collect()
        }),
        ("input_number" | "number" | "counter", _) => Some(vec![Effect::Anything]),
        ("input_text" | "text", "set_value") => given("value"),
        ("input_datetime" | "input_button" | "button" | "text" | "input_text", _) => {
            Some(vec![Effect::Anything])
        }
        ("timer", "start") => Some(vec![Effect::TimerStart]),
        ("timer", "cancel" | "finish") => Some(vec![Effect::TimerCancel]),
        ("timer", "pause") => set("paused"),
        ("timer", "change") => Some(vec![]),
        (
            "lawn_mower" | "remote" | "camera" | "homeassistant",
            "send_command" | "snapshot" | "update_entity",
        ) => Some(vec![]),
        _ => None,
    }
}
