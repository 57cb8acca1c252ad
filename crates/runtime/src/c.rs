//! What the C library and the kernel give: types, constants, system calls without `errno`.

#![allow(non_camel_case_types, reason = "the names of C")]

use core::ffi::{c_char, c_int, c_void};

pub(crate) type Pthread = usize;
pub(crate) type Start = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

unsafe extern "C" {
    pub(crate) fn __libc_malloc(size: usize) -> *mut c_void;
    pub(crate) fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    pub(crate) fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    pub(crate) fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    pub(crate) fn __libc_free(block: *mut c_void);
    pub(crate) fn malloc_usable_size(block: *mut c_void) -> usize;
    pub(crate) fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    pub(crate) fn dlvsym(
        handle: *mut c_void,
        name: *const c_char,
        version: *const c_char,
    ) -> *mut c_void;
    pub(crate) fn pthread_self() -> Pthread;
    pub(crate) fn pthread_key_create(
        key: *mut u32,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    pub(crate) fn pthread_setspecific(key: u32, value: *const c_void) -> c_int;
    pub(crate) fn pthread_getattr_np(thread: Pthread, attributes: *mut c_void) -> c_int;
    pub(crate) fn pthread_attr_getstack(
        attributes: *const c_void,
        low: *mut *mut c_void,
        size: *mut usize,
    ) -> c_int;
    pub(crate) fn pthread_attr_getdetachstate(
        attributes: *const c_void,
        state: *mut c_int,
    ) -> c_int;
    pub(crate) fn pthread_testcancel();
    pub(crate) fn __tls_get_addr(index: *mut usize) -> *mut c_void;
    pub(crate) fn pthread_attr_destroy(attributes: *mut c_void) -> c_int;
    pub(crate) fn on_exit(
        function: unsafe extern "C" fn(c_int, *mut c_void),
        argument: *mut c_void,
    ) -> c_int;
    pub(crate) fn __register_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
        object: *mut c_void,
    ) -> c_int;
    pub(crate) fn abort() -> !;
    pub(crate) fn __errno_location() -> *mut c_int;
    pub(crate) fn _pthread_cleanup_push(
        buffer: *mut CleanupBuffer,
        routine: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
    pub(crate) fn _pthread_cleanup_pop(buffer: *mut CleanupBuffer, execute: c_int);
}

/// `struct _pthread_cleanup_buffer`.
#[repr(C)]
pub(crate) struct CleanupBuffer {
    _fields: [usize; 4],
}

impl CleanupBuffer {
    pub(crate) const fn new() -> CleanupBuffer {
        CleanupBuffer { _fields: [0; 4] }
    }
}

/// Room for a `pthread_attr_t`, which has 56 bytes.
#[repr(C, align(16))]
pub(crate) struct Attributes(pub(crate) [u8; 64]);

pub(crate) const RTLD_NEXT: *mut c_void = usize::MAX as *mut c_void;

pub(crate) const SYS_READ: usize = 0;
pub(crate) const SYS_WRITE: usize = 1;
pub(crate) const SYS_CLOSE: usize = 3;
pub(crate) const SYS_POLL: usize = 7;
pub(crate) const SYS_LSEEK: usize = 8;
pub(crate) const SYS_MMAP: usize = 9;
pub(crate) const SYS_MUNMAP: usize = 11;
pub(crate) const SYS_RT_SIGPROCMASK: usize = 14;
pub(crate) const SYS_SCHED_YIELD: usize = 24;
pub(crate) const SYS_MADVISE: usize = 28;
pub(crate) const SYS_NANOSLEEP: usize = 35;
pub(crate) const SYS_GETPID: usize = 39;
pub(crate) const SYS_FCNTL: usize = 72;
pub(crate) const SYS_FTRUNCATE: usize = 77;
pub(crate) const SYS_GETCWD: usize = 79;
pub(crate) const SYS_GETPPID: usize = 110;
pub(crate) const SYS_SIGALTSTACK: usize = 131;
pub(crate) const SYS_GETTID: usize = 186;
pub(crate) const SYS_FUTEX: usize = 202;
pub(crate) const SYS_CLOCK_GETTIME: usize = 228;
pub(crate) const SYS_TGKILL: usize = 234;
pub(crate) const SYS_OPENAT: usize = 257;
pub(crate) const SYS_FALLOCATE: usize = 285;
pub(crate) const SYS_PRLIMIT64: usize = 302;

pub(crate) const AT_FDCWD: usize = -100_isize as usize;
pub(crate) const O_RDONLY: usize = 0;
pub(crate) const O_WRONLY: usize = 1;
pub(crate) const O_RDWR: usize = 2;
pub(crate) const O_CREAT: usize = 0o100;
pub(crate) const O_EXCL: usize = 0o200;
pub(crate) const O_APPEND: usize = 0o2000;
pub(crate) const O_CLOEXEC: usize = 0o2_000_000;
pub(crate) const PROT_READ_WRITE: usize = 3;
pub(crate) const MAP_SHARED: usize = 1;
pub(crate) const MAP_PRIVATE: usize = 2;
pub(crate) const MAP_ANONYMOUS: usize = 0x20;
pub(crate) const MAP_NORESERVE: usize = 0x4000;
pub(crate) const MADV_DONTNEED: usize = 4;
pub(crate) const MADV_DONTDUMP: usize = 16;
pub(crate) const MADV_POPULATE_WRITE: usize = 23;
pub(crate) const FUTEX_WAIT: usize = 0;
pub(crate) const FUTEX_WAKE: usize = 1;
pub(crate) const FUTEX_WAIT_PRIVATE: usize = 128;
pub(crate) const FUTEX_WAKE_PRIVATE: usize = 129;
pub(crate) const RLIMIT_FSIZE: usize = 1;
pub(crate) const RLIMIT_STACK: usize = 3;
pub(crate) const RLIMIT_AS: usize = 9;

pub(crate) const EINTR: isize = 4;
pub(crate) const ENOMEM: c_int = 12;
pub(crate) const EBUSY: c_int = 16;
pub(crate) const EEXIST: isize = 17;
pub(crate) const EINVAL: c_int = 22;
pub(crate) const ENOSYS: c_int = 38;
pub(crate) const EOPNOTSUPP: isize = 95;
pub(crate) const ETIMEDOUT: c_int = 110;
pub(crate) const EOWNERDEAD: c_int = 130;

/// Makes a system call. Returns its result, or the negated number of the error.
pub(crate) fn syscall(number: usize, arguments: [usize; 6]) -> isize {
    let result;
    // SAFETY: the kernel changes nothing but what the arguments name, `rcx`, `r11` and the result.
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") arguments[0],
            in("rsi") arguments[1],
            in("rdx") arguments[2],
            in("r10") arguments[3],
            in("r8") arguments[4],
            in("r9") arguments[5],
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Makes a system call whose last arguments are 0.
pub(crate) fn call(number: usize, arguments: &[usize]) -> isize {
    let mut all = [0; 6];
    for (to, from) in all.iter_mut().zip(arguments) {
        *to = *from;
    }
    syscall(number, all)
}

/// Returns the kernel's number of this thread.
pub(crate) fn thread_id() -> u32 {
    call(SYS_GETTID, &[]) as u32
}

/// Runs a function while no signal is delivered to this thread, not even a cancellation.
pub(crate) fn without_signals<T>(function: impl FnOnce() -> T) -> T {
    let all = u64::MAX;
    let mut before = 0_u64;
    // SIG_SETMASK is 2; a mask has 8 bytes.
    let (new, old) = (&raw const all as usize, &raw mut before as usize);
    call(SYS_RT_SIGPROCMASK, &[2, new, old, 8]);
    let result = function();
    call(SYS_RT_SIGPROCMASK, &[2, old, 0, 8]);
    result
}

/// Sets words to zero, without the C library, whose function is interposed.
///
/// # Safety
///
/// The words may be written.
pub(crate) unsafe fn clear(at: usize, words: usize) {
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            "rep stosq",
            inout("rdi") at => _,
            inout("rcx") words => _,
            in("rax") 0_usize,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies bytes, without the C library, whose function is interposed.
///
/// # Safety
///
/// The bytes may be read and written, and do not overlap.
pub(crate) unsafe fn copy(from: usize, to: usize, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rsi") from => _,
            inout("rdi") to => _,
            inout("rcx") bytes => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Maps memory of the process's own that is zero. Returns 0 if there is none.
pub(crate) fn map_anonymous(bytes: usize) -> usize {
    let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    let address = call(SYS_MMAP, &[0, bytes, PROT_READ_WRITE, flags, usize::MAX, 0]);
    if (-4095..0).contains(&address) { 0 } else { address as usize }
}

/// Maps all of a file that others change, too, if it has at least so many bytes. The path ends
/// with a zero byte. Returns the address and the size.
pub(crate) fn map_shared(path: &[u8], least: usize) -> Option<(usize, usize)> {
    let file = call(SYS_OPENAT, &[AT_FDCWD, path.as_ptr() as usize, O_RDWR | O_CLOEXEC, 0]);
    if file < 0 {
        return None;
    }
    let file = file as usize;
    let size = usize::try_from(call(SYS_LSEEK, &[file, 0, 2])).unwrap_or(0);
    let mut base = -1;
    if size >= least {
        base = call(SYS_MMAP, &[0, size, PROT_READ_WRITE, MAP_SHARED, file, 0]);
    }
    call(SYS_CLOSE, &[file]);
    if (-4095..0).contains(&base) { None } else { Some((base as usize, size)) }
}

/// Returns the soft limit of a resource.
pub(crate) fn soft_limit(resource: usize) -> u64 {
    let mut limits = [u64::MAX; 2];
    call(SYS_PRLIMIT64, &[0, resource, 0, (&raw mut limits) as usize]);
    limits[0]
}

/// Reads the variable of the last error, and sets it when dropped to what it was.
pub(crate) fn with_errno_kept<T>(function: impl FnOnce() -> T) -> T {
    // SAFETY: the C library gives the address of this thread's own `errno`.
    let before = unsafe { *__errno_location() };
    let result = function();
    // SAFETY: as above.
    unsafe { *__errno_location() = before };
    result
}
