/* Faults below the C library, for the tests of `anyorder`. Loaded by LD_PRELOAD into the program.
 *
 * It counts the calls of each kind, and makes the n-th call of one kind fail, or ends the program
 * at the n-th call of any kind: by SIGKILL, or by a simulated loss of power (see `power.h`).
 *
 *   ANYORDER_SHIM        the file of the counts, mapped as `struct shared`: they outlive the program
 *   ANYORDER_SHIM_FAULT  KIND:N:HOW. HOW is the number of an error, `short` (a short read or
 *                        write), `jump` (the clock jumps by a day), `still` (it stops), `kill` or
 *                        `power`; `+` behind it repeats the fault for all later calls. KIND is a
 *                        number of `enum kind`, or -1 for calls of any kind
 *   ANYORDER_SHIM_SEED   chooses what a loss of power leaves
 *   ANYORDER_SHIM_KEPT   a folder for what a loss of power brings back
 *
 * Children run without the shim. Calls that the program makes without the C library (the crate
 * `rustix` does) are trapped by a seccomp filter on the addresses of the program's own code.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* The order is that of `KINDS` in shim.rs. */
enum kind {
    K_OPEN, K_READ, K_WRITE, K_CLOSE, K_FSYNC, K_RENAME, K_UNLINK, K_TRUNCATE, K_MKDIR, K_STAT,
    K_MODE, K_FOLDER, K_SPAWN, K_WAIT, K_KILL, K_THREAD, K_ALLOC, K_CLOCK, K_SLEEP, K_PIPE, K_POLL,
    K_EXIT, KINDS
};

struct shared {
    _Atomic uint64_t total;
    _Atomic uint64_t counts[KINDS];
    _Atomic uint64_t fired;
    int64_t fd;
    char what[512];
};

/* Faults that are not numbers of errors. */
enum { SHORT = -1, JUMP = -2, STILL = -3, KILL = -4, POWER = -5 };
enum { ALLOC_MIN = 1 << 16, FDS = 4096 };

static struct shared *shared;
static int want_kind = -2, how, sticky;
static uint64_t want_at;
static __thread int inside; /* the shim's own calls are not counted */
static unsigned char hidden[FDS]; /* files of /proc and /sys: the system's, not the program's */

#define REAL(name) \
    static __typeof__(name) *real_##name; \
    if (!real_##name) real_##name = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#include "power.h"

/* Counts a call; returns 0, the error with which it has to fail, or a special fault. */
static int enter(enum kind kind, int fd, const char *what) {
    if (!shared || inside) return 0;
    uint64_t total = atomic_fetch_add(&shared->total, 1) + 1;
    uint64_t count = atomic_fetch_add(&shared->counts[kind], 1) + 1;
    if (want_kind == -1) count = total;
    else if (want_kind != (int)kind) return 0;
    if (count < want_at || (count > want_at && !sticky)) return 0;
    if (atomic_fetch_add(&shared->fired, 1) == 0) {
        shared->fd = fd;
        strncpy(shared->what, what ? what : "", sizeof shared->what - 1);
    }
    if (how == KILL) syscall(SYS_kill, getpid(), SIGKILL);
    if (how == POWER) power_fails();
    return how;
}

#define FAIL(kind, fd, what) \
    int fault = enter(kind, fd, what); \
    if (fault > 0) { errno = fault; return -1; }

static int is_hidden(int fd) { return fd >= 0 && fd < FDS && hidden[fd]; }
static int of_system(const char *path) {
    return !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5) || !strncmp(path, "/dev/", 5);
}

/* ---- files ---------------------------------------------------------------------------------- */

static int do_open(int folder, const char *path, int flags, mode_t mode) {
    if (of_system(path)) {
        int fd = syscall(SYS_openat, folder, path, flags, mode);
        if (fd >= 0 && fd < FDS) hidden[fd] = 1;
        return fd;
    }
    FAIL(K_OPEN, -1, path)
    struct stat before;
    int existed = syscall(SYS_newfstatat, folder, path, &before, 0) == 0;
    int fd = syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && fd < FDS) hidden[fd] = 0;
    if (fd >= 0 && (flags & O_ACCMODE) != O_RDONLY) power_opened(fd, folder, path, flags, existed);
    return fd;
}

