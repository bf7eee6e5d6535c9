#include "core/output/standard_streams.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt {

namespace {

std::atomic<int> kept_output{STDOUT_FILENO};
std::atomic<int> kept_error{STDERR_FILENO};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may read it");

int copy_of_nothing() {
  const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int copy = fcntl(null, F_DUPFD_CLOEXEC, min_copy);
  if (null >= 0) close(null);
  return copy;
}

void keep(std::atomic<int>& kept, int number) {
  if (kept != number) {
    dup3(number, kept, O_CLOEXEC);  // the copy keeps its number, since other threads may be using it
    return;
  }
  int copy = fcntl(number, F_DUPFD_CLOEXEC, min_copy);
  if (copy < 0) copy = copy_of_nothing();
  if (copy < 0) throw Error(std::string("cannot copy standard output and standard error: ") + std::strerror(errno));
  kept = copy;
}

}  // namespace

int standard_output() { return kept_output; }

int standard_error() { return kept_error; }

void keep_standard_streams() {
  keep(kept_output, STDOUT_FILENO);
  keep(kept_error, STDERR_FILENO);
}

void restore_standard_streams() {
  dup2(kept_output, STDOUT_FILENO);
  dup2(kept_error, STDERR_FILENO);
}

}  // namespace trainrt
