/* Stands between a program and the C library: numbers every call that changes files below one folder, records it with
 * its data, and acts on the n-th: ends the process before or within it, makes it fail, cuts it or delays it. Reads have
 * numbers of their own, and are seen only where READ is among the kinds.
 *
 * Loaded with LD_PRELOAD; idle until `durable_arm`. SQLite's `-shm` file is left out: it is rebuilt after a crash.
 * What the standard library's streams write (`fwrite`) is seen when they are flushed or closed, as the whole file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* kinds of calls: bits, the same as in shim.py */
enum {
    CREATE = 1, CUT = 2, REOPEN = 4, WRITE = 8, RESIZE = 16, RENAME = 32, LINK = 64, UNLINK = 128, MKDIR = 256,
    RMDIR = 512, SYNC = 1024, STREAM = 2048, MARK = 4096, SYMLINK = 8192, READ = 65536
};
enum { RECORD = 0, KILL = 1, TORN = 2, FAIL = 3, SHORT = 4, SLOW = 5, SLOW_ALL = 6 };

struct head {
    uint32_t kind, first, second, data; /* the kind; lengths of two paths and of the data */
    int64_t number, offset;
};

static char root[PATH_MAX];
static size_t root_length;
static int log_fd = -1;
static volatile int armed;
static long counter, reads, at;
static int act, forever, kinds;
static long argument;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static long hits;

#define NEXT(name) \
    static __typeof__(&name) next; \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int64_t ahead, fast_since; /* ns: what the clocks are ahead, and since when they run faster */
static int slow_calls;

void durable_arm(const char *folder, int log, long number, int what, long with, int from_then_on, int of_kinds) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    log_fd = log;
    counter = reads = hits = 0;
    at = number;
    act = what;
    argument = with;
    forever = from_then_on;
    kinds = of_kinds;
    ahead = fast_since = slow_calls = 0;
    armed = 1;
}

void durable_disarm(void) { armed = 0; }
long durable_hits(void) { return hits; }
long durable_count(void) { return counter; }

static void put(const void *data, size_t length) {
    const char *from = data;
    while (length) {
        ssize_t done = syscall(SYS_write, log_fd, from, length);
        if (done <= 0) return;
        from += done;
        length -= (size_t)done;
    }
}

static void record(int kind, long number, const char *first, const char *second, int64_t offset, const void *data,
                   size_t length) {
    if (log_fd < 0) return;
    const char *a = first ? first : "", *b = second ? second : "";
    struct head head = {(uint32_t)kind, (uint32_t)strlen(a), (uint32_t)strlen(b), (uint32_t)length, number, offset};
    put(&head, sizeof head);
    put(a, head.first);
    put(b, head.second);
    put(data, length);
}

static int below(const char *path) {
    size_t length = strlen(path);
    if (strncmp(path, root, root_length) || (path[root_length] != '/' && path[root_length])) return 0;
    return !(length > 4 && !strcmp(path + length - 4, "-shm"));
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return below(path);
}

static int absolute(int folder, const char *given, char *path) {
    char start[PATH_MAX];
    if (!given) return 0;
    if (given[0] == '/') {
        snprintf(path, PATH_MAX, "%s", given);
    } else {
        if (folder == AT_FDCWD) {
            if (!getcwd(start, sizeof start)) return 0;
        } else {
            char link[64];
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
            ssize_t length = readlink(link, start, sizeof start - 1);
            if (length <= 0) return 0;
            start[length] = 0;
        }
        if (snprintf(path, PATH_MAX, "%s/%s", start, given) >= PATH_MAX) return 0;
    }
    return below(path);
}

/* What is to be done with this call: its number, and in `*cut` the bytes of a write that take place (-1: all).
 * Returns 0, or the error with which it fails. */
static int due(int kind, long *number, long *cut) {
    *number = ++counter;
    *cut = -1;
    if (!(kinds & kind) || (forever ? *number < at : *number != at)) return 0;
    if (act == RECORD) return 0;
    hits++;
    if (act == KILL || (act == TORN && kind != WRITE)) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (act == TORN || act == SHORT) *cut = argument;
    return act == FAIL ? (int)argument : 0;
}

/* Virtual time: while a call is slow, the clocks of this process run FASTER times as fast, and its waits with a limit
 * end by them. So a call of 30 s takes 0.75 s, and other threads see 30 s pass. */

