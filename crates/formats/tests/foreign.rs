//! Files of other tools that are no traces of this kind: each is named, with advice.

use crate::common::{self, Choices};
use anyorder_formats::detect::{DetectError, HEAD_BYTES, detect};
use anyorder_formats::foreign::{foreign, foreign_binary};
use proptest::prelude::*;

/// The beginning of a file, and a part of the message about it.
pub(crate) const FILES: [(&[u8], &str); 26] = [
    (b"go 1.22 trace\0\0\0\x01\x02\x03\0\xff", "execution trace of Go"),
    (b"go 1.9 trace\0\0\0\0\x01", "execution trace of Go"),
    (b"PERFILE2\x68\0\0\0\0\0\0\0", "Linux `perf`"),
    (b"\x10\0\x04\x46\x78\x54\x16\0\x01", "trace of Fuchsia"),
    (b"\x0a\x03\x08\x01\0\x0a\x04\x08\x01\x10\0", "trace of Perfetto"),
    (b"{\"traceEvents\":[{\"ph\":\"X\"}]}", "Chrome"),
    (b"{\"resourceSpans\":[{\"scopeSpans\":[{\"spans\":[{\"traceId\":\"5b8aa5a2d2c872e8321cf37308d69df2\"}]}]}]}", "OpenTelemetry"),
    (b"{\"data\":[{\"traceID\":\"1a\",\"spans\":[]}]}", "Jaeger"),
    (b"# tracer: function\n#\n bash-12    [001] d..1   104.250000: sched_switch: prev_comm=bash\n", "ftrace"),
    (b"           <idle>-0     [002] d... 23.636863: cpu_idle: state=4\n          bash-1977  [000] .... 17284.993652: sys_close <-system_call\n", "ftrace"),
    (b"execve(\"/bin/ls\", [\"ls\"], 0x7ffc /* 20 vars */) = 0\nbrk(NULL)                               = 0x55\n", "strace"),
    (b"[pid  4127] 10:01:02.5 futex(0x7f10, FUTEX_WAIT_PRIVATE, 2, NULL <unfinished ...>\n[pid  4128] 10:01:02.6 <... futex resumed>)  = 0\n", "strace"),
    (b"4127  read(3, \"a,b|c\", 9) = 5\n4127  +++ exited with 0 +++\n", "strace"),
    (b"2026-01-01 10:00:00\nFull thread dump OpenJDK 64-Bit Server VM (21 mixed mode):\n\n\"main\" #1 prio=5\n", "thread dump of Java: where"),
    (b"Full thread dump\n...\nFound one Java-level deadlock:\n=============================\n\"worker-1\":\n  waiting to lock monitor 0x01\n", "deadlock that has happened"),
    (b"======================================================\nWARNING: possible circular locking dependency detected\n6.1.0 Not tainted\n", "lockdep"),
    (b"WARNING: inconsistent lock state\n", "lockdep"),
    (b"= Invalid execution results =\n| ------------------- |\n|  Thread 1 | Thread 2 |\n", "Lincheck"),
    (b"receive\nalpha {\"alpha\":2, \"beta\":1}\nsend\nbeta {\"beta\":2}\n", "ShiViz"),
    (b"alpha {\"alpha\":1}\nstart\n", "ShiViz"),
    (b"TLC2 Version 2.18\nError: Invariant Mutex is violated.\n", "TLC"),
    (b"Error: Invariant Mutex is violated.\nState 1: <Initial predicate>\n/\\ pc = <<0, 0>>\n", "TLC"),
    (b"{\"#meta\":{\"format\":\"ITF\"},\"vars\":[\"x\"],\"states\":[{\"x\":{\"#bigint\":\"1\"}}]}", "Informal Trace Format"),
    (b"Begin 1 0 0\nAcq 1 l_0 0\nWrite 1 X_0 5\nFork 1 2 0\n", "focs-lab"),
    (b"M,7,8,12,-,L,t,main.go:10;C,9,0,13,R,f,0,0,main.go:12\nG,1,2,main.go:3\n", "ADVOCATE"),
    (b"T1,acq,m,7\nT1,w,x,8\n", "comma-separated"),
];

