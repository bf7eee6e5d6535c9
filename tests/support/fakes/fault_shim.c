// Makes chosen system calls of a program fail, slow or short, or counts them: LD_PRELOAD=.../fault_shim.so. Tests only.
//
// TRAINRT_FAULTS = RULE[,RULE]...      RULE = FUNCTION:FAULT[:PATHPART[:AFTER[:COUNT]]]
//   FUNCTION  open openat openat2 read pread write pwrite fsync fdatasync close rename renameat renameat2 link linkat mkdir
//             mkdirat unlink unlinkat rmdir fallocate ftruncate flock stat lstat fstat fstatat access opendir readdir; a name
//             includes its ...64 form. "open", "rename", "link", "mkdir", "unlink" and "lstat" include their ...at forms, and
//             openat2 and renameat2.
//   FAULT     the name of an errno: the call fails and is not made; only close() is made. After EINTR, the next try passes.
//             short: transfers half of the bytes. slow=MS: sleeps for MS milliseconds first. end: a readdir returns no more names.
//   PATHPART  a part of the path, or the end of the path if PATHPART ends with '$'; empty: any path. For a call on a descriptor,
//             this is the path of the descriptor; for a rename, either of the two paths.
//   AFTER     number of matching calls that pass first (0).  COUNT: number of calls that are hit then (all).
//   Example: pwrite:ENOSPC:shard-:3:1,fsync:slow=200
// TRAINRT_COUNT_CALLS = FILE: when the process exits (not by _exit), it writes a line "NAME COUNT" for each function into
// FILE; %p in FILE is the pid.
// TRAINRT_COUNT_PATH: counts only calls with a path that contains it.
//
// An open with O_PATH only looks up a path for a later call. It is not counted, and only rules for openat2 hit it.
// Calls inside the C library (fopen, std::fstream, getdents) are not seen. A rule that cannot be read ends the
// process with 97.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum function {
  OPEN, OPENAT, READ, PREAD, WRITE, PWRITE, FSYNC, FDATASYNC, CLOSE, RENAME, RENAMEAT, RENAMEAT2, LINK, LINKAT, MKDIR,
  MKDIRAT, UNLINK, UNLINKAT, RMDIR, FALLOCATE, FTRUNCATE, FLOCK, STAT, LSTAT, FSTAT, FSTATAT, ACCESS, OPENDIR,
  READDIR, OPENAT2, FUNCTIONS
};

static const struct {
  const char *name, *group;
} functions[FUNCTIONS] = {
    [OPEN] = {"open", "open"},          [OPENAT] = {"openat", "open"},       [READ] = {"read", "read"},
    [PREAD] = {"pread", "pread"},       [WRITE] = {"write", "write"},        [PWRITE] = {"pwrite", "pwrite"},
    [FSYNC] = {"fsync", "fsync"},       [FDATASYNC] = {"fdatasync", ""},     [CLOSE] = {"close", "close"},
    [RENAME] = {"rename", "rename"},    [RENAMEAT] = {"renameat", "rename"}, [RENAMEAT2] = {"renameat2", "rename"},
    [LINK] = {"link", "link"},          [LINKAT] = {"linkat", "link"},       [MKDIR] = {"mkdir", "mkdir"},
    [MKDIRAT] = {"mkdirat", "mkdir"},   [UNLINK] = {"unlink", "unlink"},     [UNLINKAT] = {"unlinkat", "unlink"},
    [RMDIR] = {"rmdir", ""},            [FALLOCATE] = {"fallocate", ""},     [FTRUNCATE] = {"ftruncate", ""},
    [FLOCK] = {"flock", ""},            [STAT] = {"stat", ""},               [LSTAT] = {"lstat", ""},
    [FSTAT] = {"fstat", ""},            [FSTATAT] = {"fstatat", "lstat"},         [ACCESS] = {"access", ""},
    [OPENDIR] = {"opendir", ""},        [READDIR] = {"readdir", ""},       [OPENAT2] = {"openat2", "open"},
};

static const struct {
  const char *name;
  int number;
} errors[] = {
    {"ENOSPC", ENOSPC}, {"EIO", EIO},         {"EINTR", EINTR},   {"EACCES", EACCES}, {"EPERM", EPERM},
    {"ENOSYS", ENOSYS}, {"EDQUOT", EDQUOT},   {"ESTALE", ESTALE}, {"EINVAL", EINVAL}, {"EOPNOTSUPP", EOPNOTSUPP},
    {"EROFS", EROFS},   {"ENOTSUP", ENOTSUP}, {"ENOENT", ENOENT}, {"EEXIST", EEXIST}, {"EMFILE", EMFILE},
    {"EAGAIN", EAGAIN}, {"ENOMEM", ENOMEM},   {"EBUSY", EBUSY},   {"EXDEV", EXDEV},   {"ENOLCK", ENOLCK},
    {"EFBIG", EFBIG},   {"ENFILE", ENFILE},   {"ETIMEDOUT", ETIMEDOUT},
    {"EHOSTDOWN", EHOSTDOWN}, {"ENOTCONN", ENOTCONN},
};