#define MODE_OF(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, int); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) {
    MODE_OF(flags)
    return do_open(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE_OF(flags)
    return do_open(AT_FDCWD, path, flags, mode);
}
int openat(int at, const char *path, int flags, ...) {
    MODE_OF(flags)
    return do_open(at, path, flags, mode);
}
int openat64(int at, const char *path, int flags, ...) {
    MODE_OF(flags)
    return do_open(at, path, flags, mode);
}

ssize_t read(int fd, void *to, size_t bytes) {
    if (is_hidden(fd)) return syscall(SYS_read, fd, to, bytes);
    FAIL(K_READ, fd, "read")
    return syscall(SYS_read, fd, to, fault == SHORT && bytes > 1 ? 1 : bytes);
}

ssize_t readv(int fd, const struct iovec *parts, int count) {
    FAIL(K_READ, fd, "readv")
    return syscall(SYS_readv, fd, parts, fault == SHORT ? 1 : count);
}

ssize_t write(int fd, const void *from, size_t bytes) {
    /* A full disk leaves the terminal alone. */
    if (fd == 2 && sticky && want_kind == K_WRITE) return syscall(SYS_write, fd, from, bytes);
    FAIL(K_WRITE, fd, "write")
    power_written(fd);
    return syscall(SYS_write, fd, from, fault == SHORT && bytes > 1 ? 1 : bytes);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    FAIL(K_WRITE, fd, "writev")
    power_written(fd);
    return syscall(SYS_writev, fd, parts, fault == SHORT ? 1 : count);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at) {
    FAIL(K_WRITE, fd, "pwrite")
    power_written(fd);
    return syscall(SYS_pwrite64, fd, from, fault == SHORT && bytes > 1 ? 1 : bytes, at);
}

