/* A loss of power, simulated: a file system that keeps only what was synced.
 *
 * It remembers each file that was written, with the length at its last fsync, and each name that
 * was made, renamed or removed in a folder without an fsync of the folder since. When the power
 * fails, each of them may have reached the disk or not, by the seed, independently of all others;
 * then the program ends at once with status 137. What a rename replaced and what an unlink removed
 * is kept by a hard link in another folder until then.
 */

enum { FILES = 256, CHANGES = 512, SPARE_FD = 500 };
enum change_kind { CREATED, RENAMED, REMOVED };

struct written { int spare; dev_t device; ino_t inode; off_t synced; int dirty; };
struct change {
    enum change_kind kind;
    int durable;
    ino_t inode;
    char path[PATH_MAX], from[PATH_MAX], kept[PATH_MAX];
};

static struct written *written;
static struct change *changes;
static int written_count, changes_count, kept_count;
static char kept_folder[PATH_MAX], kept_last[PATH_MAX];
static uint64_t power_seed;
static pthread_mutex_t power_lock = PTHREAD_MUTEX_INITIALIZER;

static void power_start(void) {
    const char *kept = getenv("ANYORDER_SHIM_KEPT"), *seed = getenv("ANYORDER_SHIM_SEED");
    if (how != POWER || !kept) return;
    strncpy(kept_folder, kept, sizeof kept_folder - 1);
    power_seed = seed ? strtoull(seed, NULL, 10) : 0;
    enum { USE = PROT_READ | PROT_WRITE, KIND = MAP_PRIVATE | MAP_ANONYMOUS };
    written = mmap(NULL, FILES * sizeof *written, USE, KIND, -1, 0);
    changes = mmap(NULL, CHANGES * sizeof *changes, USE, KIND, -1, 0);
}

static uint64_t power_random(void) {
    power_seed += 0x9e3779b97f4a7c15u;
    uint64_t z = power_seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* The whole path of a name: its folder with all links resolved. */
static void whole_path(int at, const char *path, char *to) {
    char folder[PATH_MAX], base[PATH_MAX], link[64];
    ssize_t length = 0;
    base[0] = 0;
    if (*path != '/') {
        if (at == AT_FDCWD) {
            if (syscall(SYS_getcwd, base, sizeof base) < 0) base[0] = 0;
        } else {
            snprintf(link, sizeof link, "/proc/self/fd/%d", at);
            length = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1);
            base[length > 0 ? length : 0] = 0;
        }
        strncat(base, "/", sizeof base - strlen(base) - 1);
    }
    strncat(base, path, sizeof base - strlen(base) - 1);
    char *name = strrchr(base, '/');
    *name++ = 0;
    inside++;
    if (!realpath(*base ? base : "/", folder)) strcpy(folder, base);
    inside--;
    snprintf(to, PATH_MAX, "%.3000s/%.1000s", strcmp(folder, "/") ? folder : "", name);
}

static ino_t inode_of(const char *path) {
    struct stat now;
    return syscall(SYS_newfstatat, AT_FDCWD, path, &now, AT_SYMLINK_NOFOLLOW) ? 0 : now.st_ino;
}

static struct written *written_of(int fd) {
    struct stat now;
    if (!written || syscall(SYS_fstat, fd, &now)) return NULL;
    for (int i = 0; i < written_count; i++)
        if (written[i].inode == now.st_ino && written[i].device == now.st_dev) return &written[i];
    return NULL;
}

static struct change *power_change(enum change_kind kind, int at, const char *path) {
    if (!changes || changes_count == CHANGES) return NULL;
    struct change *change = &changes[changes_count];
    whole_path(at, path, change->path);
    change->kind = kind;
    change->inode = inode_of(change->path);
    changes_count++;
    return change;
}

static void power_created(int at, const char *path) {
    pthread_mutex_lock(&power_lock);
    power_change(CREATED, at, path);
    pthread_mutex_unlock(&power_lock);
}

