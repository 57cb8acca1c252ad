//! Right programs: what several threads or tasks may do in either order is reported as a note,
//! and does not count.

use crate::common::{file, folder, run};
use crate::recorded::{findings, result};
use serde_json::Value;

/// Two producers that hand one value each to an object.
fn producers(object: &str, method: &str, results: [&str; 2]) -> String {
    let [one, other] = results;
    format!(
        "anyorder-trace 1\nhandler h0 \"main\"\nhandler h1 \"a\"\nhandler h2 \"b\"\n\
         task t0 \"main\" initial h0\ntask t1 \"a\" initial h1\ntask t2 \"b\" initial h2\n\
         invocation v0 \"{object}\" \"{method}\" 7{one}\ninvocation v1 \"{object}\" \"{method}\" 8{other}\n\
         t0 fork h1\nt0 fork h2\nt1 invoke v0\nt2 invoke v1\n"
    )
}

#[test]
fn producers_of_one_channel_may_come_in_either_order() {
    let folder = folder();
    for (object, method) in [("channel:results", "send"), ("queue:jobs", "enqueue")] {
        let text = producers(object, method, [" -> 1", " -> 1"]);
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, "producers.trace", &text);
            assert_eq!((status, &result["verdict"]), (0, &"ok".into()), "{command}: {result}");
            for finding in findings(&result) {
                assert_eq!(finding["severity"], "note", "{finding}");
                assert_eq!(finding["harm"], "harmless", "{finding}");
                assert_eq!(finding["category"], "arrival", "{finding}");
            }
        }
        let input = file(&folder, "producers.trace", &text);
        assert_eq!(run(&["predict", &input, "--strict"]).status, 1, "it is told, and can count");
    }
    assert_eq!(run(&["explain", "arrival"]).status, 0);
}

#[test]
fn other_calls_of_a_channel_still_count() {
    let folder = folder();
    let close = "anyorder-trace 1\nhandler h0 \"main\"\nhandler h1 \"a\"\ntask t0 \"main\" initial h0\n\
        task t1 \"a\" initial h1\ninvocation v0 \"channel:r\" \"send\" 7 -> 1\n\
        invocation v1 \"channel:r\" \"close\" -> 1\nt0 fork h1\nt1 invoke v0\nt0 invoke v1\n";
    // The last wins: a map is no queue.
    let map = producers("map:m", "put", ["", ""]).replace("\"put\" 7", "\"put\" 1 7");
    let map = map.replace("\"put\" 8", "\"put\" 1 8");
    // A stack gives back the last one first.
    let stack = producers("stack:s", "push", ["", ""]);
    for text in [close.to_owned(), map, stack] {
        let (status, result) = result(&folder, "predict", "calls.trace", &text);
        assert_eq!(status, 1, "{text}\n{result}");
    }
}

/// An application that asks a server on each click, and shows the last answer. `first` and `second`
/// are what the replies do. Each request has a number, in `latest`.
fn replies(first: &str, second: &str) -> String {
    let events = |task: &str, does: &str| -> String {
        does.split(' ').filter(|word| !word.is_empty()).fold(String::new(), |all, word| {
            let event = match word {
                "check" => "read x0 @s1",
                "show" => "write x1 @s2",
                "busy" => "write x2 @s3",
                "later" => "post t9",
                word => panic!("no action `{word}`"),
            };
            format!("{all}{task} {event}\n")
        })
    };
    let later = [first, second].iter().any(|does| does.contains("later"));
    let runs_later = if later { "t9 get h0\nt9 write x1 @s2\nt9 end\n" } else { "" };
    format!(
        "anyorder-trace 1\nhandler h0 \"ui\" fifo\nhandler h1 \"net\" fifo\nhandler h2 \"user\" none untracked\n\
         task t0 \"main\" initial h0\ntask t1 \"tap 1\" burst h2\ntask t2 \"tap 2\" burst h2\n\
         task t3 \"search 1\" posted h0\ntask t4 \"search 2\" posted h0\n\
         task t5 \"fetch 1\" posted h1\ntask t6 \"fetch 2\" posted h1\n\
         task t7 \"reply 1\" posted h0\ntask t8 \"reply 2\" posted h0\ntask t9 \"later\" posted h0\n\
         location x0 \"latest\"\nlocation x1 \"view\"\nlocation x2 \"busy\"\n\
         site s1 file=\"app.js\" line=11\nsite s2 file=\"app.js\" line=12\nsite s3 file=\"app.js\" line=13\n\
         t0 loop h0\n\
         t1 begin\nt1 post t3\nt1 exit\nt2 begin\nt2 post t4\nt2 exit\n\
         t3 get h0\nt3 write x0\nt3 post t5\nt3 end\n\
         t5 get h1\nt5 post t7\nt5 end\n\
         t4 get h0\nt4 write x0\nt4 post t6\nt4 end\n\
         t6 get h1\nt6 post t8\nt6 end\n\
         t7 get h0\n{}t7 end\nt8 get h0\n{}t8 end\n{runs_later}",
        events("t7", first),
        events("t8", second)
    )
}

