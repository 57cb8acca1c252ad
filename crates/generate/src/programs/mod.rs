//! The six benchmark programs.
//!
//! **Source**: the prose of appendix E of the paper on consistency checking of event-driven traces,
//! and its tables of sizes. The paper names no variables. The number of bookkeeping accesses of a
//! message is chosen here so that sizes 2, 4 and 8 have exactly the printed numbers of events,
//! messages and handlers.

pub(crate) use buyers::Buyers;
pub(crate) use chang_roberts::ChangRoberts;
pub(crate) use consensus::Consensus;
pub(crate) use counting::Counting;
pub(crate) use message_loop::MessageLoop;
pub(crate) use sparse_matrix::SparseMatrix;

mod buyers;
mod chang_roberts;
mod consensus;
mod counting;
mod message_loop;
mod sparse_matrix;
