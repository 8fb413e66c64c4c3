/* A disk that fails when it is told to: loaded before the C library, for one process.
 *
 * Counts what changes the disk below one folder - by Python, SQLite and the full-text engine alike -
 * and fails one of these calls, or one and every later one that needs room.
 *
 *   faults_arm(below, at, error, lasting)   fail the call number `at` (from 1; 0: only count)
 *   faults_disarm()                         -> how many calls were counted
 *   faults_what()                           -> the call that failed, and its file's name
 *   faults_trace(file)                      write down every call that is counted, one a line
 *
 * A program that knows nothing of this is told by its environment: FAULTS_BELOW names the folder,
 * FAULTS_ERROR the error, and calls fail for as long as the file FAULTS_SWITCH exists: those that
 * need room where the error is ENOSPC, else all.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static char below[PATH_MAX];
static char what[PATH_MAX + 64];
static atomic_long counted, fail_at;
static atomic_int armed, error_number, lasts;

void faults_arm(const char *folder, long at, int error, int lasting) {
    snprintf(below, sizeof below, "%s/", folder);
    what[0] = 0;
    counted = 0;
    fail_at = at;
    error_number = error;
    lasts = lasting;
    armed = 1;
}

long faults_disarm(void) {
    armed = 0;
    return counted;
}

const char *faults_what(void) { return what; }

static int trace = -1;

int faults_trace(const char *file) {
    return trace = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static char fails_while[PATH_MAX];

__attribute__((constructor)) static void read_environment(void) {
    const char *folder = getenv("FAULTS_BELOW"), *file = getenv("FAULTS_SWITCH");
    const char *error = getenv("FAULTS_ERROR");
    if (!folder || !file || !error) return;
    snprintf(below, sizeof below, "%s/", folder);
    snprintf(fails_while, sizeof fails_while, "%s", file);
    error_number = atoi(error);
    armed = 1;
}

static int is_below(const char *path) { return strncmp(path, below, strlen(below)) == 0; }

/* Whether this call fails; then errno is set. `room`: it needs some of the disk. */
static int fails(const char *call, const char *path, int room) {
    if (!armed || !is_below(path)) return 0;
    if (fails_while[0]) {
        if ((error_number == ENOSPC && !room) || access(fails_while, F_OK)) return 0;
        errno = error_number;
        return 1;
    }
    long number = ++counted;
    if (trace >= 0) dprintf(trace, "%s\t%s\n", call, path + strlen(below));
    if (!fail_at || number < fail_at || (number > fail_at && !(lasts && room))) return 0;
    if (number == fail_at) snprintf(what, sizeof what, "%s %s", call, path + strlen(below));
    errno = error_number;
    return 1;
}

static int descriptor_fails(const char *call, int fd, int room) {
    if (!armed) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return fails(call, path, room);
}

static int relative_fails(const char *call, int folder, const char *name, int room) {
    if (!armed) return 0;
    if (name[0] == '/') return fails(call, name, room);
    char link[64], path[PATH_MAX * 2];
    snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    snprintf(path + length, PATH_MAX, "/%s", name);
    return fails(call, path, room);
}

#define NEXT(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name))

