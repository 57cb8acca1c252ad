//! `select!`, `join!` and `try_join!`, by what tokio documents of its own.

use crate::support::{Report, explore, learnt, outcomes};
use anyorder::future::{self, join, mpsc, oneshot, select, try_join};
use anyorder::sync::Arc;
use anyorder::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::cell::RefCell;
use std::future::{pending, poll_fn, ready};
use std::rc::Rc;
use std::task::Poll;

/// What happened, in its order.
#[derive(Clone, Default)]
struct Story(Rc<RefCell<Vec<&'static str>>>);

impl Story {
    fn tell(&self, what: &'static str) {
        self.0.borrow_mut().push(what);
    }

    fn read(self) -> Vec<&'static str> {
        self.0.take()
    }
}

/// Tells when it is dropped.
struct Dropped(Story, &'static str);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.tell(self.1);
    }
}

#[test]
fn any_branch_may_be_polled_first_unless_biased() {
    let seen = outcomes(|report| {
        report.tell(future::block_on(async {
            select! {
                one = async { 1 } => one,
                two = ready(2) => two,
                three = async { 3 } => three,
            }
        }));
    });
    assert_eq!(seen, [1, 2, 3]);
    let seen = outcomes(|report| {
        report.tell(future::block_on(async {
            select! { biased; one = async { 1 } => one, two = ready(2) => two }
        }));
    });
    assert_eq!(seen, [1]);
}

/// The branches are polled in turn: what comes after the first one is not free.
#[test]
fn branches_are_polled_in_turn() {
    let polled = |is_biased: bool| {
        outcomes(move |report| {
            let story = Story::default();
            let step = |name: &'static str| {
                let story = story.clone();
                poll_fn(move |_| {
                    story.tell(name);
                    match name == "c" {
                        true => Poll::Ready(()),
                        false => Poll::Pending::<()>,
                    }
                })
            };
            future::block_on(async {
                if is_biased {
                    select! { biased; () = step("a") => (), () = step("b") => (), () = step("c") => () }
                } else {
                    select! { () = step("a") => (), () = step("b") => (), () = step("c") => () }
                }
            });
            report.tell(story.read());
        })
    };
    assert_eq!(polled(true), [["a", "b", "c"]]);
    let all: Vec<Vec<&str>> = vec![vec!["a", "b", "c"], vec!["b", "c"], vec!["c"]];
    assert_eq!(polled(false), all);
}

#[test]
fn each_poll_begins_anywhere() {
    // Two polls of two branches that are never ready in the first one.
    let seen = outcomes(|report| {
        let story = Story::default();
        let twice = |name: &'static str| {
            let story = story.clone();
            async move {
                story.tell(name);
                future::yield_now().await;
                story.tell(name);
            }
        };
        let won = future::block_on(async {
            select! { () = twice("a") => "a", () = twice("b") => "b" }
        });
        report.tell((story.read(), won));
    });
    let all = [
        (vec!["a", "b", "a"], "a"),
        (vec!["a", "b", "b"], "b"),
        (vec!["b", "a", "a"], "a"),
        (vec!["b", "a", "b"], "b"),
    ];
    assert_eq!(seen, all);
}

/// Conditions come first, then all futures, of disabled branches, too, which are not polled.
#[test]
fn what_is_disabled_is_made_and_not_polled() {
    let seen = outcomes(|report| {
        let story = Story::default();
        let is = |name: &'static str, value: bool| {
            story.tell(name);
            value
        };
        let make = |name: &'static str, polled: &'static str| {
            let (story, of) = (story.clone(), story.clone());
            of.tell(name);
            let dropped = Dropped(story.clone(), "dropped");
            async move {
                let _dropped = dropped;
                story.tell(polled);
            }
        };
        future::block_on(async {
            select! {
                () = make("make a", "poll a"), if is("a?", false) => story.tell("a"),
                () = make("make b", "poll b"), if is("b?", true) => story.tell("b"),
                else => story.tell("else"),
            }
        });
        report.tell(story.read());
    });
    let all =
        ["a?", "b?", "make a", "make b", "poll b", "dropped", "dropped", "b"].map(str::to_owned);
    assert_eq!(seen, [all]);
}

#[test]
fn losers_are_dropped_before_the_handler() {
    let seen = outcomes(|report| {
        let story = Story::default();
        let dropped = Dropped(story.clone(), "dropped");
        future::block_on(async {
            let loses = async move {
                let _dropped = dropped;
                pending::<()>().await;
            };
            select! { () = loses => unreachable!(), one = ready("handler") => story.tell(one) }
        });
        report.tell(story.read());
    });
    assert_eq!(seen, [["dropped", "handler"]]);
}

#[test]
fn a_value_that_does_not_match_disables_its_branch() {
    let (seen, faults) = learnt(|report: &Report<u32>| {
        let (sender, receiver) = oneshot::channel::<u32>();
        let task = future::spawn(async move { sender.send(7).unwrap() });
        report.tell(future::block_on(async {
            select! {
                Some(value) = ready(None::<u32>) => value,
                Ok(mut value @ 1..=9) = receiver => { value += 1; value }
                else => 0,
            }
        }));
        future::block_on(task).unwrap();
    });
    assert_eq!((Vec::from_iter(seen), faults), (vec![8], vec![]));
    let seen = outcomes(|report| {
        report.tell(future::block_on(async {
            select! {
                Some(_) = ready(None::<u32>) => 1,
                Err(ref why) = ready(Ok::<(), String>(())) => why.len(),
                _ = ready(()), if false => 3,
                else => 4,
            }
        }));
    });
    assert_eq!(seen, [4]);
}

