//! Plans of second runs as JSON, as findings keep them: with them a run can be made to happen
//! again. `docs/formats/plan.md` describes the object.

use anyorder_finding::Finding;
use anyorder_native::plan::{Moment, Name, Plan, Planned, Role};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The word for the format.
const FORMAT: &str = "native-plan";

/// The version of the format that this code reads and writes.
const VERSION: u32 = 1;

/// A plan, with the program that it is for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StoredPlan {
    format: String,
    version: u32,
    /// The id of its finding, where it is in a file of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The title of its finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The program that it is for.
    pub program: PlannedProgram,
    exit_delay_ms: u32,
    events: Vec<StoredEvent>,
    holds: Vec<(u32, u32, u32)>,
    goal: Vec<(u32, u32)>,
}

/// The program of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlannedProgram {
    /// Its file.
    pub file: String,
    /// The name under which it was started, and its arguments.
    pub command: Vec<String>,
    /// The hash of its contents, in hexadecimal digits; empty where they could not be read.
    #[serde(default)]
    pub hash: String,
    /// Its exit status in the recorded run; `None` if a signal ended it.
    #[serde(default)]
    pub status: Option<i32>,
}

/// An event: the path of its thread, its file and its place there in hexadecimal digits, how often
/// the thread was there before, and its role.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct StoredEvent(String, String, String, u32, u32);

impl StoredPlan {
    /// Makes the plan that a finding keeps.
    #[must_use]
    pub fn new(planned: &Planned, program: PlannedProgram) -> StoredPlan {
        let hex = |number: u64| format!("{number:x}");
        let event = |event: &anyorder_native::plan::PlannedEvent| {
            let Name { path, module, offset, number } = event.name;
            StoredEvent(hex(path), hex(module), hex(offset), number, event.role as u32)
        };
        let plan = &planned.plan;
        StoredPlan {
            format: FORMAT.to_owned(),
            version: VERSION,
            finding: None,
            title: None,
            program,
            exit_delay_ms: plan.exit_delay_ms,
            events: plan.events.iter().map(event).collect(),
            holds: plan.holds.iter().map(|(a, b, until)| (*a, *b, *until as u32)).collect(),
            goal: planned.goal.iter().map(|(event, until)| (*event, *until as u32)).collect(),
        }
    }

    /// Returns the plan of a finding, if it keeps one that can be used.
    #[must_use]
    pub fn of_finding(finding: &Finding) -> Option<StoredPlan> {
        let plan = finding.reproduced.as_ref()?.plan.as_ref()?;
        let (id, title) = (Some(finding.id.clone()), Some(finding.title.clone()));
        Some(StoredPlan { finding: id, title, ..StoredPlan::from_value(plan)? })
    }

    /// Reads a plan; `None` for a value that is none, or of another version.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<StoredPlan> {
        let plan: StoredPlan = serde_json::from_value(value.clone()).ok()?;
        let is_known = plan.format == FORMAT && plan.version == VERSION;
        (is_known && !plan.program.command.is_empty() && plan.planned().is_some()).then_some(plan)
    }

    /// Returns the plan as JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the plan as the runtime takes it; `None` if it is not well-formed.
    #[must_use]
    pub fn planned(&self) -> Option<Planned> {
        let mut plan = Plan::default();
        plan.exit_delay_ms = self.exit_delay_ms;
        for StoredEvent(path, module, offset, number, role) in &self.events {
            let hex = |text: &String| u64::from_str_radix(text, 16).ok();
            let (path, module, offset) = (hex(path)?, hex(module)?, hex(offset)?);
            let name = Name { path, module, offset, number: *number };
            let at = plan.event(name, role_of(*role)?);
            // An event stands in a plan once.
            if at as usize + 1 != plan.events.len() {
                return None;
            }
        }
        let is_event = |at: u32| (at as usize) < plan.events.len();
        let mut holds = Vec::with_capacity(self.holds.len());
        for (event, other, until) in &self.holds {
            if !is_event(*event) || !is_event(*other) || event == other {
                return None;
            }
            holds.push((*event, *other, moment_of(*until)?));
        }
        let goal = |(event, until): &(u32, u32)| {
            Some((*event, moment_of(*until).filter(|_| is_event(*event))?))
        };
        let goal = self.goal.iter().map(goal).collect::<Option<Vec<_>>>()?;
        plan.holds = holds;
        (plan.fits() && !goal.is_empty()).then_some(Planned { plan, goal })
    }
}