struct rule {
  const char *function, *path_part;
  int error, slow_ms;
  bool shortened, ended;
  unsigned long after, count;
  atomic_ulong seen;
};

enum { MAX_RULES = 32 };
static struct rule rules[MAX_RULES];
static int rule_count;
static const char *count_file, *count_path;
static atomic_ulong counts[FUNCTIONS];
static __thread bool interrupted[MAX_RULES];  // this thread's last call failed with EINTR, so the next one passes

// --- reading the environment -------------------------------------------------------------------------------------------
static void refuse(const char *rule) {
  fprintf(stderr, "fault_shim: cannot read the rule '%s' of TRAINRT_FAULTS\n", rule);
  _exit(97);
}

static bool known_function(const char *name) {
  for (int i = 0; i < FUNCTIONS; ++i)
    if (strcmp(functions[i].name, name) == 0) return true;
  return false;
}

static bool read_number(const char *text, unsigned long *number) {
  if (text == NULL) return true;
  char *end;
  *number = strtoul(text, &end, 10);
  return *text != '\0' && *end == '\0';
}

static bool read_what(const char *what, struct rule *rule) {
  rule->shortened = strcmp(what, "short") == 0;
  rule->ended = strcmp(what, "end") == 0;
  unsigned long ms = 0;
  if (strncmp(what, "slow=", 5) == 0 && !read_number(what + 5, &ms)) return false;
  rule->slow_ms = (int)ms;
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (strcmp(errors[i].name, what) == 0) rule->error = errors[i].number;
  return rule->shortened || rule->ended || rule->slow_ms > 0 || rule->error != 0;
}

static bool read_rule(char *text, struct rule *rule) {
  rule->function = strsep(&text, ":");
  const char *what = strsep(&text, ":");
  const char *part = strsep(&text, ":");
  const char *after = strsep(&text, ":");
  const char *count = strsep(&text, ":");
  rule->path_part = part == NULL ? "" : part;
  rule->count = ULONG_MAX;
  return what != NULL && text == NULL && known_function(rule->function) && read_what(what, rule) &&
         read_number(after, &rule->after) && read_number(count, &rule->count);
}

__attribute__((constructor)) static void begin(void) {
  count_file = getenv("TRAINRT_COUNT_CALLS");
  count_path = getenv("TRAINRT_COUNT_PATH");
  const char *faults = getenv("TRAINRT_FAULTS");
  if (faults == NULL || *faults == '\0') return;
  char *rest = strdup(faults), *text;
  while ((text = strsep(&rest, ",")) != NULL) {
    char *whole = strdup(text);
    if (rule_count == MAX_RULES || !read_rule(text, &rules[rule_count])) refuse(whole);
    free(whole);
    ++rule_count;
  }
}

static void write_counts(void) {
  if (count_file == NULL) return;
  char path[PATH_MAX];
  const char *mark = strstr(count_file, "%p");
  if (mark == NULL) snprintf(path, sizeof path, "%s", count_file);
  else snprintf(path, sizeof path, "%.*s%d%s", (int)(mark - count_file), count_file, (int)getpid(), mark + 2);
  FILE *file = fopen(path, "w");
  if (file == NULL) return;
  for (int i = 0; i < FUNCTIONS; ++i) fprintf(file, "%s %lu\n", functions[i].name, (unsigned long)counts[i]);
  fclose(file);
}

__attribute__((destructor)) static void end(void) { write_counts(); }

// --- which calls fail ------------------------------------------------------------------------------------------------------
struct call {
  enum function function;
  int fd, other_fd;          // the file, or the directory of a relative path; -1: no descriptor
  const char *path, *other;  // its path arguments
  size_t *bytes;             // number of bytes to transfer
  bool *ended;               // set at the end of a listing
  bool is_lookup;            // opens with O_PATH
};

static bool matches(const char *path, const char *part) {
  const size_t length = strlen(part), all = strlen(path);
  if (part[length - 1] != '$') return strstr(path, part) != NULL;
  return all >= length - 1 && strncmp(path + all - (length - 1), part, length - 1) == 0;
}

// Returns whether `part` matches the path of a call: `path`, relative to the directory `fd` if there is one, or the
// path of `fd` if `path` is NULL.
static bool one_contains(int fd, const char *path, const char *part) {
  if (fd < 0 || (path != NULL && path[0] == '/')) return path != NULL && matches(path, part);
  char link[64], target[2 * PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, target, PATH_MAX);
  if (length < 0) return false;
  target[length] = '\0';
  if (path != NULL) snprintf(target + length, PATH_MAX, "/%s", path);
  return matches(target, part);
}