#define FASTER 40
#define SLICE 2000000 /* ns between two looks at the clock by those who wait */
static pthread_mutex_t clock_turn = PTHREAD_MUTEX_INITIALIZER;
static int64_t real_now(clockid_t clock) {
    struct timespec now;
    syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static int64_t ahead_now(void) {
    pthread_mutex_lock(&clock_turn);
    int64_t found = ahead + (slow_calls ? (real_now(CLOCK_MONOTONIC) - fast_since) * (FASTER - 1) : 0);
    pthread_mutex_unlock(&clock_turn);
    return found;
}

static void run_clocks(int more) {
    pthread_mutex_lock(&clock_turn);
    int64_t now = real_now(CLOCK_MONOTONIC);
    if (slow_calls) ahead += (now - fast_since) * (FASTER - 1);
    fast_since = now;
    slow_calls += more;
    pthread_mutex_unlock(&clock_turn);
}

static int is_virtual(void) { return armed && act >= SLOW; }

static int64_t of_timespec(const struct timespec *at_time) {
    return at_time->tv_sec * INT64_C(1000000000) + at_time->tv_nsec;
}

static struct timespec to_timespec(int64_t ns) {
    struct timespec found = {ns / 1000000000, ns % 1000000000};
    return found;
}

static void real_sleep(int64_t ns) {
    struct timespec pause_for = to_timespec(ns);
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause_for, NULL);
}

static void wait_if_slow(int kind, long number) {
    int slow = (act == SLOW && number == at) || (act == SLOW_ALL && number >= at);
    if (!slow || !(kinds & kind)) return;
    run_clocks(1);
    real_sleep(argument * INT64_C(1000000) / FASTER);
    run_clocks(-1);
}

int clock_gettime(clockid_t clock, struct timespec *found) {
    int result = (int)syscall(SYS_clock_gettime, clock, found);
    if (!result && is_virtual() && (clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME))
        *found = to_timespec(of_timespec(found) + ahead_now());
    return result;
}

/* Until the virtual time `until` of `clock`, in slices. */
static int sleeping(clockid_t clock, int64_t until) {
    for (int64_t left; (left = until - real_now(clock) - ahead_now()) > 0;)
        real_sleep(left < SLICE ? left : SLICE);
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *asked, struct timespec *left) {
    if (!is_virtual()) return (int)syscall(SYS_clock_nanosleep, clock, flags, asked, left) ? errno : 0;
    int64_t from = flags & TIMER_ABSTIME ? 0 : real_now(clock) + ahead_now();
    return sleeping(clock, from + of_timespec(asked));
}

int nanosleep(const struct timespec *asked, struct timespec *left) {
    if (!is_virtual()) return (int)syscall(SYS_nanosleep, asked, left);
    return sleeping(CLOCK_MONOTONIC, real_now(CLOCK_MONOTONIC) + ahead_now() + of_timespec(asked));
}

int usleep(useconds_t asked) {
    struct timespec pause_for = to_timespec(asked * INT64_C(1000));
    return nanosleep(&pause_for, NULL);
}

/* When a wait really ends: after a slice, or at the virtual time that was asked for. */
static struct timespec slice_of(clockid_t clock, const struct timespec *until, int *whole) {
    int64_t now = real_now(clock), left = of_timespec(until) - now - ahead_now();
    *whole = left <= SLICE;
    return to_timespec(now + (left < 0 ? 0 : left < SLICE ? left : SLICE));
}

int sem_clockwait(sem_t *what, clockid_t clock, const struct timespec *until) {
    NEXT(sem_clockwait);
    if (!is_virtual()) return next(what, clock, until);
    for (;;) {
        int whole;
        struct timespec end = slice_of(clock, until, &whole);
        int result = next(what, clock, &end);
        if (!result || errno != ETIMEDOUT || whole) return result;
    }
}

int sem_timedwait(sem_t *what, const struct timespec *until) { return sem_clockwait(what, CLOCK_REALTIME, until); }