#[test]
fn each_is_named_with_advice() {
    for (head, what) in FILES {
        let shown = String::from_utf8_lossy(head);
        let Err(DetectError::Foreign(found)) = detect(head) else {
            panic!("{shown}: {:?}", detect(head))
        };
        assert!(found.what.contains(what), "{shown}: {}", found.what);
        assert!(found.advice.len() > 20, "{shown}: {}", found.advice);
        assert!(!found.what.ends_with('.') && !found.advice.ends_with('.'), "{shown}");
        // A byte order mark changes nothing, nor do blank lines before a text.
        if !head.contains(&0) {
            let marked = [b"\xef\xbb\xbf", head].concat();
            assert_eq!(detect(&marked), Err(DetectError::Foreign(found)), "{shown}");
            let blank = [b"\r\n\r\n", head].concat();
            assert_eq!(detect(&blank), Err(DetectError::Foreign(found)), "{shown}");
        }
    }
}

#[test]
fn a_dump_of_a_deadlock_is_the_answer() {
    let deadlocks = FILES.iter().filter(|(_, what)| what.contains("deadlock that"));
    for (head, _) in deadlocks {
        let found = foreign(head).expect("known");
        assert!(found.what.contains("needs no further search"), "{}", found.what);
    }
    let lockdep = foreign(b"WARNING: inconsistent lock state\n").expect("known");
    assert!(lockdep.what.contains("in it already"), "{}", lockdep.what);
}

#[test]
fn other_texts_are_not_named() {
    for text in [
        "hello\nworld\n",
        "name,age,city\nAda,36,London\n",
        "key = value\nother(thing) = 7x\n",
        "{\"name\":\"x\"}",
        "[1,2,3]",
        "INFO {\"requests\":3}\nINFO {\"requests\":4}\n",
        "M,7\n",
        "fn main() {\n    println!(\"a\");\n}\n",
        "# A page\n\nsome [text] and more: text.\n",
        "int main(void) {\n  return f(1) = 2;\n}\n",
    ] {
        assert_eq!(foreign(text.as_bytes()), None, "{text}");
        assert!(matches!(detect(text.as_bytes()), Err(DetectError::Unknown { .. })), "{text}");
    }
    for bytes in
        [&b"\x0a\x0a\x0a\0"[..], b"\x0a\xff\xff\xff\xff\xff\xff\0", b"go 1.22\0\0", b"\x0a"]
    {
        assert_eq!(foreign_binary(bytes), None, "{bytes:?}");
    }
}

#[test]
fn traces_that_speak_of_them_are_traces() {
    for (head, what) in FILES {
        let text = String::from_utf8_lossy(head);
        let line = text.lines().next().unwrap_or_default().replace('|', "/");
        let trace = format!("T1|w(x)|{line}\nT1|r({line})|2\n");
        let found = detect(trace.as_bytes());
        let is_text = !head.contains(&0);
        assert!(found.is_ok() || !is_text, "{what}: {found:?}");
    }
}

#[test]
fn a_long_perfetto_trace_goes_on_behind_the_head() {
    let mut bytes = Vec::new();
    while bytes.len() < 2 * HEAD_BYTES {
        bytes.extend([0x0a, 0xc8, 0x01]);
        bytes.extend([0; 200]);
    }
    assert!(foreign_binary(&bytes[..HEAD_BYTES]).is_some());
    let one = [&[0x0a, 0xff, 0xff, 0x7f][..], &vec![0; HEAD_BYTES]].concat();
    assert!(foreign_binary(&one[..HEAD_BYTES]).is_some());
}

proptest! {
    #[test]
    fn damaged_files_are_survived(numbers in common::choices(20), which in 0..FILES.len()) {
        let mut head = FILES[which].0.to_vec();
        common::damage(&mut Choices::new(numbers), &mut head);
        let _ = (detect(&head), foreign(&head), foreign_binary(&head));
    }
}