static bool path_contains(const struct call *call, const char *part) {
  if (part == NULL || *part == '\0') return true;
  return one_contains(call->fd, call->path, part) || (call->other != NULL && one_contains(call->other_fd, call->other, part));
}

static bool rule_hits(struct rule *rule, int index, const struct call *call) {
  const char *name = functions[call->function].name, *group = functions[call->function].group;
  if (strcmp(rule->function, name) != 0 && (strcmp(rule->function, group) != 0 || call->is_lookup)) return false;
  if (!path_contains(call, rule->path_part)) return false;
  if (interrupted[index]) return interrupted[index] = false;
  const unsigned long seen = atomic_fetch_add(&rule->seen, 1);
  const bool hit = seen >= rule->after && seen - rule->after < rule->count;
  interrupted[index] = hit && rule->error == EINTR;
  return hit;
}

static void sleep_ms(int ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
  while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

// Direct I/O requires multiples of a sector.
static size_t half_of(size_t bytes) { return bytes >= 1024 ? bytes / 2 / 512 * 512 : bytes > 1 ? bytes / 2 : bytes; }

/// Returns the errno with which this call must fail, or 0 to let it pass.
static int fault_of(const struct call *call) {
  if (count_file != NULL && !call->is_lookup && path_contains(call, count_path)) atomic_fetch_add(&counts[call->function], 1);
  const int before = errno;
  int error = 0;
  for (int i = 0; i < rule_count && error == 0; ++i) {
    if (!rule_hits(&rules[i], i, call)) continue;
    if (rules[i].slow_ms > 0) sleep_ms(rules[i].slow_ms);
    if (rules[i].shortened && call->bytes != NULL) *call->bytes = half_of(*call->bytes);
    if (rules[i].ended && call->ended != NULL) *call->ended = true;
    error = rules[i].error;
  }
  errno = error != 0 ? error : before;
  return error;
}

// --- the replaced functions -----------------------------------------------------------------------------------------------------
static void *real(enum function function) {
  static _Atomic(void *) found[FUNCTIONS];
  void *address = atomic_load_explicit(&found[function], memory_order_acquire);
  if (address == NULL) {
    address = dlsym(RTLD_NEXT, function == OPENAT2 ? "syscall" : functions[function].name);
    if (address == NULL) abort();
    atomic_store_explicit(&found[function], address, memory_order_release);
  }
  return address;
}

// INTERCEPT(ID, fields of struct call after `function`, result of a call that fails, result type, name, parameters,
// arguments)
#define INTERCEPT(id, call_fields, failure, type, name, parameters, arguments)        \
  type name parameters {                                                              \
    const struct call call = {.function = id, call_fields};                           \
    if (fault_of(&call) != 0) return failure;                                         \
    return ((type(*) parameters)real(id)) arguments;                                  \
  }
#define FIELDS(...) __VA_ARGS__
#define ON_PATH(argument) FIELDS(.fd = -1, .path = argument)
#define ON_FD(argument) FIELDS(.fd = argument)

static bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if ((flags & O_PATH) != 0) return ((int (*)(const char *, int, ...))real(OPEN))(path, flags, mode);
  const struct call call = {.function = OPEN, .fd = -1, .path = path};
  if (fault_of(&call) != 0) return -1;
  return ((int (*)(const char *, int, ...))real(OPEN))(path, flags, mode);
}

int openat(int fd, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const struct call call = {.function = OPENAT, .fd = fd, .path = path, .is_lookup = (flags & O_PATH) != 0};
  if (fault_of(&call) != 0) return -1;
  return ((int (*)(int, const char *, int, ...))real(OPENAT))(fd, path, flags, mode);
}