fn role_of(number: u32) -> Option<Role> {
    [Role::Plain, Role::First, Role::Second, Role::Ends]
        .into_iter()
        .find(|role| *role as u32 == number)
}

fn moment_of(number: u32) -> Option<Moment> {
    let all = [Moment::Reached, Moment::Waiting, Moment::Passed];
    all.into_iter().find(|moment| *moment as u32 == number)
}

/// Returns the hash of the contents of a program: FNV-1a (64 bits).
#[must_use]
pub fn hash_of_program(bytes: &[u8]) -> String {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyorder_common::random::{Random, Rng};
    use anyorder_finding::{Kind, Reproduced, Reproduction};
    use serde_json::json;

    /// A plan with events of all roles and holds of all moments.
    fn random(random: &mut Rng) -> Planned {
        let mut plan = Plan::default();
        plan.exit_delay_ms = random.below(1_000) as u32;
        let count = 2 + random.below(20);
        while plan.events.len() < count as usize {
            let number = random.below(9) as u32;
            let (path, module, offset) = (random.bits(), random.bits(), random.bits());
            let role = role_of(random.below(4) as u32).expect("four roles");
            plan.event(Name { path, module, offset, number }, role);
        }
        let two = |random: &mut Rng| {
            let one = random.below(count);
            (one as u32, ((one + 1 + random.below(count - 1)) % count) as u32)
        };
        for _ in 0..random.below(30) {
            let (event, other) = two(random);
            let until = moment_of(1 + random.below(3) as u32).expect("three moments");
            plan.holds.push((event, other, until));
        }
        let (event, other) = two(random);
        let goal = vec![(event, Moment::Reached), (other, Moment::Passed)];
        Planned { plan, goal }
    }

    fn program() -> PlannedProgram {
        let command = vec!["./prog".to_owned(), "an argument".to_owned()];
        PlannedProgram { file: "/bin/prog".to_owned(), command, hash: "7".into(), status: Some(0) }
    }

    #[test]
    fn a_plan_comes_back_as_it_was() {
        let mut numbers = Rng::new(11);
        for _ in 0..500 {
            let planned = random(&mut numbers);
            let stored = StoredPlan::new(&planned, program());
            let text = stored.to_value().to_string();
            let value: Value = serde_json::from_str(&text).expect("an object");
            let read = StoredPlan::from_value(&value).expect("a plan");
            assert_eq!(read, stored);
            let again = read.planned().expect("well-formed");
            assert_eq!(again.plan.to_bytes(), planned.plan.to_bytes());
            assert_eq!(again.goal, planned.goal);
        }
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let planned = random(&mut Rng::new(5));
        let good = StoredPlan::new(&planned, program()).to_value();
        assert!(StoredPlan::from_value(&good).is_some());
        let event = good["events"][0].clone();
        for (pointer, bad) in [
            ("/format", json!("plan")),
            ("/version", json!(2)),
            ("/program/command", json!([])),
            ("/events/0/0", json!("xyz")),
            ("/events/0/4", json!(9)),
            ("/events/1", event),
            ("/holds", json!([[0, 99, 1]])),
            ("/holds", json!([[0, 0, 1]])),
            ("/holds", json!([[0, 1, 7]])),
            ("/goal", json!([])),
            ("/goal", json!([[99, 1]])),
        ] {
            let mut value = good.clone();
            *value.pointer_mut(pointer).expect(pointer) = bad;
            assert!(StoredPlan::from_value(&value).is_none(), "{pointer}");
        }
    }

    #[test]
    fn a_finding_keeps_its_plan() {
        let planned = random(&mut Rng::new(6));
        let mut finding = Finding::new(Kind::Race);
        finding.id = "00000000000000aa".to_owned();
        assert_eq!(StoredPlan::of_finding(&finding), None);
        let plan = Some(StoredPlan::new(&planned, program()).to_value());
        let class = Reproduced::Reproduced;
        finding.reproduced = Some(Reproduction { class, text: String::new(), plan });
        let stored = StoredPlan::of_finding(&finding).expect("a plan");
        assert_eq!(stored.finding.as_deref(), Some("00000000000000aa"));
        assert_eq!(stored.planned(), Some(planned));
    }
}
