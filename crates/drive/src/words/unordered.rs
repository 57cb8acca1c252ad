//! Why two events are ordered, or why nothing orders them, in words.

use super::events::{event, task};
use anyorder_finding::ExplanationStep;
use anyorder_hb::{LostOrder, OrderExplanation, Proof, ProofStep, Reason, Rule};
use anyorder_trace::{EventId, TaskId, Trace};

/// Returns the explanation of an order as steps.
pub(crate) fn order(trace: &Trace, why: &OrderExplanation) -> Vec<ExplanationStep> {
    match &why.proof {
        Some(proof) => proof.path.iter().map(|one| proof_step(trace, proof, one)).collect(),
        None => why.reasons.iter().map(|one| reason(trace, one)).collect(),
    }
}

/// Returns why nothing orders two events, or the nearest order, as a step.
pub(crate) fn reason(trace: &Trace, reason: &Reason) -> ExplanationStep {
    let name = |task: &TaskId| trace.task_name(*task);
    match reason {
        Reason::Apart { tasks, events, threads } => {
            step(trace, apart(trace, *tasks, *threads), None, events)
        }
        Reason::PostsUnordered { tasks: [x, y], posts } => {
            let text = format!(
                "`{}` and `{}` run on `{}` in the order of their posts, and nothing orders those: {}; {}",
                name(x),
                name(y),
                handler(trace, *x),
                event(trace, posts[0]),
                event(trace, posts[1])
            );
            step(trace, text, Some("fifo"), posts)
        }
        Reason::PostsOrdered { tasks, posts, lost } => {
            let (text, rule) = lost_order(trace, *tasks, *lost);
            step(trace, text, Some(rule), posts)
        }
        Reason::NothingBefore { task, event: than } => {
            let text = format!(
                "nothing on the way of `{}` happens before the {}",
                name(task),
                event(trace, *than)
            );
            step(trace, text, Some(NEAREST), &[*than])
        }
        Reason::Nearest { last, earlier, task: side, event: than } => {
            let other = event(trace, *than);
            let text = match earlier {
                None => {
                    format!("nearest order: the {} happens before the {other}", event(trace, *last))
                }
                Some(earlier) => format!(
                    "nearest order: {} runs before `{}`, and happens before the {other}",
                    task(trace, *earlier),
                    name(side)
                ),
            };
            step(trace, text, Some(NEAREST), &[*last, *than])
        }
    }
}

/// The rule of a step about the nearest order.
const NEAREST: &str = "nearest order";

/// Says that no chain leads from the one task to the other.
fn apart(trace: &Trace, [x, y]: [TaskId; 2], threads: bool) -> String {
    let names = [x, y].map(|one| task(trace, one));
    let [x_name, y_name] = &names;
    let runners = match trace.span(x).handler == trace.span(y).handler {
        true if x_name == y_name => format!("both run in {x_name}"),
        true => format!("{x_name} and {y_name} run on one handler, which does not order them"),
        false if threads => format!("{x_name} and {y_name} are different threads"),
        false => format!("{x_name} and {y_name} run on different handlers"),
    };
    format!(
        "{runners}, and no chain of posts, locks, signals or forks leads \
         from the one access to the other"
    )
}

/// Explains why the order of two posts does not order the tasks.
fn lost_order(trace: &Trace, tasks: [TaskId; 2], lost: LostOrder) -> (String, &'static str) {
    let handler = handler(trace, tasks[0]);
    let [one, two] = tasks.map(|task| trace.task_name(task));
    match lost {
        LostOrder::Bag => {
            let text =
                format!("`{handler}` takes pending tasks in any order: `{one}` or `{two}` first");
            (text, "bag")
        }
        LostOrder::Front => {
            (format!("`{two}` is posted to the front of the mailbox, past `{one}`"), "front")
        }
        LostOrder::Delays([d1, d2]) => {
            let text = format!(
                "`{one}` is posted before `{two}`, but with delay {d1}, against {d2}: it can become due later"
            );
            (text, "delay")
        }
    }
}

fn handler(trace: &Trace, task: TaskId) -> &str {
    trace.handler_name(trace.span(task).handler)
}

/// Describes a step of a proof in words.
fn proof_step(trace: &Trace, proof: &Proof, of: &ProofStep) -> ExplanationStep {
    let because = match of.rule {
        Rule::NoPreemption => "some event of the one comes before what begins the other",
        Rule::Fifo => "they were posted in this order",
        Rule::FifoBackwards => "their tasks ran in this order",
        Rule::Cancel => "a task is cancelled after its post",
        Rule::Cancelled => "a cancelled task does not begin, so it began before",
        Rule::Disabled => "a disabled input triggers nothing, so it was triggered before",
        Rule::Exited => "a handler runs nothing after its exit",
        Rule::Po => "program order",
        Rule::Post => "a task begins after its post",
        Rule::Fork => "a thread begins after its fork",
        Rule::Join => "a join waits for the end",
        Rule::Lock => "the lock was handed over",
        Rule::Wake => "the signal wakes it",
        Rule::Barrier => "both pass the barrier",
        Rule::Atomic => "it reads what was released",
        Rule::Call => "the call waits for it, or sees it",
        Rule::Enable => "an input is triggered after it was enabled",
        Rule::Loop => "a handler serves its mailbox from here on",
        Rule::Attach => "a mailbox is posted to after it came into being",
        Rule::Component(_) => "Android calls back in this order",
    };
    let (from, to) = (event(trace, of.from), event(trace, of.to));
    let mut text = format!("{from} is before {to}: {because}");
    for premise in &of.premises {
        let lemma = &proof.lemmas[*premise as usize];
        let named: Vec<&str> =
            lemma.iter().filter(|s| s.rule != Rule::Po).map(|s| s.rule.word()).collect();
        if !named.is_empty() {
            text.push_str(&format!(" (which follows by {})", named.join(", ")));
        }
    }
    step(trace, text, Some(of.rule.word()), &[of.from, of.to])
}

fn step(trace: &Trace, text: String, rule: Option<&str>, events: &[EventId]) -> ExplanationStep {
    let events = events.iter().map(|event| trace.event_name(*event)).collect();
    ExplanationStep { text, rule: rule.map(str::to_owned), events }
}