// The C library has no function for openat2(2).
long syscall(long number, ...) {
  va_list rest;
  va_start(rest, number);
  long word[6];
  for (int i = 0; i < 6; ++i) word[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_openat2) {
    const unsigned long long flags = *(const unsigned long long *)word[2];  // the first field of struct open_how
    const struct call call = {.function = OPENAT2, .fd = (int)word[0], .path = (const char *)word[1], .is_lookup = (flags & O_PATH) != 0};
    if (fault_of(&call) != 0) return -1;
  }
  return ((long (*)(long, ...))real(OPENAT2))(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

int close(int fd) {
  const struct call call = {.function = CLOSE, .fd = fd};
  const int fault = fault_of(&call);
  const int result = ((int (*)(int))real(CLOSE))(fd);  // a failed close() has still closed the descriptor
  if (fault == 0) return result;
  errno = fault;
  return -1;
}

#define MOVES(argument) FIELDS(.fd = argument, .bytes = &count)
INTERCEPT(READ, MOVES(fd), -1, ssize_t, read, (int fd, void *bytes, size_t count), (fd, bytes, count))
INTERCEPT(WRITE, MOVES(fd), -1, ssize_t, write, (int fd, const void *bytes, size_t count), (fd, bytes, count))
INTERCEPT(PREAD, MOVES(fd), -1, ssize_t, pread, (int fd, void *bytes, size_t count, off_t at), (fd, bytes, count, at))
INTERCEPT(PWRITE, MOVES(fd), -1, ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at),
          (fd, bytes, count, at))

INTERCEPT(FSYNC, ON_FD(fd), -1, int, fsync, (int fd), (fd))
INTERCEPT(FDATASYNC, ON_FD(fd), -1, int, fdatasync, (int fd), (fd))
INTERCEPT(FALLOCATE, ON_FD(fd), -1, int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
INTERCEPT(FTRUNCATE, ON_FD(fd), -1, int, ftruncate, (int fd, off_t size), (fd, size))
INTERCEPT(FLOCK, ON_FD(fd), -1, int, flock, (int fd, int operation), (fd, operation))

#define ON_PATHS(first, second) FIELDS(.fd = -1, .other_fd = -1, .path = first, .other = second)
#define AT_PATHS(at, first, to_at, second) FIELDS(.fd = at, .other_fd = to_at, .path = first, .other = second)
INTERCEPT(RENAME, ON_PATHS(from, to), -1, int, rename, (const char *from, const char *to), (from, to))
INTERCEPT(RENAMEAT, AT_PATHS(at, from, to_at, to), -1, int, renameat, (int at, const char *from, int to_at, const char *to),
          (at, from, to_at, to))
INTERCEPT(RENAMEAT2, AT_PATHS(at, from, to_at, to), -1, int, renameat2,
          (int at, const char *from, int to_at, const char *to, unsigned flags), (at, from, to_at, to, flags))
INTERCEPT(LINK, ON_PATHS(from, to), -1, int, link, (const char *from, const char *to), (from, to))
INTERCEPT(LINKAT, AT_PATHS(at, from, to_at, to), -1, int, linkat, (int at, const char *from, int to_at, const char *to, int flags),
          (at, from, to_at, to, flags))

#define AT(directory, argument) FIELDS(.fd = directory, .path = argument)
INTERCEPT(MKDIR, ON_PATH(path), -1, int, mkdir, (const char *path, mode_t mode), (path, mode))
INTERCEPT(MKDIRAT, AT(at, path), -1, int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
INTERCEPT(UNLINK, ON_PATH(path), -1, int, unlink, (const char *path), (path))
INTERCEPT(UNLINKAT, AT(at, path), -1, int, unlinkat, (int at, const char *path, int flags), (at, path, flags))
INTERCEPT(RMDIR, ON_PATH(path), -1, int, rmdir, (const char *path), (path))
INTERCEPT(STAT, ON_PATH(path), -1, int, stat, (const char *path, struct stat *info), (path, info))
INTERCEPT(LSTAT, ON_PATH(path), -1, int, lstat, (const char *path, struct stat *info), (path, info))
INTERCEPT(FSTAT, ON_FD(fd), -1, int, fstat, (int fd, struct stat *info), (fd, info))
INTERCEPT(FSTATAT, AT(at, path), -1, int, fstatat, (int at, const char *path, struct stat *info, int flags),
          (at, path, info, flags))
INTERCEPT(ACCESS, ON_PATH(path), -1, int, access, (const char *path, int mode), (path, mode))
INTERCEPT(OPENDIR, ON_PATH(path), NULL, DIR *, opendir, (const char *path), (path))

struct dirent *readdir(DIR *directory) {
  bool ended = false;
  const struct call call = {.function = READDIR, .fd = dirfd(directory), .ended = &ended};
  if (fault_of(&call) != 0 || ended) return NULL;
  return ((struct dirent * (*)(DIR *))real(READDIR))(directory);
}

// On 64-bit Linux the ...64 names are the same functions.
#define SAME(name) __attribute__((alias(name)))
int open64(const char *path, int flags, ...) SAME("open");
int openat64(int fd, const char *path, int flags, ...) SAME("openat");
ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) SAME("pread");
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) SAME("pwrite");
int fallocate64(int fd, int mode, off64_t at, off64_t size) SAME("fallocate");
int ftruncate64(int fd, off64_t size) SAME("ftruncate");
struct dirent64 *readdir64(DIR *directory) { return (struct dirent64 *)readdir(directory); }
int stat64(const char *path, struct stat64 *info) { return stat(path, (struct stat *)info); }
int lstat64(const char *path, struct stat64 *info) { return lstat(path, (struct stat *)info); }
int fstat64(int fd, struct stat64 *info) { return fstat(fd, (struct stat *)info); }
int fstatat64(int at, const char *path, struct stat64 *info, int flags) {
  return fstatat(at, path, (struct stat *)info, flags);
}
