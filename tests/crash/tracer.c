/* What does a process do to the files below one folder, and what if the kernel says no?

   Loaded with LD_PRELOAD. MEMORITER_ROOT names the folder. MEMORITER_TRACE names a file that gets
   every operation below it, in order; images.py reads it. memoriter_fault() (or MEMORITER_FAULT =
   "kinds action n count") makes the n-th matching call fail, fall short, or kill the process.

   Kinds of operation: O open  W write  S sync begins  E sync ended  T truncate  U unlink
                       R rename  D mkdir  C close
   A sync is recorded when it begins and when it ended: it covers what was written before it began,
   and nobody may count on it before it ended. Maps (SQLite's -shm) are not seen; it is rebuilt. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SHORT = -1, KILL_BEFORE = -2, KILL_AFTER = -3, FDS = 65536 };

struct head { uint8_t op; uint8_t zero[3]; int32_t error; int64_t handle, at; uint32_t path, data; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX], kinds[16];
static size_t root_size;
static int out = -1, action;
static int64_t handles[FDS], last_handle;
static long calls, first, count;

#define REAL(type, name, ...)                                                                     \
  static type (*real)(__VA_ARGS__);                                                               \
  if (!real) real = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

void memoriter_fault(const char *what, int how, long n, long times) {
  pthread_mutex_lock(&lock);
  snprintf(kinds, sizeof kinds, "%s", what);
  action = how; first = n; count = times; calls = 0;
  pthread_mutex_unlock(&lock);
}

long memoriter_calls(void) { return calls; }

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("MEMORITER_ROOT"), *trace = getenv("MEMORITER_TRACE");
  const char *fault = getenv("MEMORITER_FAULT");
  if (fault) sscanf(fault, "%15s %d %ld %ld", kinds, &action, &first, &count);
  if (trace)
    out = syscall(SYS_openat, AT_FDCWD, trace, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (folder && realpath(folder, root)) root_size = strlen(root);
}

static int below(const char *path) {
  return root_size && !strncmp(path, root, root_size) &&
         (path[root_size] == '/' || path[root_size] == 0);
}

/* The absolute form of a path, if it lies below the root. */
static const char *inside(int folder, const char *path, char *room) {
  if (!root_size || !path) return NULL;
  if (path[0] == '/') return below(path) ? path : NULL;
  char base[PATH_MAX];
  if (folder == AT_FDCWD) {
    if (!getcwd(base, sizeof base)) return NULL;
  } else {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t size = readlink(link, base, sizeof base - 1);
    if (size < 0) return NULL;
    base[size] = 0;
  }
  if (snprintf(room, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return NULL;
  return below(room) ? room : NULL;
}

static int64_t handle_of(int fd) { return fd >= 0 && fd < FDS ? handles[fd] : 0; }

static void tell(char op, int error, int64_t handle, int64_t at, const char *path,
                 const void *data, size_t size) {
  if (out < 0) return;
  struct head head = {op, {0}, error, handle, at, path ? strlen(path) : 0, size};
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path}, {(void *)data, size}};
  if (syscall(SYS_writev, out, parts, 3) < 0) abort();
}

/* What should happen to this call: 0 nothing special, an errno, or SHORT; kills are done here. */
static int fault(char op) {
  if (!strchr(kinds, op) || !kinds[0]) return 0;
  calls++;
  if (!count || calls < first || calls >= first + count) return 0;
  if (action == KILL_BEFORE) syscall(SYS_kill, getpid(), SIGKILL);
  return action;
}

#define DIES(how) if ((how) == KILL_AFTER) syscall(SYS_kill, getpid(), SIGKILL)

