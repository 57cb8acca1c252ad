//! The happens-before rules of a page, and who keeps each.
//!
//! The engine takes three relations from a run: a task comes after its creator; input events keep
//! their order; a task that was not enabled comes after the one that enabled it. So each rule of
//! the web platform is kept by one of these: by the creation of events, by the browser itself, or
//! by the list of enabled events, from which [`is_held_back`] leaves out those that have to wait
//! for others.

use anyorder_system::TaskName;

/// Who keeps a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Keeper {
    /// Its events are created by each other.
    Creation,
    /// The browser, within one event or by itself.
    Browser,
    /// The list of enabled events.
    Enabled,
    /// The order of the user's steps.
    Input,
    /// Nobody: orders are tried that cannot happen, or events happen without control.
    Nobody,
}

/// A rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Its number in the documentation.
    pub number: u32,
    /// What comes before what.
    pub text: &'static str,
    /// Who keeps it.
    pub keeper: Keeper,
}

const fn rule(number: u32, keeper: Keeper, text: &'static str) -> Rule {
    Rule { number, text, keeper }
}

/// All rules. Those of HTML 4 are from WebRacer (Petrov, Vechev, Sridharan, Dolby: Race Detection
/// for Web Applications, PLDI 2012); the others are their modern counterparts.
pub const RULES: &[Rule] = &[
    rule(1, Keeper::Browser, "a document is parsed in order; a parent before its children"),
    rule(2, Keeper::Creation, "a script element is created before its script runs"),
    rule(2, Keeper::Browser, "a script that blocks the parser runs before what follows it"),
    rule(
        3,
        Keeper::Browser,
        "deferred scripts run in order, after parsing, before DOMContentLoaded",
    ),
    rule(4, Keeper::Creation, "an async or inserted script only comes after its creation"),
    rule(5, Keeper::Browser, "what a document loads comes before its load event"),
    rule(6, Keeper::Creation, "an element is created before an event is dispatched at it"),
    rule(7, Keeper::Browser, "dispatches of one event at one target are in order"),
    rule(8, Keeper::Browser, "a synchronous dispatch is a part of the running event"),
    rule(9, Keeper::Creation, "a request is sent before its response comes"),
    rule(9, Keeper::Browser, "a synchronous request is a part of the running event"),
    rule(
        10,
        Keeper::Creation,
        "a timer is set before it fires; an interval's firings are in order",
    ),
    rule(11, Keeper::Enabled, "of two timers, the first set with no longer delay fires first"),
    rule(11, Keeper::Enabled, "of two transitions, the first begun with no later end ends first"),
    rule(
        12,
        Keeper::Enabled,
        "a cleared timer, an aborted request and a removed frame are disabled",
    ),
    rule(13, Keeper::Input, "the user's steps keep their order, and wait for their elements"),
    rule(14, Keeper::Browser, "a script or image that is cached is loaded before it is used again"),
    rule(
        15,
        Keeper::Browser,
        "promise jobs and mutation observers belong to the event that queued them",
    ),
    rule(
        16,
        Keeper::Enabled,
        "animation frame callbacks, idle callbacks and posted tasks are in order",
    ),
    rule(16, Keeper::Browser, "resize and intersection observers belong to the event before them"),
    rule(17, Keeper::Enabled, "messages of one port, worker, channel or window are in order"),
    rule(17, Keeper::Enabled, "timers of one worker are in order, as those of a page"),
    rule(18, Keeper::Enabled, "a socket or stream opens, gives its messages in order, and closes"),
    rule(19, Keeper::Enabled, "a navigation to another document ends the run"),
];

/// An event that waits in the queue of a page.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiting {
    /// Its creator.
    pub creator: TaskName,
    /// Its place in the order of creation.
    pub order: u64,
    /// The channel whose events come in order; empty for a timer, whose time counts.
    pub channel: String,
    /// The frame of the page, by its context.
    pub context: i64,
    /// When it is due, in virtual milliseconds.
    pub due: u64,
    /// Its delay, in milliseconds.
    pub delay: u64,
}

/// The channel of the ends of transitions and animations. They come in order as timers do.
const ANIMATION: &str = "animation";

