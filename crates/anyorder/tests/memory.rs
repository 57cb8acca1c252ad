//! Many executions need no more memory than one.

use anyorder::sync::{Arc, Mutex, mpsc};
use anyorder::thread;
use anyorder_threads::{Ending, every_execution};
use std::ops::ControlFlow;

/// Returns the pages of this process that are in memory.
#[cfg(target_os = "linux")]
fn pages() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("a text");
    text.split(' ').nth(1).expect("the second number").parse().expect("a number")
}

/// Runs some executions, one after another.
#[cfg(target_os = "linux")]
fn run(executions: u64, f: impl Fn() + Send + Sync + 'static) {
    let mut left = executions;
    let mut program = anyorder::Program::new(f);
    while left > 0 {
        every_execution(&mut program, (1_000, 10), |_, events, ending| {
            assert_eq!(ending, Ending::Completed, "{events:?}");
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }
}

fn busy() {
    let list = Arc::new(Mutex::new(vec![0; 100]));
    let (sender, receiver) = mpsc::channel();
    let theirs = Arc::clone(&list);
    let thread = thread::spawn(move || {
        theirs.lock().unwrap().push(1);
        sender.send(vec![1; 100]).unwrap();
    });
    let more = receiver.recv().unwrap();
    list.lock().unwrap().extend(more);
    thread.join().unwrap();
    let large = vec![1_u8; 1 << 17];
    assert_eq!(list.lock().unwrap().len(), 201);
    drop(large);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_flat() {
    let run = |executions| run(executions, busy);
    run(1_000);
    // Other tests run beside it and take memory, but not all the time.
    let grows = || {
        let before = pages();
        run(20_000);
        (before, pages())
    };
    let mut windows = (0..16).map(|_| grows()).inspect(|window| println!("{window:?}"));
    assert!(windows.any(|(before, after)| after < before + 500), "it grew each time");
}

/// What a program leaks is lost, and nothing else.
#[test]
#[cfg(target_os = "linux")]
fn leaks_do_not_take_whole_chunks() {
    let run = |executions| {
        run(executions, || {
            let value = Arc::new(Mutex::new(anyorder::choose(100_000)));
            std::mem::forget(Box::new(*value.lock().unwrap()));
        });
    };
    run(100);
    let before = pages();
    run(5_000);
    let after = pages();
    assert!(after < before + 10_000, "{before} pages before, {after} after");
}
