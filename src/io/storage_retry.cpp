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

/// Error for a path that was not found (ENOENT) because the directory given to retried_in() or retried_while_gone() does
/// not exist. Has the error number ESTALE, which is transient.
class DirectoryGone : public StorageError {
 public:
  explicit DirectoryGone(const StorageError& cause) : StorageError(cause.what(), ESTALE, cause.path()) {}
};

bool is_gone(const std::string& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) != 0 && errno == ENOENT;
}

/// Calls `work`. Throws DirectoryGone if `work` fails with ENOENT and `directory` does not exist. If `directory` exists
/// after the first ENOENT, calls `work` a second time, because the directory may have come back in the meantime.
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
