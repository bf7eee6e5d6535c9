#include "io/storage_retry.hpp"

#include <sys/stat.h>

#include <atomic>
#include <cerrno>

#include "core/output/log.hpp"
#include "core/retry.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

namespace {

std::atomic<double> timeout_s{0};

/// Something was not found, and neither was the directory that it belongs in.
class StorageAway : public StorageError {
 public:
  explicit StorageAway(const StorageError& cause) : StorageError(cause.what(), ESTALE, cause.path()) {}
};

bool is_gone(const std::string& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) != 0 && errno == ENOENT;
}

/// Does the work; what it does not find is StorageAway while the directory is gone.
void do_inside(const std::string& directory, const std::function<void()>& work) {
  const auto is_missing = [](const StorageError& error) { return error.error_number() == ENOENT; };
  try {
    work();
    return;
  } catch (const StorageError& error) {
    if (!is_missing(error)) throw;
    if (is_gone(directory)) throw StorageAway(error);
  }
  try {  // again: the directory may have come back since
    work();
  } catch (const StorageError& error) {
    if (is_missing(error) && is_gone(directory)) throw StorageAway(error);
    throw;
  }
}

bool is_away(const std::exception& error) { return dynamic_cast<const StorageAway*>(&error) != nullptr; }

void retry_while(bool (*passes)(const std::exception&), const std::function<void()>& work) {
  RetryLimits limits;
  limits.limit_s = timeout_s;
  limits.notify = log::warning;
  retry("storage", work, passes, limits);
}

}  // namespace

void set_storage_timeout(double seconds) { timeout_s = seconds; }

double storage_timeout() { return timeout_s; }

void retried(const std::function<void()>& work) { retry_while(may_pass, work); }

void retried_in(const std::string& directory, const std::function<void()>& work) {
  retry_while(may_pass, [&] { do_inside(directory, work); });
}

void while_there(const std::string& directory, const std::function<void()>& work) {
  retry_while(is_away, [&] { do_inside(directory, work); });
}

}  // namespace trainrt::io
