//! The code inside a native program. The shared object that is built from this crate takes the
//! place of ThreadSanitizer's runtime (`libtsan.so.2`), and records what the program does.
//!
//! A program that `gcc -fsanitize=thread` has built calls a function before each access. `hooks`
//! has these functions, and `interpose` those of the C library that synchronise threads or manage
//! memory. Both write events by `emit` into the chunk of their thread. `record` has the file
//! and its chunks. Without the environment variable `ANYORDER_RECORDING` all of them only forward.
//!
//! The code runs in signal handlers, before `main`, in threads that end, and after `fork`. It
//! allocates nothing, takes no lock of the program's, keeps no descriptor open, and changes no
//! `errno`.
//!
//! Cargo builds an ordinary library, for lints and documentation. `rustc-arguments.txt` has the
//! arguments that make the shared object: `--cfg anyorder_image` exports the symbols.
#![no_std]
#![allow(non_snake_case, reason = "exported functions have the names of C")]
#![cfg_attr(
    not(anyorder_image),
    allow(dead_code, reason = "only the shared object exports what stands at the top")
)]

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
#[macro_use]
mod macros;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod annotations;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod block;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod c;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod cells;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod emit;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod exit;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod hooks;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod init;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod interpose;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod invocations;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod java;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod kind;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod maps;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod pack;
#[cfg(all(anyorder_image, target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod panic;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod plan;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod record;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod schedule;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod symbol;
#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod thread;