/* Callers fall back on read and write, which are counted. */
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t bytes, unsigned flags) {
    (void)in; (void)from; (void)out; (void)to; (void)bytes; (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile64(int out, int in, off64_t *at, size_t bytes) {
    (void)in; (void)out; (void)at; (void)bytes;
    errno = ENOSYS;
    return -1;
}

int close(int fd) {
    if (is_hidden(fd)) { hidden[fd] = 0; return syscall(SYS_close, fd); }
    int fault = enter(K_CLOSE, fd, "close");
    int closed = syscall(SYS_close, fd); /* a close that fails has closed */
    if (fault > 0) { errno = fault; return -1; }
    return closed;
}

static int do_sync(int fd, long number) {
    FAIL(K_FSYNC, fd, "fsync")
    int done = syscall(number, fd);
    if (done == 0) power_synced(fd);
    return done;
}
int fsync(int fd) { return do_sync(fd, SYS_fsync); }
int fdatasync(int fd) { return do_sync(fd, SYS_fdatasync); }

static int do_rename(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
    FAIL(K_RENAME, -1, to)
    power_before_replace(to_at, to);
    int done = syscall(SYS_renameat2, from_at, from, to_at, to, flags);
    if (done == 0) power_renamed(from_at, from, to_at, to);
    return done;
}
int rename(const char *from, const char *to) { return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int at, const char *from, int to_at, const char *to) {
    return do_rename(at, from, to_at, to, 0);
}
int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) {
    return do_rename(at, from, to_at, to, flags);
}

static int do_link(int from_at, const char *from, int to_at, const char *to, int flags) {
    FAIL(K_RENAME, -1, to)
    int done = syscall(SYS_linkat, from_at, from, to_at, to, flags);
    if (done == 0) power_created(to_at, to);
    return done;
}
int link(const char *from, const char *to) { return do_link(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int at, const char *from, int to_at, const char *to, int flags) {
    return do_link(at, from, to_at, to, flags);
}

static int do_unlink(int at, const char *path, int flags) {
    FAIL(K_UNLINK, -1, path)
    power_before_replace(at, path);
    int done = syscall(SYS_unlinkat, at, path, flags);
    if (done == 0) power_removed(at, path);
    return done;
}
int unlink(const char *path) { return do_unlink(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return do_unlink(at, path, flags); }

int ftruncate(int fd, off_t to) {
    FAIL(K_TRUNCATE, fd, "ftruncate")
    power_written(fd);
    return syscall(SYS_ftruncate, fd, to);
}
int ftruncate64(int fd, off64_t to) { return ftruncate(fd, to); }

static int do_mkdir(int at, const char *path, mode_t mode) {
    FAIL(K_MKDIR, -1, path)
    int done = syscall(SYS_mkdirat, at, path, mode);
    if (done == 0) power_created(at, path);
    return done;
}
int mkdir(const char *path, mode_t mode) { return do_mkdir(AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return do_mkdir(at, path, mode); }

static int do_stat(int at, const char *path, struct stat64 *to, int flags) {
    if (*path && of_system(path)) return syscall(SYS_newfstatat, at, path, to, flags);
    FAIL(K_STAT, *path ? -1 : at, *path ? path : "fstat")
    return syscall(SYS_newfstatat, at, path, to, flags);
}
int stat64(const char *path, struct stat64 *to) { return do_stat(AT_FDCWD, path, to, 0); }
int lstat64(const char *path, struct stat64 *to) {
    return do_stat(AT_FDCWD, path, to, AT_SYMLINK_NOFOLLOW);
}
int fstat64(int fd, struct stat64 *to) { return do_stat(fd, "", to, AT_EMPTY_PATH); }
int fstatat64(int at, const char *path, struct stat64 *to, int flags) {
    return do_stat(at, path, to, flags);
}
int statx(int at, const char *path, int flags, unsigned mask, struct statx *to) {
    const char *volatile given = path; /* the header promises a path; a probe passes none */
    if (given && !of_system(path) && !is_hidden(at)) {
        FAIL(K_STAT, *path ? -1 : at, *path ? path : "fstat")
    }
    return syscall(SYS_statx, at, path, flags, mask, to);
}

int chmod(const char *path, mode_t mode) {
    FAIL(K_MODE, -1, path)
    return syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}
int fchmod(int fd, mode_t mode) { FAIL(K_MODE, fd, "fchmod") return syscall(SYS_fchmod, fd, mode); }

int fchown(int fd, uid_t owner, gid_t group) {
    FAIL(K_MODE, fd, "fchown")
    return syscall(SYS_fchown, fd, owner, group);
}
int flock(int fd, int how_to) {
    FAIL(K_MODE, fd, "flock")
    return syscall(SYS_flock, fd, how_to);
}
ssize_t readlink(const char *path, char *to, size_t bytes) {
    if (!of_system(path)) {
        FAIL(K_STAT, -1, path)
    }
    return syscall(SYS_readlinkat, AT_FDCWD, path, to, bytes);
}

DIR *opendir(const char *path) {
    REAL(opendir);
    int fault = enter(K_FOLDER, -1, path);
    if (fault > 0) { errno = fault; return NULL; }
    return real_opendir(path);
}

/* ---- children, threads, memory, time -------------------------------------------------------- */

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *how_to, char *const arguments[], char *const environment[]) {
    REAL(posix_spawnp);
    int fault = enter(K_SPAWN, -1, file);
    if (fault > 0) return fault;
    return real_posix_spawnp(pid, file, actions, how_to, arguments, environment);
}
pid_t fork(void) {
    REAL(fork);
    FAIL(K_SPAWN, -1, "fork")
    return real_fork();
}
int waitid(idtype_t type, id_t id, siginfo_t *info, int options) {
    FAIL(K_WAIT, -1, "waitid")
    return syscall(SYS_waitid, type, id, info, options, NULL);
}
pid_t waitpid(pid_t pid, int *status, int options) {
    FAIL(K_WAIT, -1, "waitpid")
    return syscall(SYS_wait4, pid, status, options, NULL);
}
int kill(pid_t pid, int signal) { FAIL(K_KILL, -1, "kill") return syscall(SYS_kill, pid, signal); }

int pthread_create(pthread_t *thread, const pthread_attr_t *how_to, void *(*run)(void *), void *with) {
    REAL(pthread_create);
    int fault = enter(K_THREAD, -1, "pthread_create");
    if (fault > 0) return fault;
    return real_pthread_create(thread, how_to, run, with);
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int refused(size_t bytes) {
    if (bytes < ALLOC_MIN || enter(K_ALLOC, -1, "allocation") <= 0) return 0;
    errno = ENOMEM;
    return 1;
}
void *malloc(size_t bytes) { return refused(bytes) ? NULL : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) {
    return refused(count * bytes) ? NULL : __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes) {
    return refused(bytes) ? NULL : __libc_realloc(old, bytes);
}
int posix_memalign(void **to, size_t align, size_t bytes) {
    if (refused(bytes)) return ENOMEM;
    *to = __libc_memalign(align, bytes);
    return *to ? 0 : ENOMEM;
}

int clock_gettime(clockid_t clock, struct timespec *to) {
    static struct timespec stopped[16];
    static _Atomic int jumped;
    int done = syscall(SYS_clock_gettime, clock, to);
    if (clock >= 16 || clock < 0) return done;
    int fault = enter(K_CLOCK, -1, "clock_gettime");
    if (fault == JUMP) jumped = 1;
    if (jumped) to->tv_sec += 86400;
    if (fault == STILL) {
        if (!stopped[clock].tv_sec) stopped[clock] = *to;
        *to = stopped[clock];
    }
    return done;
}
int nanosleep(const struct timespec *time, struct timespec *left) {
    int fault = enter(K_SLEEP, -1, "nanosleep");
    if (fault > 0) { if (left) *left = *time; errno = fault; return -1; }
    return syscall(SYS_nanosleep, time, left);
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    int fault = enter(K_SLEEP, -1, "clock_nanosleep");
    if (fault > 0) { if (left) *left = *time; return fault; }
    return syscall(SYS_clock_nanosleep, clock, flags, time, left) < 0 ? errno : 0;
}

int pipe2(int ends[2], int flags) {
    FAIL(K_PIPE, -1, "pipe2")
    return syscall(SYS_pipe2, ends, flags);
}
int poll(struct pollfd *fds, nfds_t count, int wait) {
    REAL(poll);
    FAIL(K_POLL, -1, "poll")
    return real_poll(fds, count, wait);
}

/* ---- calls that pass the C library by ------------------------------------------------------- */

static long as_system(long done) { return done < 0 ? -errno : done; }

static long trapped(long number, const long *a) {
    switch (number) {
    case SYS_openat: return as_system(do_open(a[0], (char *)a[1], a[2], a[3]));
    case SYS_read: return as_system(read(a[0], (void *)a[1], a[2]));
    case SYS_write: return as_system(write(a[0], (void *)a[1], a[2]));
    case SYS_close: return as_system(close(a[0]));
    case SYS_fsync: return as_system(fsync(a[0]));
    case SYS_fdatasync: return as_system(fdatasync(a[0]));
    case SYS_renameat: return as_system(do_rename(a[0], (char *)a[1], a[2], (char *)a[3], 0));
    case SYS_renameat2: return as_system(do_rename(a[0], (char *)a[1], a[2], (char *)a[3], a[4]));
    case SYS_linkat: return as_system(do_link(a[0], (char *)a[1], a[2], (char *)a[3], a[4]));
    case SYS_unlinkat: return as_system(do_unlink(a[0], (char *)a[1], a[2]));
    case SYS_mkdirat: return as_system(do_mkdir(a[0], (char *)a[1], a[2]));
    case SYS_ftruncate: return as_system(ftruncate(a[0], a[1]));
    case SYS_fchmod: return as_system(fchmod(a[0], a[1]));
    case SYS_waitid: return as_system(waitid(a[0], a[1], (siginfo_t *)a[2], a[3]));
    case SYS_kill: return as_system(kill(a[0], a[1]));
#ifdef SYS_rename
    case SYS_rename: return as_system(rename((char *)a[0], (char *)a[1]));
    case SYS_unlink: return as_system(unlink((char *)a[0]));
    case SYS_mkdir: return as_system(mkdir((char *)a[0], a[1]));
#endif
    default: return -ENOSYS;
    }
}

static const int TRAPPED[] = {
    SYS_openat, SYS_read, SYS_write, SYS_close, SYS_fsync, SYS_fdatasync, SYS_renameat,
    SYS_renameat2, SYS_linkat, SYS_unlinkat, SYS_mkdirat, SYS_ftruncate, SYS_fchmod, SYS_waitid, SYS_kill,
#ifdef SYS_rename
    SYS_rename, SYS_unlink, SYS_mkdir,
#endif
};

#if defined(__x86_64__)
#define AUDIT_ARCH_OURS AUDIT_ARCH_X86_64
static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int before = errno;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    long a[] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9]};
    r[REG_RAX] = trapped(info->si_syscall, a);
    errno = before;
}
#elif defined(__aarch64__)
#define AUDIT_ARCH_OURS AUDIT_ARCH_AARCH64
static void on_trap(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int before = errno;
    unsigned long long *r = ((ucontext_t *)context)->uc_mcontext.regs;
    long a[] = {r[0], r[1], r[2], r[3], r[4], r[5]};
    r[0] = trapped(info->si_syscall, a);
    errno = before;
}
#else
#error "the shim knows x86-64 and ARM64"
#endif

struct range { uint64_t from, to; };

/* The code of the program itself: the first object of the list. */
static int find_code(struct dl_phdr_info *object, size_t size, void *to) {
    (void)size;
    struct range *range = to;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        range->from = object->dlpi_addr + part->p_vaddr;
        range->to = range->from + part->p_memsz;
    }
    return 1;
}

