//! Loops that spin: those that give up after some turns, and those that do not.

use crate::support::outcomes;
use anyorder::sync::atomic::Ordering::{Relaxed, SeqCst};
use anyorder::sync::atomic::{AtomicBool, AtomicU32};
use anyorder::sync::{Arc, Condvar, Mutex};
use anyorder::{Builder, FailureKind, Memory, hint, thread};
use std::time::Duration;

/// Two threads, and what each of them read.
fn beside(turns: u32, gives_way: fn()) -> Vec<(u32, u32)> {
    outcomes(move |report| {
        let (f, g) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let other = {
            let (f, g) = (Arc::clone(&f), Arc::clone(&g));
            thread::spawn(move || {
                let mut seen = 0;
                for _ in 0..turns {
                    seen = f.load(SeqCst);
                    if seen == 1 {
                        break;
                    }
                    gives_way();
                }
                g.store(1, SeqCst);
                seen
            })
        };
        let r = g.load(SeqCst);
        f.store(1, SeqCst);
        report.tell((other.join().unwrap(), r));
    })
}

#[test]
fn a_loop_gives_up_while_others_go_on() {
    for gives_way in [thread::yield_now, hint::spin_loop] {
        for turns in 1..6 {
            assert_eq!(beside(turns, gives_way), [(0, 0), (0, 1), (1, 0)], "{turns}");
        }
    }
}

/// As the backoff of a well-known crate: it spins, then gives way, and then is complete.
#[derive(Default)]
struct Backoff {
    step: u32,
}

impl Backoff {
    fn snooze(&mut self) {
        match self.step {
            0..3 => (0..1 << self.step).for_each(|_| hint::spin_loop()),
            _ => thread::yield_now(),
        }
        self.step += u32::from(self.step <= 5);
    }

    fn is_completed(&self) -> bool {
        self.step > 5
    }
}

#[test]
fn a_backoff_turns_to_parking_while_others_go_on() {
    // Whether the waiting thread says that it parks before the other one looks.
    let seen = outcomes(|report| {
        let (ready, parks) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let waiter = {
            let (ready, parks) = (Arc::clone(&ready), Arc::clone(&parks));
            thread::spawn(move || {
                let mut backoff = Backoff::default();
                while ready.load(SeqCst) == 0 {
                    if backoff.is_completed() {
                        parks.store(1, SeqCst);
                        thread::park();
                    } else {
                        backoff.snooze();
                    }
                }
            })
        };
        ready.store(1, SeqCst);
        waiter.thread().unpark();
        let parked = parks.load(SeqCst);
        waiter.join().unwrap();
        report.tell(parked);
    });
    assert_eq!(seen, [0, 1]);
}

#[test]
fn two_loops_through_one_function_are_two() {
    let seen = outcomes(|report| {
        fn wait(flag: &AtomicU32, backoff: &mut Backoff) -> bool {
            while !backoff.is_completed() {
                if flag.load(SeqCst) == 1 {
                    return true;
                }
                backoff.step += 2;
                thread::yield_now();
            }
            false
        }
        let (f, g) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let other = {
            let (f, g) = (Arc::clone(&f), Arc::clone(&g));
            thread::spawn(move || {
                let first = wait(&f, &mut Backoff::default());
                g.store(1, SeqCst);
                (first, wait(&f, &mut Backoff::default()))
            })
        };
        let r = g.load(SeqCst);
        f.store(1, SeqCst);
        let (first, second) = other.join().unwrap();
        report.tell((first, second, r));
    });
    let all = [(false, false, 0), (false, false, 1), (false, true, 0), (false, true, 1)];
    assert_eq!(seen[..4], all);
    assert_eq!(seen[4..], [(true, true, 0)]);
}

/// A loop within one that waits for something else.
#[test]
fn a_loop_that_gives_up_within_one_that_does_not() {
    let seen = outcomes(|report| {
        let (f, g) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let lock = Arc::new(Mutex::new(()));
        let waiter = {
            let (f, g, lock) = (Arc::clone(&f), Arc::clone(&g), Arc::clone(&lock));
            thread::spawn(move || {
                loop {
                    for _ in 0..3 {
                        let held = lock.lock().unwrap();
                        if f.load(SeqCst) == 1 {
                            return 'f';
                        }
                        drop(held);
                        thread::yield_now();
                    }
                    let _held = lock.lock().unwrap();
                    if g.load(SeqCst) == 1 {
                        return 'g';
                    }
                }
            })
        };
        {
            let _held = lock.lock().unwrap();
            g.store(1, SeqCst);
            f.store(1, SeqCst);
        }
        report.tell(waiter.join().unwrap());
    });
    assert_eq!(seen, ['f', 'g']);
}

