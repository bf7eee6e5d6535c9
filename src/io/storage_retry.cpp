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

/// Reports that a path was not found because the directory of the work does not exist.
class DirectoryGone : public StorageError {
 public:
  explicit DirectoryGone(const StorageError& cause) : StorageError(cause.what(), ESTALE, cause.path()) {}
};

bool is_gone(const std::string& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) != 0 && errno == ENOENT;
}

/// Calls `work`, and throws DirectoryGone if it fails with ENOENT while `directory` does not exist. Calls it twice if
/// `directory` exists after the first ENOENT: it may have come back in between.
void work_inside(const std::string& directory, const std::function<void()>& work) {
  for (const bool is_last : {false, true}) try {
      return work();
    } catch (const StorageError& error) {
      if (error.error_number() != ENOENT) throw;
      if (is_gone(directory)) throw DirectoryGone(error);
      if (is_last) throw;
    }
}

bool is_directory_gone(const std::exception& error) { return dynamic_cast<const DirectoryGone*>(&error) != nullptr; }

void retry_while(bool (*is_retried)(const std::exception&), const std::function<void()>& work) {
  RetryLimits limits;
  limits.limit_s = timeout_s;
  limits.notify = log::warning;
  retry("storage", work, is_retried, limits);
}

}  // namespace

void set_storage_timeout(double seconds) { timeout_s = seconds; }

double storage_timeout() { return timeout_s; }

void retried(const std::function<void()>& work) { retry_while(is_transient, work); }

void retried_in(const std::string& directory, const std::function<void()>& work) {
  retry_while(is_transient, [&] { work_inside(directory, work); });
}

void retried_while_gone(const std::string& directory, const std::function<void()>& work) {
  retry_while(is_directory_gone, [&] { work_inside(directory, work); });
}

}  // namespace trainrt::io