static int opening(int (*real)(int, const char *, int, mode_t), int folder, const char *path,
                   int flags, mode_t mode) {
  char room[PATH_MAX];
  const char *full = inside(folder, path, room);
  if (!full) return real(folder, path, flags, mode);
  pthread_mutex_lock(&lock);
  int how = fault('O');
  int fd = how > 0 ? (errno = how, -1) : real(folder, path, flags, mode);
  int error = errno;
  if (fd >= 0 && fd < FDS) {
    handles[fd] = ++last_handle;
    tell('O', 0, handles[fd], flags, full, NULL, 0);
    DIES(how);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

static int by_syscall(int folder, const char *path, int flags, mode_t mode) {
  return syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE(flags)                                                                               \
  mode_t mode = 0;                                                                                \
  if ((flags) & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags);                     \
    mode = va_arg(more, mode_t); va_end(more); }

int open(const char *path, int flags, ...) { MODE(flags) return opening(by_syscall, AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opening(by_syscall, AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opening(by_syscall, at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opening(by_syscall, at, path, flags, mode); }
int __open_2(const char *path, int flags) { return opening(by_syscall, AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return opening(by_syscall, AT_FDCWD, path, flags, 0); }

int close(int fd) {
  REAL(int, close, int);
  if (!handle_of(fd)) return real(fd);
  pthread_mutex_lock(&lock);
  tell('C', 0, handles[fd], 0, NULL, NULL, 0);
  handles[fd] = 0;
  int result = real(fd);
  pthread_mutex_unlock(&lock);
  return result;
}

/* Every write, in order, with the lock held, so that the trace has the order the file saw. */
static ssize_t writing(int fd, const void *data, size_t size, int64_t at) {
  pthread_mutex_lock(&lock);
  int how = fault('W');
  if (how > 0) { pthread_mutex_unlock(&lock); errno = how; return -1; }
  if (how == SHORT && size > 1) size /= 2;
  int64_t where = at;
  if (at < 0) {
    int flags = fcntl(fd, F_GETFL);
    where = lseek(fd, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
  }
  ssize_t done = at < 0 ? syscall(SYS_write, fd, data, size) : syscall(SYS_pwrite64, fd, data, size, at);
  int error = errno;
  if (done > 0) tell('W', 0, handles[fd], where, NULL, data, done);
  DIES(how);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t write(int fd, const void *data, size_t size) {
  REAL(ssize_t, write, int, const void *, size_t);
  return handle_of(fd) ? writing(fd, data, size, -1) : real(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
  return handle_of(fd) ? writing(fd, data, size, at) : real(fd, data, size, at);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
  return handle_of(fd) ? writing(fd, data, size, at) : real(fd, data, size, at);
}
ssize_t writev(int fd, const struct iovec *parts, int n) {
  REAL(ssize_t, writev, int, const struct iovec *, int);
  if (!handle_of(fd)) return real(fd, parts, n);
  ssize_t total = 0;  /* a short write after the first part is allowed, so parts may go one by one */
  for (int i = 0; i < n; i++) {
    ssize_t done = writing(fd, parts[i].iov_base, parts[i].iov_len, -1);
    if (done < 0) return total ? total : -1;
    total += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return total;
}

static int syncing(int (*real)(int), int fd) {
  pthread_mutex_lock(&lock);
  int64_t handle = handles[fd];
  int how = fault('S');
  tell('S', 0, handle, 0, NULL, NULL, 0);
  pthread_mutex_unlock(&lock);
  int result = how > 0 ? (errno = how, -1) : real(fd);
  int error = errno;
  pthread_mutex_lock(&lock);
  tell('E', result ? error : 0, handle, 0, NULL, NULL, 0);
  DIES(how);
  pthread_mutex_unlock(&lock);
  errno = error;
  return result;
}

int fsync(int fd) { REAL(int, fsync, int); return handle_of(fd) ? syncing(real, fd) : real(fd); }
int fdatasync(int fd) { REAL(int, fdatasync, int); return handle_of(fd) ? syncing(real, fd) : real(fd); }

/* ftruncate, unlink, rename, mkdir: done under the lock, recorded when they worked. */
#define NAMED(op, call, handle, at, path, data, size)                                             \
  pthread_mutex_lock(&lock);                                                                      \
  int how = fault(op), result = how > 0 ? (errno = how, -1) : (call), error = errno;              \
  if (!result) { tell(op, 0, handle, at, path, data, size); DIES(how); }                          \
  pthread_mutex_unlock(&lock);                                                                    \
  errno = error;                                                                                  \
  return result

int ftruncate(int fd, off_t size) {
  if (!handle_of(fd)) return syscall(SYS_ftruncate, fd, size);
  NAMED('T', syscall(SYS_ftruncate, fd, size), handles[fd], size, NULL, NULL, 0);
}
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int unlinkat(int at, const char *path, int flags) {
  char room[PATH_MAX];
  const char *full = inside(at, path, room);
  if (!full) return syscall(SYS_unlinkat, at, path, flags);
  NAMED('U', syscall(SYS_unlinkat, at, path, flags), 0, flags, full, NULL, 0);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
  char room[PATH_MAX], other[PATH_MAX];
  const char *full = inside(from, old, room), *target = inside(to, new, other);
  if (!full || !target) return syscall(SYS_renameat2, from, old, to, new, flags);
  NAMED('R', syscall(SYS_renameat2, from, old, to, new, flags), 0, 0, full, target, strlen(target));
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int mkdir(const char *path, mode_t mode) {
  char room[PATH_MAX];
  const char *full = inside(AT_FDCWD, path, room);
  if (!full) return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  NAMED('D', syscall(SYS_mkdirat, AT_FDCWD, path, mode), 0, 0, full, NULL, 0);
}
