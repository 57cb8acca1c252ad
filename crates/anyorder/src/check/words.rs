//! Operations in words.

use anyorder_threads::{Act, Change, LockMode, Patience, received, sent};

/// Returns what an operation did, given its result, or what it is about to do. The object follows.
pub(super) fn words(act: &Act, result: Option<u64>) -> String {
    let took = result.is_none_or(|result| result & 1 == 1);
    let text = match act {
        Act::Load(order) => match result {
            Some(value) => return format!("reads {value} ({order:?}) from"),
            None => return format!("reads ({order:?}) from"),
        },
        Act::Store(value, order) => return format!("writes {value} ({order:?}) to"),
        Act::Update { change, success, .. } => {
            let old = result.map(|old| format!("finds {old}, ")).unwrap_or_default();
            let wrote = result.is_none_or(|old| change.writes(old));
            return format!("{old}{} ({success:?}) in", change_words(*change, wrote));
        }
        Act::Fence(order) => return format!("passes a fence ({order:?})"),
        Act::Lock(mode, patience) => {
            let poisoned = if result == Some(3) { ", poisoned," } else { "" };
            let verb = match (took, patience) {
                (true, Patience::Wait) | (true, _) if result.is_some() => "takes",
                (true, Patience::Wait) => "waits for",
                (true, _) => "tries to take",
                (false, _) => "does not get",
            };
            return format!("{verb} the lock{}{poisoned}", mode_words(*mode));
        }
        Act::Unlock(mode) => return format!("gives back the lock{}", mode_words(*mode)),
        Act::Convert { to, .. } if took => return format!("turns to{} the lock", mode_words(*to)),
        Act::Convert { .. } => "does not get the lock alone",
        Act::Poison(true) => "poisons the lock",
        Act::Poison(false) => "heals the lock",
        Act::IsPoisoned => "asks whether it is poisoned: the lock",
        Act::Use => "reads the data",
        Act::Alter(_) => "changes the data",
        Act::Access { write: false } => "reads the cell",
        Act::Access { write: true } => "writes to the cell",
        Act::Wait { lock, .. } => return format!("gives back the lock #{} and waits at", lock.0),
        Act::Wake(_) if result.is_none() => "waits to be notified at",
        Act::Wake(_) if took => "is notified at",
        Act::Wake(_) => "waited too long at",
        Act::Notify { all: true, .. } => "notifies all at",
        Act::Notify { all: false, .. } => "notifies one at",
        Act::Park(_) if result.is_none() => "waits to be unparked, token",
        Act::Park(_) if took => "is unparked, token",
        Act::Park(_) => "was parked too long, token",
        Act::Unpark => "unparks, token",
        Act::Send(..) => match result {
            None => "waits to send to the channel",
            Some(sent::DONE) => "sends to the channel",
            Some(sent::FULL) => "finds no room in the channel",
            Some(_) => "finds no receiver at the channel",
        },
        Act::Receive(_) => match result {
            None => "waits to receive from the channel",
            Some(received::DISCONNECTED) => "finds no sender at the channel",
            Some(received::EMPTY) => "finds nothing in the channel",
            Some(_) => "receives from the channel",
        },
        Act::Senders(more) => return ends("sender", *more),
        Act::Receivers(more) => return ends("receiver", *more),
        Act::Arrive => "arrives at the barrier",
        Act::Pass(_) if result.is_none() => "waits for others at the barrier",
        Act::Pass(_) => "passes the barrier",
        Act::Acquire(count, _) => {
            let verb = match result {
                None => "waits for",
                Some(1) => "takes",
                Some(_) => "does not get",
            };
            return format!("{verb} {count} of the permits");
        }
        Act::Release(count) => return format!("gives {count} to the permits"),
        Act::Close => "closes the semaphore",
        Act::Retain => "makes one more owner of",
        Act::Drop if took && result.is_some() => "drops, as the last owner,",
        Act::Drop => "drops, as one of the owners,",
        Act::Owners => "counts the owners of",
        Act::Upgrade => "asks to be an owner of",
        Act::TakeSole => "asks to be the sole owner of",
        Act::Spawn(child) => return format!("spawns thread {}, joined at", child.0),
        Act::Exit(_) => "ends, joined at",
        Act::Join if result.is_none() => "waits to join",
        Act::Join => "joins",
        Act::IsFinished => "asks whether the thread has ended that is joined at",
        Act::Choose(count) => return format!("chooses {} of {count}", result.unwrap_or(0)),
        Act::Await(_) => "spins",
        Act::Fail(_) => "panics",
    };
    text.to_owned()
}

fn ends(what: &str, more: bool) -> String {
    format!("{} one {what} of the channel", if more { "adds" } else { "drops" })
}

const fn mode_words(mode: LockMode) -> &'static str {
    match mode {
        LockMode::Exclusive => "",
        LockMode::Shared => " for reading",
        LockMode::Upgradable => " for reading, upgradably,",
    }
}

fn change_words(change: Change, wrote: bool) -> String {
    match change {
        Change::Swap(by) => format!("stores {by}"),
        Change::Add(by) => format!("adds {by}"),
        Change::Sub(by) => format!("subtracts {by}"),
        Change::And(by) => format!("makes it `and` {by:#x}"),
        Change::Or(by) => format!("makes it `or` {by:#x}"),
        Change::Xor(by) => format!("makes it `xor` {by:#x}"),
        Change::Nand(by) => format!("makes it `nand` {by:#x}"),
        Change::Max(by) => format!("makes it at least {by}"),
        Change::Min(by) => format!("makes it at most {by}"),
        Change::SignedMax(by) => format!("makes it at least {}", by as i64),
        Change::SignedMin(by) => format!("makes it at most {}", by as i64),
        Change::CompareExchange { new, .. } if wrote => format!("exchanges it for {new}"),
        Change::CompareExchange { current, .. } => format!("leaves it, not being {current},"),
        Change::ExchangePlace { .. } if wrote => "exchanges the pointer".to_owned(),
        Change::ExchangePlace { .. } => "leaves the pointer, being another one,".to_owned(),
    }
}
