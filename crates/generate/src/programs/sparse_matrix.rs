//! Sparse matrix: counts the non-zero elements of a matrix in `n` tasks.
//!
//! `main` sends the tasks to two workers in turn. A worker counts its part, and sends the result to
//! `main`, which adds it to the sum.
//!
//! Messages: a task and a result each, and three initial ones: `2n + 3`. Events: `98n + 35`.

use crate::draft::Name;
use crate::setup::{Row, Setup};
use crate::simulator::{Body, Io, Program};

const WORKERS: u32 = 2;

/// The program for a number of tasks; handler 0 is `main`.
pub(crate) struct SparseMatrix {
    tasks: u32,
    sum: u32,
    matrix: u32,
    busy: Row,
    part: Row,
}

#[derive(Clone, Copy)]
pub(crate) enum Message {
    Main,
    Worker(u32),
    Count(u32),
    Result(u32),
}

impl Program for SparseMatrix {
    type Message = Message;

    fn events(size: u64) -> u64 {
        98 * size + 35
    }

    fn new(tasks: u32, setup: &mut Setup<Message>) -> SparseMatrix {
        setup.main_and(Message::Main, "worker", WORKERS, Message::Worker);
        SparseMatrix {
            tasks,
            sum: setup.one("sum"),
            matrix: setup.one("matrix"),
            busy: setup.row("busy", WORKERS),
            part: setup.row("part", tasks),
        }
    }

    fn body(&self, message: Message, io: &mut Io<Message>) -> Body {
        match message {
            // 15 events, and a post a task.
            Message::Main => {
                io.write(self.matrix, 1);
                io.write(self.sum, 0);
                io.work(13);
                for task in 0..self.tasks {
                    io.post(Name::one("count", task), task % WORKERS + 1, Message::Count(task));
                }
            }
            // 10 events.
            Message::Worker(worker) => {
                io.write(self.busy.at(worker), 0);
                io.work(9);
            }
            // 80 accesses and a post.
            Message::Count(task) => {
                let matrix = io.read(self.matrix)?;
                io.work(78);
                io.write(self.part.at(task), matrix + u64::from(task));
                io.post(Name::one("result", task), 0, Message::Result(task));
            }
            // 14 accesses.
            Message::Result(task) => {
                let part = io.read(self.part.at(task))?;
                io.work(11);
                let sum = io.read(self.sum)?;
                io.write(self.sum, sum + part);
            }
        }
        Ok(())
    }
}
