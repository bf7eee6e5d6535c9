#include "core/process/runtime_library.hpp"

#include <array>
#include <csignal>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

namespace trainrt {

namespace {

constexpr int last_signal = 31;

/// The constructor saves the handlers of all signals; the destructor restores them.
class KeptSignalHandlers {
 public:
  KeptSignalHandlers() {
    for (int number = 1; number <= last_signal; ++number) sigaction(number, nullptr, &at(number));
  }
  ~KeptSignalHandlers() {
    for (int number = 1; number <= last_signal; ++number) sigaction(number, &at(number), nullptr);
  }
  KeptSignalHandlers(const KeptSignalHandlers&) = delete;
  KeptSignalHandlers& operator=(const KeptSignalHandlers&) = delete;

 private:
  struct sigaction& at(int number) {
    return handlers_[static_cast<std::size_t>(number)];
  }
  std::array<struct sigaction, last_signal + 1> handlers_{};
};

/// Returns the paths of the process's loaded libraries whose file name begins with `file_prefix`.
std::vector<std::string> loaded_files(std::string_view file_prefix) {
  struct Found {
    std::string_view prefix;
    std::vector<std::string> paths;
  } found{file_prefix, {}};
  const auto visit = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& result = *static_cast<Found*>(data);
    const std::string_view path(info->dlpi_name);
    if (path.substr(path.rfind('/') + 1).starts_with(result.prefix)) result.paths.emplace_back(path);
    return 0;
  };
  dl_iterate_phdr(visit, &found);
  return found.paths;
}

/// Returns a short form of `why`, the text of dlerror(3) after an attempt to load `file`: "libmpi.so.12: not found".
std::string failure_text(const std::string& file, std::string why) {
  const std::string_view not_found = ": cannot open shared object file: No such file or directory";
  if (why.ends_with(not_found)) why = why.substr(0, why.size() - not_found.size()) + ": not found";
  return why.starts_with(file) ? why : file + ": " + why;
}

}  // namespace

RuntimeLibrary::RuntimeLibrary(void* handle, const char* marker) : handle_(handle) {
  Dl_info info{};
  if (dladdr(address_of(marker), &info) != 0 && info.dli_fname != nullptr) path_ = info.dli_fname;
}

void* RuntimeLibrary::address_of(const char* symbol) const { return dlsym(handle_, symbol); }

std::optional<RuntimeLibrary> loaded_library(const char* marker, std::string_view file_prefix) {
  if (dlsym(RTLD_DEFAULT, marker) != nullptr) return RuntimeLibrary(RTLD_DEFAULT, marker);
  for (const auto& path : loaded_files(file_prefix)) {
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle != nullptr && dlsym(handle, marker) != nullptr) return RuntimeLibrary(handle, marker);
  }
  return std::nullopt;
}

OpenedLibrary open_library(const char* marker, const std::vector<std::string>& files) {
  static std::mutex mutex;  // two threads must not save and restore signal handlers at the same time
  const std::lock_guard lock(mutex);
  OpenedLibrary result;
  for (const auto& file : files) {
    const KeptSignalHandlers kept;
    void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = dlerror();
      result.failures.push_back(failure_text(file, why == nullptr ? "no reason given" : why));
    } else if (dlsym(handle, marker) == nullptr) {
      result.failures.push_back(fmt::format("{}: the library has no function {}", file, marker));
    } else {
      result.library.emplace(handle, marker);
      break;
    }
  }
  return result;
}

}  // namespace trainrt