#[test]
fn a_loop_that_gives_up_late_is_named() {
    let test = || {
        let flag = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&flag);
        let other = thread::spawn(move || theirs.store(1, SeqCst));
        for _ in 0..40 {
            if flag.load(SeqCst) == 1 {
                break;
            }
            thread::yield_now();
        }
        other.join().unwrap();
    };
    let summary = Builder::new().explore(test);
    assert!(!summary.is_ok() && summary.failures.is_empty(), "{summary}");
    let [long] = &summary.long_loops[..] else { panic!("{summary}") };
    assert!((38..=40).contains(&long.turns), "{long}");
    let text = summary.to_string();
    assert!(text.contains("spinning.rs") && text.contains("turns_max(39)"), "{text}");
    let summary = Builder::new().turns_max(long.turns).explore(test);
    assert!(summary.is_ok() && summary.executions > 30, "{summary}");
}

/// Where no loop gives up, a thread that spins waits, and there are as many executions as results.
#[test]
fn spinning_for_ever_costs_no_executions() {
    let test = || {
        let held = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let held = Arc::clone(&held);
                thread::spawn(move || {
                    while held.compare_exchange(0, 1, SeqCst, Relaxed).is_err() {
                        hint::spin_loop();
                    }
                    held.store(0, SeqCst);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    };
    let (tried, waiting) = (Builder::new(), Builder::new().turns_max(0));
    let (tried, waiting) = (tried.explore(test), waiting.explore(test));
    assert!(tried.is_ok() && waiting.is_ok(), "{tried}");
    assert_eq!((tried.executions, tried.states), (waiting.executions, waiting.states), "{tried}");
    assert!(tried.executions_for_loops > 0 && waiting.executions_for_loops == 0, "{tried}");
}

#[test]
fn a_livelock_is_still_one_beside_a_loop_that_gives_up() {
    let summary = Builder::new().explore(|| {
        let (f, g) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (theirs, their_g) = (Arc::clone(&f), Arc::clone(&g));
        thread::spawn(move || {
            for _ in 0..3 {
                if theirs.load(SeqCst) == 1 {
                    return;
                }
                thread::yield_now();
            }
            // Gives up, and what the other one waits for never comes.
        });
        f.store(1, SeqCst);
        while g.load(SeqCst) == 0 {
            hint::spin_loop();
        }
        drop(their_g);
    });
    let [failure] = &summary.failures[..] else { panic!("{summary}") };
    assert!(matches!(failure.kind, FailureKind::Livelock(_)), "{summary}");
}

/// What a loop does after it gave up is run again by the text of the failure.
#[test]
fn failures_after_giving_up_are_replayed() {
    let test = || {
        let (f, g) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (theirs, their_g) = (Arc::clone(&f), Arc::clone(&g));
        let other = thread::spawn(move || {
            for _ in 0..4 {
                if theirs.load(SeqCst) == 1 {
                    return;
                }
                thread::yield_now();
            }
            their_g.store(1, SeqCst);
        });
        assert_eq!(g.load(SeqCst), 0);
        f.store(1, SeqCst);
        other.join().unwrap();
    };
    let summary = Builder::new().explore(test);
    let [failure] = &summary.failures[..] else { panic!("{summary}") };
    assert!(failure.is_confirmed, "{summary}");
    let again = Builder::new().replay(failure.replay()).explore(test);
    assert_eq!(again.replayed, Some(anyorder::Replayed::Same), "{again}");
}

/// What a thread does after a loop may depend on how many turns it took: then all is explored.
#[test]
fn turns_that_are_counted_are_seen() {
    let test = || {
        let (flag, turns) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (their_flag, their_turns) = (Arc::clone(&flag), Arc::clone(&turns));
        let other = thread::spawn(move || {
            their_flag.store(1, SeqCst);
            let seen = their_turns.load(SeqCst);
            their_flag.store(2, SeqCst);
            seen
        });
        let mut count = 0;
        for _ in 0..8 {
            if flag.load(SeqCst) > 0 {
                break;
            }
            count += 1;
            thread::yield_now();
        }
        turns.store(count, SeqCst);
        let late = flag.load(SeqCst);
        let seen = other.join().unwrap();
        assert!((count, late, seen) != (5, 1, 5), "five turns");
    };
    for builder in [Builder::new(), Builder::new().turns_merged()] {
        let summary = builder.explore(test);
        assert!(summary.to_string().contains("five turns"), "{summary}");
        assert_eq!(summary.failures.len(), 1);
    }
}

/// A loop that gives up, and then waits for a lock that the thread also took before the loop, at
/// the same place in the source.
#[test]
fn a_lock_after_a_loop_is_not_of_the_loop() {
    fn value(of: &Mutex<u32>) -> u32 {
        *of.lock().unwrap()
    }
    let seen = outcomes(|report| {
        let (lock, flag) = (Arc::new(Mutex::new(0)), Arc::new(AtomicU32::new(0)));
        let (theirs, their_flag) = (Arc::clone(&lock), Arc::clone(&flag));
        let other = thread::spawn(move || {
            let mut held = theirs.lock().unwrap();
            their_flag.store(1, SeqCst);
            *held += 1;
        });
        value(&lock);
        let gives_up = (0..3).all(|_| {
            let is_held = lock.try_lock().is_err();
            thread::yield_now();
            is_held
        });
        value(&lock);
        report.tell(gives_up);
        other.join().unwrap();
    });
    assert_eq!(seen, [false, true]);
}

/// A waiter that spins and then parks: on request, the turns of one loop are not combined with
/// those of others.
#[test]
fn turns_of_several_loops_are_not_combined() {
    let test = |items: u32| {
        move || {
            let ready = Arc::new(AtomicU32::new(0));
            let theirs = Arc::clone(&ready);
            let waiter = thread::spawn(move || {
                for item in 0..items {
                    let mut backoff = Backoff::default();
                    while theirs.load(SeqCst) <= item {
                        match backoff.is_completed() {
                            true => thread::park(),
                            false => backoff.snooze(),
                        }
                    }
                }
            });
            for item in 0..items {
                ready.store(item + 1, SeqCst);
                waiter.thread().unpark();
            }
            waiter.join().unwrap();
        }
    };
    let explore = |items| {
        (Builder::new().turns_merged().explore(test(items)), Builder::new().explore(test(items)))
    };
    let (two, two_whole) = explore(2);
    let (three, three_whole) = explore(3);
    for summary in [&two, &two_whole, &three, &three_whole] {
        assert!(summary.is_ok(), "{summary}");
    }
    let counts = [&two, &two_whole, &three, &three_whole].map(|summary| summary.executions);
    println!("{counts:?}");
    let said =
        |summary: &anyorder::Summary| summary.to_string().contains("as asked, turns in vain");
    assert!(said(&two) && !said(&two_whole));
    assert!(2 * counts[0] < counts[1] && 4 * counts[2] < counts[3], "{counts:?}");
}

/// Checks that a program whose main thread looks at `x` and at a flag, which another thread sets
/// one after the other, has these outcomes and does not fail.
fn beside_two_stores(wanted: &[u32], main: fn(&AtomicU32, &AtomicU32) -> u32) {
    let program = move || {
        let (x, flag) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let other = {
            let (x, flag) = (Arc::clone(&x), Arc::clone(&flag));
            thread::spawn(move || {
                x.store(1, SeqCst);
                flag.store(1, SeqCst);
            })
        };
        let seen = main(&x, &flag);
        other.join().unwrap();
        seen
    };
    assert_eq!(outcomes(move |report| report.tell(program())), wanted);
    let summary = Builder::new().explore(move || {
        program();
    });
    assert!(summary.is_ok(), "{summary}");
}

#[test]
fn a_loop_waits_for_what_it_reads_and_not_for_what_was_read_before_it() {
    // Before the loop, the thread reads the same as when it gave way last, as if it were a turn.
    beside_two_stores(&[1, 2, 5, 8], |x, flag| {
        let mut seen = 1 + x.load(SeqCst) + flag.load(SeqCst);
        thread::yield_now();
        seen = 3 * seen - 2 + x.load(SeqCst);
        while flag.load(SeqCst) == 0 {
            thread::yield_now();
        }
        seen
    });
}

#[test]
fn a_loop_that_gives_up_before_one_that_does_not() {
    // All that the thread reads is 0.
    beside_two_stores(&[0, 1], |x, flag| {
        let mut seen = 0;
        for _ in 0..3 {
            seen = x.load(SeqCst);
            if seen == 1 {
                break;
            }
            thread::yield_now();
        }
        while flag.load(SeqCst) == 0 {
            thread::yield_now();
        }
        seen
    });
}

/// A loop whose turns are numbered under a lock waits all the same: for what others do to it.
#[test]
fn loops_that_count_their_turns_under_a_lock_wait() {
    let shared = || Arc::new((AtomicBool::new(false), Mutex::new(0), Condvar::new()));
    let waits = move || {
        let ours = shared();
        let theirs = Arc::clone(&ours);
        let other = thread::spawn(move || {
            theirs.0.store(true, SeqCst);
            theirs.2.notify_one();
        });
        let (done, turns, woken) = &*ours;
        while !done.load(SeqCst) {
            let mut turns = turns.lock().unwrap();
            *turns += 1;
            let _ = woken.wait_timeout(turns, Duration::from_secs(1)).unwrap();
        }
        other.join().unwrap();
    };
    let yields = move || {
        let ours = shared();
        let theirs = Arc::clone(&ours);
        let other = thread::spawn(move || {
            *theirs.1.lock().unwrap() = 100;
            theirs.0.store(true, SeqCst);
        });
        while !ours.0.load(SeqCst) {
            let mut turns = ours.1.lock().unwrap();
            *turns += 1;
            assert!(*turns < 102);
            drop(turns);
            thread::yield_now();
        }
        other.join().unwrap();
    };
    for memory in [Memory::Sequential, Memory::Rc11] {
        let summary = Builder::new().memory(memory).explore(waits);
        assert!(summary.is_ok() && summary.executions < 20, "{summary}");
        // Others have set the number, and it goes on counting: twice at least.
        let summary = Builder::new().memory(memory).explore(yields);
        assert_eq!(summary.failures.len(), 1, "{summary}");
    }
}