/// Returns whether an event has to wait for another one: rules 11, 16, 17 and 18.
#[must_use]
pub fn is_held_back(event: &Waiting, by: &Waiting) -> bool {
    if by.order >= event.order || by.context != event.context || by.channel != event.channel {
        return false;
    }
    if !event.channel.is_empty() && event.channel != ANIMATION {
        return true;
    }
    // What was set later with no shorter delay is due later, whoever set it. The time between two
    // events is known only where one led to the other.
    by.delay <= event.delay
        || by.due <= event.due && comes_before_or_is(&by.creator, &event.creator)
}

/// Returns whether a task is another one or created it, directly or not.
fn comes_before_or_is(first: &TaskName, second: &TaskName) -> bool {
    let mut at = Some(second);
    while let Some(task) = at {
        if task.depth() < first.depth() {
            return false;
        }
        if task == first {
            return true;
        }
        at = task.creator();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(creator: &str, order: u64, channel: &str, due: u64) -> Waiting {
        let creator = creator.parse().unwrap();
        let channel = channel.to_owned();
        Waiting { creator, order, channel, context: 1, due, delay: due }
    }

    #[test]
    fn timers_wait_for_those_set_before_with_no_longer_delay() {
        let first = waiting("load", 1, "", 10);
        for (creator, due, held) in [
            ("load", 10, true),
            ("load", 11, true),
            ("load", 9, false),
            ("load/timeout", 10, true),
            ("click", 10, true),
            ("click", 11, true),
            ("click", 9, false),
        ] {
            assert_eq!(
                is_held_back(&waiting(creator, 2, "", due), &first),
                held,
                "{creator} {due}"
            );
        }
        assert!(!is_held_back(&first, &waiting("load", 2, "", 10)), "not for those set after");
        let elsewhere = Waiting { context: 2, ..waiting("load", 2, "", 10) };
        assert!(!is_held_back(&elsewhere, &first), "not for those of another frame");
        // Only where one leads to the other is the time between them known.
        for (creator, held) in [("load/timeout", true), ("click", false)] {
            let later = Waiting { delay: 5, ..waiting(creator, 2, "", 12) };
            assert_eq!(is_held_back(&later, &first), held, "{creator}");
        }
    }

    #[test]
    fn channels_are_in_order() {
        let first = waiting("click", 1, "port 1", 0);
        assert!(is_held_back(&waiting("load", 2, "port 1", 0), &first));
        assert!(!is_held_back(&waiting("load", 2, "port 2", 0), &first));
        assert!(!is_held_back(&waiting("load", 2, "", 0), &first));
        let other = Waiting { context: 2, ..waiting("load", 2, "port 1", 0) };
        assert!(!is_held_back(&other, &first));
        assert!(!is_held_back(&first, &waiting("load", 2, "port 1", 0)), "not the other way round");
    }

    #[test]
    fn transitions_end_as_timers_do() {
        let first = waiting("load", 1, ANIMATION, 10);
        for (creator, due, held) in [("load", 10, true), ("load", 9, false), ("click", 10, true)] {
            let second = waiting(creator, 2, ANIMATION, due);
            assert_eq!(is_held_back(&second, &first), held, "{creator} {due}");
        }
        assert!(!is_held_back(&waiting("load", 2, "", 10), &first), "a timer waits for none");
    }

    #[test]
    fn the_documentation_has_the_same_table() {
        let page = include_str!("../../../docs/web.md");
        let (_, table) = page.split_once("| kept by |\n| --- | --- | --- |\n").expect("the table");
        let rows: Vec<&str> = table.lines().take_while(|line| line.contains('|')).collect();
        assert_eq!(rows.len(), RULES.len());
        for rule in RULES {
            let keeper = match rule.keeper {
                Keeper::Creation => "creation",
                Keeper::Browser => "the browser",
                Keeper::Enabled => "the list of enabled events",
                Keeper::Input => "the order of steps",
                Keeper::Nobody => "nobody",
            };
            let row = format!("{} | {} | {keeper} |", rule.number, rule.text);
            assert!(rows.iter().any(|line| line.ends_with(&row)), "{row}");
        }
    }

    #[test]
    fn every_rule_is_in_the_table_once_for_each_keeper() {
        let numbers: Vec<u32> = RULES.iter().map(|rule| rule.number).collect();
        assert!(numbers.is_sorted());
        assert_eq!(numbers.iter().collect::<std::collections::BTreeSet<_>>().len(), 19);
    }
}
