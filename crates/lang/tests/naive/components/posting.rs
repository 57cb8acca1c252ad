//! Random models of apps that send commands to a hub: components whose work is done by tasks and
//! threads that they post and fork.

use super::Random;
use std::fmt::Write as _;

/// What the hub does with a command.
const HUB: [&str; 7] = [
    "lamp = n;",
    "lamp = 1 - lamp;",
    "door = n; lamp = n;",
    "if door != n { door = n; }",
    "xs[0] = n;",
    "{ let _q = [n].map(fn(k) { lamp = k; k }); }",
    "call helper(n);",
];

/// How an app sends one. A digit in the place of `K`.
const SEND: [&str; 16] = [
    "post set(K);",
    "post set(K);",
    "post set(K) to late after 2;",
    "post set(K) to late after K;",
    "post relay(K);",
    "post relay(K);",
    "post set(K) front;",
    "async[hub] set(K);",
    "async[any] set(K);",
    "post any relay(K);",
    "{ let _h = fork work(K); }",
    "call set2(K);",
    "post set2(K);",
    "{ let q = post set(K); cancel q; }",
    "p = post set(K);",
    "cancel p;",
];

/// A model of two or three apps and a hub.
pub(super) fn model(seed: u64) -> String {
    let random = &mut Random(seed ^ 0x7065_6572);
    let mut text = String::from(
        "model m\nvar lamp = 0, door = 0, xs = [0, 0];\nvar p: task? = null;\nhandler late: delayed;\n",
    );
    if random.below(5) == 0 {
        text.push_str("setting granularity = access;\n");
    }
    let mailbox = ["fifo", "bag", "fifo"][random.below(3)];
    let _ = writeln!(text, "handler hub: {mailbox};");
    let hub = HUB[random.below(HUB.len())];
    let _ = writeln!(text, "fn helper(n: int) {{ door = n; }}");
    let _ = writeln!(text, "task set(n: int) on hub {{ {hub} }}");
    let _ = writeln!(text, "procedure set2(n: int) on hub {{ lamp = n; }}");
    let forward = ["post set(n);", "post set(n) to late after 1;", "post set2(n); door = n;"];
    let _ = writeln!(text, "task relay(n: int) on hub {{ {} }}", forward[random.below(3)]);
    let deeper = ["lamp = n;", "post set(n);", "lamp = n; door = n;"][random.below(3)];
    let _ = writeln!(text, "fn work(n: int) {{ {deeper} }}");
    let mut members: [Vec<String>; 4] = Default::default();
    for (name, rare) in [("helper", 6), ("set", 5), ("set2", 5), ("relay", 5), ("work", 5)] {
        if random.below(rare) == 0 {
            members[random.below(3)].push(name.to_owned());
        }
    }
    let few = usize::from(text.contains("granularity"));
    for event in 0..2 + random.below(2 - few) {
        let mut body = send(random);
        if random.below(4) == 0 {
            body.push_str(&send(random));
        }
        if random.below(5) == 0 {
            let _ = write!(body, " lamp = {};", random.below(3));
        }
        let _ = writeln!(text, "once event e{event} {{ {body} }}");
        members[[event, event, random.below(4)][random.below(3)]].push(format!("e{event}"));
    }
    if random.below(6) == 0 {
        let _ = writeln!(text, "init {{ {} }}", ["post set(1);", "call set2(2);"][random.below(2)]);
    }
    if random.below(8) == 0 {
        let _ = writeln!(text, "thread clock {{ {} }}", send(random));
        members[random.below(4)].push("clock".to_owned());
    }
    for (component, members) in ["a", "b", "c"].iter().zip(&members) {
        if !members.is_empty() {
            let _ = writeln!(text, "component {component}: {};", members.join(", "));
        }
    }
    text
}

fn send(random: &mut Random) -> String {
    let digit = random.below(3).to_string();
    SEND[random.below(SEND.len())].replace('K', &digit)
}