/* A wait for a condition may end for no reason: so a slice does. CPython's conditions are of the monotonic clock. */
int pthread_cond_timedwait(pthread_cond_t *what, pthread_mutex_t *mutex, const struct timespec *until) {
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    if (!next) *(void **)&next = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
    if (!is_virtual()) return next(what, mutex, until);
    int64_t far = of_timespec(until) - real_now(CLOCK_MONOTONIC) - ahead_now();
    clockid_t clock = far < INT64_C(1000000000) * 86400 * 365 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    int whole;
    struct timespec end = slice_of(clock, until, &whole);
    int result = next(what, mutex, &end);
    return result == ETIMEDOUT && !whole ? 0 : result;
}

#define ENTER(kind) \
    long number, cut; \
    pthread_mutex_lock(&turn); \
    int failure = due(kind, &number, &cut); \
    if (act >= SLOW) { pthread_mutex_unlock(&turn); wait_if_slow(kind, number); pthread_mutex_lock(&turn); } \
    if (failure) { pthread_mutex_unlock(&turn); errno = failure; return -1; } \
    (void)cut
#define LEAVE(result) \
    do { int kept = errno; pthread_mutex_unlock(&turn); errno = kept; return result; } while (0)

void durable_mark(const char *text) {
    pthread_mutex_lock(&turn);
    record(MARK, counter, text, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
}

/* opening */

static int open_kind(const char *path, int flags) {
    struct stat found;
    int there = !stat(path, &found);
    if (there && S_ISDIR(found.st_mode)) return 0;
    if (!there) return flags & O_CREAT ? CREATE : 0;
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return 0;
    if (flags & O_TRUNC) return CUT;
    return (flags & O_ACCMODE) == O_RDONLY ? 0 : REOPEN;
}

/* What is to be done with a read of `*length` bytes, which may become fewer. Returns 0, or the error with which it
 * fails. An opening for reading has a length of -1. */
static int due_read(const char *path, ssize_t *length) {
    pthread_mutex_lock(&turn);
    long number = ++reads;
    record(READ, number, path, NULL, *length, NULL, 0);
    int hit = act != RECORD && (forever ? number >= at : number == at);
    hits += hit;
    if (hit && act == SHORT && *length > argument) *length = argument;
    pthread_mutex_unlock(&turn);
    return hit && act == FAIL ? (int)argument : 0;
}

static int reads_fail(int folder, const char *given, int flags) {
    char path[PATH_MAX];
    struct stat found;
    ssize_t length = -1;
    if (!armed || !(kinds & READ) || (flags & O_ACCMODE) != O_RDONLY || !absolute(folder, given, path)) return 0;
    if (stat(path, &found) || !S_ISREG(found.st_mode)) return 0;
    int failure = due_read(path, &length);
    if (failure) errno = failure;
    return failure;
}

static int real_openat(int folder, const char *path, int flags, mode_t mode) {
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}

static int opening(int folder, const char *given, int flags, mode_t mode) {
    char path[PATH_MAX];
    int kind = armed && absolute(folder, given, path) ? open_kind(path, flags) : 0;
    if (!kind) return reads_fail(folder, given, flags) ? -1 : real_openat(folder, given, flags, mode);
    ENTER(kind);
    int fd = real_openat(folder, given, flags, mode);
    if (fd >= 0) record(kind, number, path, NULL, 0, NULL, 0);
    LEAVE(fd);
}

#define MODE \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE return opening(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opening(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE return opening(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE return opening(folder, path, flags | O_LARGEFILE, mode); }
int creat(const char *path, mode_t mode) { return opening(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

/* reading */

static ssize_t reading(int fd, void *data, size_t asked, off_t offset) {
    char path[PATH_MAX];
    ssize_t length = (ssize_t)asked;
    if (armed && (kinds & READ) && path_of(fd, path)) {
        int failure = due_read(path, &length);
        if (failure) { errno = failure; return -1; }
    }
    return offset < 0 ? syscall(SYS_read, fd, data, length) : syscall(SYS_pread64, fd, data, length, offset);
}

ssize_t read(int fd, void *data, size_t length) { return reading(fd, data, length, -1); }
ssize_t pread(int fd, void *data, size_t length, off_t offset) { return reading(fd, data, length, offset); }
ssize_t pread64(int fd, void *data, size_t length, off64_t offset) { return reading(fd, data, length, offset); }

/* Fewer bytes than all parts hold are a short read: the first part alone is read. */
ssize_t readv(int fd, const struct iovec *parts, int count) {
    return count > 0 ? reading(fd, parts->iov_base, parts->iov_len, -1) : 0;
}
ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset) {
    return count > 0 ? reading(fd, parts->iov_base, parts->iov_len, offset) : 0;
}

/* writing */

static ssize_t writing(int fd, const void *data, size_t length, off_t offset) {
    char path[PATH_MAX];
    if (!armed || !path_of(fd, path))
        return offset < 0 ? syscall(SYS_write, fd, data, length) : syscall(SYS_pwrite64, fd, data, length, offset);
    ENTER(WRITE);
    size_t part = cut >= 0 && (size_t)cut < length ? (size_t)cut : length;
    off_t where = offset;
    if (offset < 0) {
        where = lseek(fd, 0, SEEK_CUR);
        struct stat found;
        if ((fcntl(fd, F_GETFL) & O_APPEND) && !fstat(fd, &found)) where = found.st_size;
    }
    ssize_t done = offset < 0 ? syscall(SYS_write, fd, data, part) : syscall(SYS_pwrite64, fd, data, part, offset);
    if (done > 0) record(WRITE, number, path, NULL, where, data, (size_t)done);
    if (act == TORN && cut >= 0) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    LEAVE(done);
}

ssize_t write(int fd, const void *data, size_t length) { return writing(fd, data, length, -1); }
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return writing(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return writing(fd, data, length, offset); }

static ssize_t gathered(int fd, const struct iovec *parts, int count, off_t offset) {
    size_t length = 0, at_byte = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    char *data = malloc(length ? length : 1);
    if (!data) { errno = ENOMEM; return -1; }
    for (int i = 0; i < count; i++) {
        memcpy(data + at_byte, parts[i].iov_base, parts[i].iov_len);
        at_byte += parts[i].iov_len;
    }
    ssize_t done = writing(fd, data, length, offset);
    free(data);
    return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) { return gathered(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return gathered(fd, parts, count, offset); }

/* A copy within the kernel is made as a read and a write. */
static ssize_t copied(int out, int in, off_t *offset, size_t length) {
    size_t most = length < (1 << 20) ? length : (1 << 20);
    char *data = malloc(most ? most : 1);
    if (!data) { errno = ENOMEM; return -1; }
    ssize_t got = offset ? pread(in, data, most, *offset) : read(in, data, most);
    ssize_t done = got > 0 ? writing(out, data, (size_t)got, -1) : got;
    if (offset && done > 0) *offset += done;
    free(data);
    return done;
}

ssize_t sendfile(int out, int in, off_t *offset, size_t length) {
    char path[PATH_MAX];
    if (armed && path_of(out, path)) return copied(out, in, offset, length);
    return syscall(SYS_sendfile, out, in, offset, length);
}
ssize_t sendfile64(int out, int in, off64_t *offset, size_t length) { return sendfile(out, in, (off_t *)offset, length); }
ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
    char path[PATH_MAX];
    if (armed && !to && path_of(out, path)) return copied(out, in, (off_t *)from, length);
    return syscall(SYS_copy_file_range, in, from, out, to, length, flags);
}

static int resizing(int fd, off_t length) {
    char path[PATH_MAX];
    if (!armed || !path_of(fd, path)) return (int)syscall(SYS_ftruncate, fd, length);
    ENTER(RESIZE);
    int result = (int)syscall(SYS_ftruncate, fd, length);
    if (!result) record(RESIZE, number, path, NULL, length, NULL, 0);
    LEAVE(result);
}

int ftruncate(int fd, off_t length) { return resizing(fd, length); }
int ftruncate64(int fd, off64_t length) { return resizing(fd, length); }
int truncate(const char *given, off_t length) {
    char path[PATH_MAX];
    if (!armed || !absolute(AT_FDCWD, given, path)) return (int)syscall(SYS_truncate, given, length);
    ENTER(RESIZE);
    int result = (int)syscall(SYS_truncate, given, length);
    if (!result) record(RESIZE, number, path, NULL, length, NULL, 0);
    LEAVE(result);
}

/* names */

static int renaming(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
    char first[PATH_MAX], second[PATH_MAX];
    int here = armed && absolute(from_folder, from, first);
    int there = armed && absolute(to_folder, to, second);
    if (!here && !there) return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    ENTER(RENAME);
    int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (!result) record(RENAME, number, first, second, 0, NULL, 0);
    LEAVE(result);
}

int rename(const char *from, const char *to) { return renaming(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char *from, int b, const char *to) { return renaming(a, from, b, to, 0); }
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) { return renaming(a, from, b, to, flags); }

int linkat(int a, const char *from, int b, const char *to, int flags) {
    char first[PATH_MAX], second[PATH_MAX];
    if (!armed || !absolute(b, to, second)) return (int)syscall(SYS_linkat, a, from, b, to, flags);
    absolute(a, from, first);
    ENTER(LINK);
    int result = (int)syscall(SYS_linkat, a, from, b, to, flags);
    if (!result) record(LINK, number, first, second, 0, NULL, 0);
    LEAVE(result);
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int symlinkat(const char *to, int folder, const char *given) {
    char path[PATH_MAX];
    if (!armed || !absolute(folder, given, path)) return (int)syscall(SYS_symlinkat, to, folder, given);
    ENTER(SYMLINK);
    int result = (int)syscall(SYS_symlinkat, to, folder, given);
    if (!result) record(SYMLINK, number, path, to, 0, NULL, 0);
    LEAVE(result);
}
int symlink(const char *to, const char *given) { return symlinkat(to, AT_FDCWD, given); }

static int removing(int folder, const char *given, int flags) {
    char path[PATH_MAX];
    int kind = flags & AT_REMOVEDIR ? RMDIR : UNLINK;
    if (!armed || !absolute(folder, given, path) || faccessat(folder, given, F_OK, AT_SYMLINK_NOFOLLOW))
        return (int)syscall(SYS_unlinkat, folder, given, flags);
    ENTER(kind);
    int result = (int)syscall(SYS_unlinkat, folder, given, flags);
    if (!result) record(kind, number, path, NULL, 0, NULL, 0);
    LEAVE(result);
}

int unlink(const char *path) { return removing(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return removing(folder, path, flags); }
int rmdir(const char *path) { return removing(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    struct stat found;
    return removing(AT_FDCWD, path, !lstat(path, &found) && S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int folder, const char *given, mode_t mode) {
    char path[PATH_MAX];
    if (!armed || !absolute(folder, given, path) || !faccessat(folder, given, F_OK, 0))
        return (int)syscall(SYS_mkdirat, folder, given, mode);
    ENTER(MKDIR);
    int result = (int)syscall(SYS_mkdirat, folder, given, mode);
    if (!result) record(MKDIR, number, path, NULL, 0, NULL, 0);
    LEAVE(result);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* syncing */

static int syncing(int fd, long call) {
    char path[PATH_MAX];
    if (!armed || !path_of(fd, path)) return (int)syscall(call, fd);
    ENTER(SYNC);
    int result = (int)syscall(call, fd);
    if (!result) record(SYNC, number, path, NULL, 0, NULL, 0);
    LEAVE(result);
}

int fsync(int fd) { return syncing(fd, SYS_fsync); }
int fdatasync(int fd) { return syncing(fd, SYS_fdatasync); }

/* streams: their bytes pass inside the C library, so the file is taken as it is after the flush */

static void record_whole(const char *path, long number) {
    int fd = real_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    struct stat found;
    if (fd < 0) return;
    if (!fstat(fd, &found) && S_ISREG(found.st_mode)) {
        char *data = malloc(found.st_size ? (size_t)found.st_size : 1);
        ssize_t got = data ? syscall(SYS_pread64, fd, data, (size_t)found.st_size, 0) : -1;
        if (got >= 0) record(STREAM, number, path, NULL, found.st_size, data, (size_t)got);
        free(data);
    }
    syscall(SYS_close, fd);
}

static int writes(FILE *stream, char *path) {
    int fd = armed && stream ? fileno(stream) : -1;
    return fd >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY && path_of(fd, path);
}

int fflush(FILE *stream) {
    NEXT(fflush);
    char path[PATH_MAX];
    if (!writes(stream, path)) return next(stream);
    ENTER(STREAM);
    int result = next(stream);
    record_whole(path, number);
    LEAVE(result);
}

int fclose(FILE *stream) {
    NEXT(fclose);
    char path[PATH_MAX];
    if (!writes(stream, path)) return next(stream);
    pthread_mutex_lock(&turn);
    long number, cut;
    int failure = due(STREAM, &number, &cut);
    int result = next(stream);
    record_whole(path, number);
    pthread_mutex_unlock(&turn);
    if (failure) { errno = failure; return EOF; }
    return result;
}