#define BY_DESCRIPTOR(type, name, room, parameters, arguments, ...)      \
    type name parameters {                                              \
        if (descriptor_fails(#name, fd, room)) return -1;               \
        return NEXT(type, #name, __VA_ARGS__) arguments;                \
    }

BY_DESCRIPTOR(ssize_t, write, 1, (int fd, const void *data, size_t size), (fd, data, size), int,
              const void *, size_t)
BY_DESCRIPTOR(ssize_t, pwrite, 1, (int fd, const void *data, size_t size, off_t at),
              (fd, data, size, at), int, const void *, size_t, off_t)
BY_DESCRIPTOR(ssize_t, pwrite64, 1, (int fd, const void *data, size_t size, off64_t at),
              (fd, data, size, at), int, const void *, size_t, off64_t)
BY_DESCRIPTOR(int, fsync, 0, (int fd), (fd), int)
BY_DESCRIPTOR(int, fdatasync, 0, (int fd), (fd), int)
BY_DESCRIPTOR(int, ftruncate, 1, (int fd, off_t size), (fd, size), int, off_t)
BY_DESCRIPTOR(int, ftruncate64, 1, (int fd, off64_t size), (fd, size), int, off64_t)
BY_DESCRIPTOR(int, fchmod, 0, (int fd, mode_t mode), (fd, mode), int, mode_t)
BY_DESCRIPTOR(int, fchown, 0, (int fd, uid_t user, gid_t group), (fd, user, group), int, uid_t, gid_t)
BY_DESCRIPTOR(ssize_t, sendfile, 1, (int fd, int from, off_t *at, size_t size),
              (fd, from, at, size), int, int, off_t *, size_t)
BY_DESCRIPTOR(ssize_t, sendfile64, 1, (int fd, int from, off64_t *at, size_t size),
              (fd, from, at, size), int, int, off64_t *, size_t)

#define BY_PATH(name, room, parameters, arguments, path, ...)            \
    int name parameters {                                               \
        if (relative_fails(#name, AT_FDCWD, path, room)) return -1;     \
        return NEXT(int, #name, __VA_ARGS__) arguments;                 \
    }

BY_PATH(rename, 0, (const char *from, const char *to), (from, to), to, const char *, const char *)
BY_PATH(link, 1, (const char *from, const char *to), (from, to), to, const char *, const char *)
BY_PATH(unlink, 0, (const char *path), (path), path, const char *)
BY_PATH(rmdir, 0, (const char *path), (path), path, const char *)
BY_PATH(mkdir, 1, (const char *path, mode_t mode), (path, mode), path, const char *, mode_t)

#define AT_FOLDER(name, room, parameters, arguments, folder, path, ...)  \
    int name parameters {                                               \
        if (relative_fails(#name, folder, path, room)) return -1;       \
        return NEXT(int, #name, __VA_ARGS__) arguments;                 \
    }

AT_FOLDER(renameat, 0, (int a, const char *from, int b, const char *to), (a, from, b, to), b, to,
          int, const char *, int, const char *)
AT_FOLDER(renameat2, 0, (int a, const char *from, int b, const char *to, unsigned flags),
          (a, from, b, to, flags), b, to, int, const char *, int, const char *, unsigned)
AT_FOLDER(linkat, 1, (int a, const char *from, int b, const char *to, int flags),
          (a, from, b, to, flags), b, to, int, const char *, int, const char *, int)
AT_FOLDER(unlinkat, 0, (int folder, const char *path, int flags), (folder, path, flags), folder,
          path, int, const char *, int)
AT_FOLDER(mkdirat, 1, (int folder, const char *path, mode_t mode), (folder, path, mode), folder,
          path, int, const char *, mode_t)

/* Opening changes the disk only where it makes the file. */
#define OPENING(name)                                                                      \
    int name(const char *path, int flags, ...) {                                           \
        va_list rest;                                                                      \
        va_start(rest, flags);                                                             \
        mode_t mode = va_arg(rest, mode_t);                                                \
        va_end(rest);                                                                      \
        if ((flags & O_CREAT) && access(path, F_OK) &&                                     \
            relative_fails("open", AT_FDCWD, path, 1)) return -1;                          \
        return NEXT(int, #name, const char *, int, ...)(path, flags, mode);                \
    }
OPENING(open)
OPENING(open64)

#define OPENING_AT(name)                                                                   \
    int name(int folder, const char *path, int flags, ...) {                               \
        va_list rest;                                                                      \
        va_start(rest, flags);                                                             \
        mode_t mode = va_arg(rest, mode_t);                                                \
        va_end(rest);                                                                      \
        if ((flags & O_CREAT) && faccessat(folder, path, F_OK, 0) &&                       \
            relative_fails("open", folder, path, 1)) return -1;                            \
        return NEXT(int, #name, int, const char *, int, ...)(folder, path, flags, mode);   \
    }
OPENING_AT(openat)
OPENING_AT(openat64)