/* Traps the listed calls from the program's code; all others pass. */
static void trap_direct_calls(void) {
    struct range code = {0, 0};
    dl_iterate_phdr(find_code, &code);
    if (!code.to || code.from >> 32 != code.to >> 32) return;
    enum { CALLS = sizeof TRAPPED / sizeof *TRAPPED, LENGTH = 9 + CALLS + 2 };
    struct sock_filter steps[LENGTH];
    int at = 0;
#define STEP(code_, k_, yes, no) steps[at] = (struct sock_filter)BPF_JUMP(code_, k_, yes, no); at++
#define TO(target) ((target) - at - 1)
    enum { ALLOW = 9 + CALLS, TRAP = ALLOW + 1 };
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
    STEP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_OURS, 0, TO(ALLOW));
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4, 0, 0);
    STEP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(code.from >> 32), 0, TO(ALLOW));
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer), 0, 0);
    STEP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)code.from, 0, TO(ALLOW));
    STEP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)code.to, TO(ALLOW), 0);
    STEP(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
    for (int i = 0; i < CALLS; i++) { STEP(BPF_JMP | BPF_JEQ | BPF_K, TRAPPED[i], TO(TRAP), 0); }
    STEP(BPF_JMP | BPF_JA, 0, 0, 0);
    STEP(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
    STEP(BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sock_fprog program = {.len = at, .filter = steps};
    if (sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return;
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* ---- start and end -------------------------------------------------------------------------- */

static int how_of(const char *word) {
    if (!strncmp(word, "short", 5)) return SHORT;
    if (!strncmp(word, "jump", 4)) return JUMP;
    if (!strncmp(word, "still", 5)) return STILL;
    if (!strncmp(word, "kill", 4)) return KILL;
    if (!strncmp(word, "power", 5)) return POWER;
    return atoi(word);
}

__attribute__((constructor)) static void start(void) {
    const char *file = getenv("ANYORDER_SHIM"), *fault = getenv("ANYORDER_SHIM_FAULT");
    if (!file) return;
    inside = 1;
    int fd = syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
    void *map = MAP_FAILED;
    if (fd >= 0) map = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) syscall(SYS_close, fd);
    char word[32] = "";
    if (fault && sscanf(fault, "%d:%lu:%31s", &want_kind, &want_at, word) == 3) {
        how = how_of(word);
        sticky = strchr(word, '+') != NULL;
    }
    power_start();
    /* Children run without the shim. */
    unsetenv("LD_PRELOAD");
    unsetenv("ANYORDER_SHIM");
    unsetenv("ANYORDER_SHIM_FAULT");
    trap_direct_calls();
    inside = 0;
    if (map != MAP_FAILED) shared = map;
}

/* Power may fail after the end, too: what was not synced is not there yet. */
__attribute__((destructor)) static void end(void) { enter(K_EXIT, -1, "exit"); }