static void power_opened(int fd, int at, const char *path, int flags, int existed) {
    struct stat now;
    if (!written || syscall(SYS_fstat, fd, &now) || !S_ISREG(now.st_mode)) return;
    pthread_mutex_lock(&power_lock);
    if (!existed) power_change(CREATED, at, path);
    struct written *file = written_of(fd);
    if (!file && written_count < FILES) {
        file = &written[written_count++];
        int spare = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, SPARE_FD);
        *file = (struct written){spare, now.st_dev, now.st_ino, now.st_size, 0};
    }
    if (file && (!existed || flags & O_TRUNC)) { file->synced = 0; file->dirty = 1; }
    pthread_mutex_unlock(&power_lock);
}

static void power_written(int fd) {
    pthread_mutex_lock(&power_lock);
    struct written *file = written_of(fd);
    if (file) file->dirty = 1;
    pthread_mutex_unlock(&power_lock);
}

/* A file keeps its bytes, a folder its names. */
static void power_synced(int fd) {
    struct stat now;
    if (!written || syscall(SYS_fstat, fd, &now)) return;
    pthread_mutex_lock(&power_lock);
    struct written *file = written_of(fd);
    if (file) { file->synced = now.st_size; file->dirty = 0; }
    if (S_ISDIR(now.st_mode)) {
        for (int i = 0; i < changes_count; i++) {
            char folder[PATH_MAX];
            strcpy(folder, changes[i].path);
            *strrchr(folder, '/') = 0;
            if (inode_of(*folder ? folder : "/") == now.st_ino) changes[i].durable = 1;
        }
    }
    pthread_mutex_unlock(&power_lock);
}

/* Keeps the file that is about to be replaced or removed. */
static void power_before_replace(int at, const char *path) {
    if (!changes) return;
    pthread_mutex_lock(&power_lock);
    char whole[PATH_MAX];
    whole_path(at, path, whole);
    snprintf(kept_last, sizeof kept_last, "%.3000s/%d", kept_folder, kept_count++);
    if (syscall(SYS_linkat, AT_FDCWD, whole, AT_FDCWD, kept_last, 0)) kept_last[0] = 0;
    pthread_mutex_unlock(&power_lock);
}

static void power_renamed(int from_at, const char *from, int to_at, const char *to) {
    pthread_mutex_lock(&power_lock);
    struct change *change = power_change(RENAMED, to_at, to);
    if (change) { whole_path(from_at, from, change->from); strcpy(change->kept, kept_last); }
    pthread_mutex_unlock(&power_lock);
}

static void power_removed(int at, const char *path) {
    pthread_mutex_lock(&power_lock);
    struct change *change = power_change(REMOVED, at, path);
    if (change) strcpy(change->kept, kept_last);
    pthread_mutex_unlock(&power_lock);
}

static void undo(const struct change *change) {
    const char *path = change->path;
    if (change->kind == REMOVED) {
        if (*change->kept && !inode_of(path)) syscall(SYS_linkat, AT_FDCWD, change->kept, AT_FDCWD, path, 0);
        return;
    }
    if (inode_of(path) != change->inode) return; /* a later change has taken the name */
    if (change->kind == CREATED) {
        if (syscall(SYS_unlinkat, AT_FDCWD, path, 0)) syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
        return;
    }
    syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, change->from, 0);
    if (*change->kept) syscall(SYS_linkat, AT_FDCWD, change->kept, AT_FDCWD, path, 0);
}

/* Leaves one of the states that the disk may have, and ends the program. */
static void power_fails(void) {
    pthread_mutex_lock(&power_lock);
    uint64_t world = power_random() % 4; /* 0: nothing unsynced; 1: all names, no data; else mixed */
    for (int i = 0; i < written_count; i++) {
        struct stat now;
        if (!written[i].dirty || syscall(SYS_fstat, written[i].spare, &now)) continue;
        uint64_t state = world < 2 ? 0 : power_random() % 4;
        off_t lost = now.st_size - written[i].synced;
        if (lost <= 0 || state == 3) continue; /* it reached the disk */
        off_t left = state == 2 ? (off_t)(power_random() % (uint64_t)lost) : 0;
        syscall(SYS_ftruncate, written[i].spare, written[i].synced + left);
        if (state == 1) syscall(SYS_ftruncate, written[i].spare, now.st_size); /* zeros */
    }
    for (int i = changes_count - 1; i >= 0; i--) {
        int undone = world == 0 || (world > 1 && power_random() % 2);
        if (!changes[i].durable && undone) undo(&changes[i]);
    }
    syscall(SYS_exit_group, 137);
}