#[test]
fn without_else_it_panics() {
    let seen = explore(|_: &Report<()>| {
        future::block_on(async {
            select! { Some(()) = ready(None) => () }
        });
    });
    let why = "all branches are disabled and there is no else branch";
    assert_eq!(Vec::from_iter(seen.panics), [why]);
    let seen = outcomes(|report| {
        report.tell(future::block_on(async {
            select! { else => 1 }
        }))
    });
    assert_eq!(seen, [1]);
}

/// Handlers and futures are code of the function around them.
#[test]
fn handlers_leave_what_is_around_them() {
    async fn first(values: &mut Vec<u32>) -> Result<u32, String> {
        loop {
            select! {
                value = async { values.pop() }, if !values.is_empty() => {
                    if value == Some(3) { continue }
                    let parsed = "x".parse::<u32>().map_err(|_| "no number".to_owned());
                    select! { _ = ready(()) => return parsed, else => break Ok(1) }
                }
                else => break Ok(Vec::<u32>::len(values) as u32 + 5),
            }
        }
    }
    let seen = outcomes(|report| {
        report.tell(future::block_on(first(&mut vec![3])));
        report.tell(future::block_on(first(&mut vec![2, 3])));
    });
    assert_eq!(seen, [Ok(5), Err("no number".to_owned())]);
}

/// The item of a channel is never lost, whichever branch wins; a value that a cancelled branch took
/// already is.
#[test]
fn what_is_cancelled_may_lose_what_it_took() {
    let received = |is_careful: bool| {
        learnt(move |report: &Report<Vec<u32>>| {
            let (sender, mut receiver) = mpsc::unbounded_channel::<u32>();
            let task = future::spawn(async move { sender.send(1).unwrap() });
            let all = future::block_on(async {
                let (mut all, mut ticks) = (Vec::new(), 0);
                loop {
                    let receive = async {
                        let item = receiver.recv().await;
                        if !is_careful {
                            future::yield_now().await;
                        }
                        item
                    };
                    select! {
                        item = receive => match item {
                            Some(item) => all.push(item),
                            None => break all,
                        },
                        () = future::yield_now(), if ticks == 0 => ticks += 1,
                    }
                }
            });
            future::block_on(task).unwrap();
            report.tell(all);
        })
    };
    let (careful, careless) = (received(true), received(false));
    assert_eq!((Vec::from_iter(careful.0), careful.1), (vec![vec![1]], vec![]));
    assert_eq!((Vec::from_iter(careless.0), careless.1), (vec![vec![], vec![1]], vec![]));
}

#[test]
fn all_values_are_joined() {
    let seen = outcomes(|report| {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = Arc::clone(&count);
        let task = future::spawn(async move { theirs.store(1, SeqCst) });
        report.tell(future::block_on(async {
            let (one, (), two) = join!(ready(1), async { task.await.unwrap() }, async {
                // A poll more would have two orders more, and 137,000 executions.
                count.load(SeqCst)
            });
            (one, two)
        }));
    });
    assert_eq!(seen, [(1, 0), (1, 1)]);
    let seen = outcomes(|report| {
        future::block_on(async { join!() });
        report.tell(future::block_on(async { join!(biased; ready(1),) }));
    });
    assert_eq!(seen, [(1,)]);
}

/// In the first poll the futures come in their order, later any may be first; a future that is
/// ready is dropped at once.
#[test]
fn joined_futures_are_polled_in_turn() {
    let run = |is_biased: bool| {
        outcomes(move |report| {
            let story = Story::default();
            let twice = |name: &'static str, dropped: &'static str| {
                let (story, dropped) = (story.clone(), Dropped(story.clone(), dropped));
                let mut polls = 0;
                poll_fn(move |context| {
                    let _ = &dropped;
                    story.tell(name);
                    polls += 1;
                    context.waker().wake_by_ref();
                    if polls == 2 { Poll::Ready(()) } else { Poll::Pending }
                })
            };
            future::block_on(async {
                if is_biased {
                    join!(biased; twice("a", "-a"), twice("b", "-b"))
                } else {
                    join!(twice("a", "-a"), twice("b", "-b"))
                }
            });
            report.tell(story.read().concat());
        })
    };
    assert_eq!(run(true), ["aba-ab-b"]);
    assert_eq!(run(false), ["aba-ab-b", "abb-ba-a"]);
}

#[test]
fn the_first_error_ends_a_join() {
    let seen = outcomes(|report| {
        let story = Story::default();
        let dropped = Dropped(story.clone(), "dropped");
        let result = future::block_on(async {
            let waits = async move {
                let _dropped = dropped;
                pending::<Result<(), u32>>().await
            };
            let result = try_join!(waits, async { Err::<(), _>(7) });
            story.tell("after");
            result
        });
        report.tell((result.unwrap_err(), story.read()));
    });
    assert_eq!(seen, [(7, vec!["dropped", "after"])]);
    let seen = outcomes(|report| {
        let both = future::block_on(async { try_join!(async { Ok::<_, ()>(1) }, ready(Ok("b"))) });
        report.tell(both);
    });
    assert_eq!(seen, [Ok((1, "b"))]);
}