/// The findings about the request number that count: status 1 without them would be 0.
fn on_the_guard(result: &Value) -> Vec<&Value> {
    let is_on = |one: &&Value| one["sites"][0]["location"] == "latest";
    let between =
        |one: &&Value| one["sites"].as_array().unwrap().iter().any(|site| site["access"] == "read");
    findings(result).iter().filter(is_on).filter(between).collect()
}

#[test]
fn a_reply_that_is_dropped_by_its_request_number_only_guards() {
    let folder = folder();
    let text = replies("check", "check show");
    for command in ["check", "predict"] {
        let (_, result) = result(&folder, command, "right.trace", &text);
        let found = on_the_guard(&result);
        assert!(!found.is_empty(), "{command}: {result}");
        for finding in found {
            assert_eq!(finding["harm"], "harmless", "{command}: {finding}");
            assert_eq!(finding["harm_class"], "only_guards", "{command}: {finding}");
            assert_eq!(finding["severity"], "note", "{command}: {finding}");
            let explanation = finding["explanation"].to_string();
            assert!(explanation.contains("only guards"), "{command}: {explanation}");
        }
    }
    // Where one input asks twice, nothing else is left open.
    let ordered = text
        .replace("t2 begin\nt2 post t4\nt2 exit\n", "")
        .replace("t1 post t3\n", "t1 post t3\nt1 post t4\n");
    for command in ["check", "predict"] {
        let (status, result) = result(&folder, command, "ordered.trace", &ordered);
        assert!(!on_the_guard(&result).is_empty(), "{command}: {result}");
        assert_eq!((status, &result["verdict"]), (0, &"ok".into()), "{command}: {result}");
        let input = file(&folder, "ordered.trace", &ordered);
        assert_eq!(run(&[command, &input, "--strict"]).status, 1, "{command}");
    }
    let said = run(&["explain", "only_guards"]);
    assert!(said.stdout.contains("request number"), "{}", said.stdout);
}

#[test]
fn reads_that_do_more_than_guard_still_count() {
    let folder = folder();
    for (what, text) in [
        ("no reply checks and drops", replies("check show", "check show")),
        ("the late reply acts all the same", replies("check busy", "check show")),
        ("a reply acts before it checks", replies("busy check", "busy check show")),
        ("another task acts on the word of the check", replies("check", "check later")),
        ("the number is only read", replies("check", "check")),
        (
            "another thread makes the request, between check and act",
            replies("check", "check show")
                .replace("t4 get h0\nt4 write x0\n", "t4 get h0\n")
                .replace("t6 get h1\n", "t6 get h1\nt6 write x0\n"),
        ),
    ] {
        for command in ["check", "predict"] {
            let (status, result) = result(&folder, command, "wrong.trace", &text);
            assert_eq!(status, 1, "{what}: {command}: {result}");
            for finding in on_the_guard(&result) {
                assert_ne!(finding["harm_class"], "only_guards", "{what}: {command}: {finding}");
            }
        }
    }
}

/// A click that comes before the page is ready is lost: the flag `ready` is no request number.
#[test]
fn a_flag_that_loses_an_input_is_no_guard() {
    let folder = folder();
    let text = "anyorder-trace 1\nhandler h0 \"ui\" fifo\nhandler h1 \"user\" none untracked\n\
        task t0 \"main\" initial h0\ntask t1 \"tap 1\" burst h1\ntask t2 \"tap 2\" burst h1\ntask t3 \"load\" burst h1\n\
        task t4 \"click 1\" posted h0\ntask t5 \"click 2\" posted h0\ntask t6 \"ready\" posted h0\n\
        location x0 \"ready\"\nlocation x1 \"sent\"\nt0 loop h0\n\
        t1 begin\nt1 post t4\nt1 exit\nt3 begin\nt3 post t6\nt3 exit\nt2 begin\nt2 post t5\nt2 exit\n\
        t4 get h0\nt4 read x0\nt4 end\nt6 get h0\nt6 write x0\nt6 end\nt5 get h0\nt5 read x0\nt5 write x1\nt5 end\n";
    let (status, result) = result(&folder, "check", "ready.trace", text);
    assert_eq!(status, 1, "{result}");
    for finding in findings(&result) {
        assert_ne!(finding["harm_class"], "only_guards", "{finding}");
    }
}
