//! A task is stolen from a buffer that was replaced.

use anyorder::thread;
use subject::{Steal, Stealer, Worker};

fn steal(stealer: &Stealer<usize>, times: usize) -> Vec<usize> {
    let mut taken = Vec::new();
    for _ in 0..times {
        if let Steal::Success(task) = stealer.steal() {
            taken.push(task);
        }
    }
    taken
}

fn all(worker: &Worker<usize>) -> Vec<usize> {
    std::iter::from_fn(|| worker.pop()).collect()
}

fn steal_batch(stealer: &Stealer<usize>) -> Vec<usize> {
    let own = Worker::new_lifo();
    let _ = stealer.steal_batch(&own);
    all(&own)
}

fn once(mut taken: Vec<usize>) {
    taken.sort_unstable();
    let all = taken.len();
    taken.dedup();
    assert_eq!(taken.len(), all, "a task was taken twice");
}

#[test]
fn bug() {
    anyorder::Builder::new().time_max(std::time::Duration::from_secs(100)).check(|| {
        let worker = Worker::new_lifo();
        (0..5).for_each(|task| worker.push(task));
        let stealer = worker.stealer();
        let other = thread::spawn(move || steal_batch(&stealer));
        // The last one leaves so little that the buffer is replaced.
        let mut taken: Vec<_> = (0..4).map(|_| worker.pop()).collect();
        worker.push(5);
        taken.extend(all(&worker).into_iter().map(Some));
        taken.extend(other.join().unwrap().into_iter().map(Some));
        once(taken.into_iter().flatten().collect());
    });
}

#[test]
fn right_the_buffer_does_not_grow() {
    anyorder::check(|| {
        let worker = Worker::new_lifo();
        worker.push(0);
        let stealer = worker.stealer();
        let other = thread::spawn(move || steal(&stealer, 2));
        worker.push(1);
        let mut taken: Vec<usize> = worker.pop().into_iter().collect();
        taken.extend(other.join().unwrap());
        once(taken);
    });
}

#[test]
fn right_grown_before() {
    anyorder::check(|| {
        let worker = Worker::new_lifo();
        (0..4).for_each(|task| worker.push(task));
        let stealer = worker.stealer();
        let other = thread::spawn(move || steal(&stealer, 2));
        let mut taken: Vec<usize> = worker.pop().into_iter().collect();
        taken.extend(other.join().unwrap());
        once(taken);
    });
}

#[test]
fn right_stolen_after_the_growth() {
    anyorder::check(|| {
        let worker = Worker::new_fifo();
        let stealer = worker.stealer();
        (0..3).for_each(|task| worker.push(task));
        let taken = thread::spawn(move || steal(&stealer, 3)).join().unwrap();
        assert_eq!(taken, [0, 1, 2]);
    });
}
