// Functions that portable programs and modules contain, because glibc 2.28 lacks them or because their library is left out.
//
// The headers of a newer glibc and the archives of the system call these functions. link_portable.py links this file, which must be compiled
// with hidden visibility: other libraries of a process keep the functions of their libc.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// --- glibc 2.29 to 2.36 ---------------------------------------------------------------------------------------------------

// glibc 2.33: older versions have only __xstat() and the like, which also take the version of struct stat.
enum { stat_version = 1 };
int __xstat(int version, const char* path, struct stat* to);
int __lxstat(int version, const char* path, struct stat* to);
int __fxstat(int version, int file, struct stat* to);
int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags);
int __xmknod(int version, const char* path, mode_t mode, dev_t* device);
int stat(const char* path, struct stat* to) { return __xstat(stat_version, path, to); }
int lstat(const char* path, struct stat* to) { return __lxstat(stat_version, path, to); }
int fstat(int file, struct stat* to) { return __fxstat(stat_version, file, to); }
int fstatat(int folder, const char* path, struct stat* to, int flags) { return __fxstatat(stat_version, folder, path, to, flags); }
int mknod(const char* path, mode_t mode, dev_t device) { return __xmknod(0, path, mode, &device); }
// On 64-bit systems, struct stat64 is the same as struct stat.
int stat64(const char* path, struct stat64* to) { return stat(path, (struct stat*)to); }
int lstat64(const char* path, struct stat64* to) { return lstat(path, (struct stat*)to); }
int fstat64(int file, struct stat64* to) { return fstat(file, (struct stat*)to); }

// glibc 2.32: nonzero if the process has only one thread. 0 is always correct: std::shared_ptr then counts references atomically.
char __libc_single_threaded = 0;

// glibc 2.29
int getcpu(unsigned* cpu, unsigned* node) { return (int)syscall(SYS_getcpu, cpu, node, NULL); }

// glibc 2.30: waits on the clock `clock` until `until`. An older libc can only wait on the real-time clock: a caller must therefore check the
// time after a timeout, which std::condition_variable does.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  typedef int (*Wait)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static Wait of_libc;
  static int is_known;
  if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&of_libc, (Wait)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait"), __ATOMIC_RELAXED);
    __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
  }
  const Wait wait = __atomic_load_n(&of_libc, __ATOMIC_RELAXED);
  if (wait != NULL) return wait(condition, mutex, clock, until);
  struct timespec now, real;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &real);
  real.tv_sec += until->tv_sec - now.tv_sec;
  real.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (real.tv_nsec < 0) {
    real.tv_nsec += 1000000000;
    --real.tv_sec;
  } else if (real.tv_nsec >= 1000000000) {
    real.tv_nsec -= 1000000000;
    ++real.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &real);
}

// glibc 2.32: returns the name of a signal without "SIG", or NULL.
const char* sigabbrev_np(int signal) {
  static const char* const names[] = {NULL,   "HUP",  "INT",  "QUIT", "ILL",    "TRAP", "ABRT", "BUS",  "FPE",  "KILL", "USR1",
                                      "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN",
                                      "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR",  "SYS"};
  return signal >= 0 && (size_t)signal < sizeof names / sizeof *names ? names[signal] : NULL;
}

// glibc 2.36: writes random bytes, for the hash tables of libraries.
void arc4random_buf(void* to, size_t size) {
  char* at = to;
  while (size > 0) {
    const ssize_t got = getrandom(at, size, 0);
    if (got < 0) continue;  // interrupted by a signal
    at += got;
    size -= (size_t)got;
  }
}

// --- libxml2 --------------------------------------------------------------------------------------------------------------

// Replaces libarchive's support for the format xar, which needs libxml2: trainrt writes only tar. Returns ARCHIVE_FATAL.
struct archive;
int archive_write_set_format_xar(struct archive* to) {
  (void)to;
  return -30;
}
