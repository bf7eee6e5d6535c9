#include "comm/nccl/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::comm::nccl {

namespace {

/// The NCCL library, opened by dlopen(). The library is never closed.
class NcclLibrary {
 public:
  explicit NcclLibrary(std::string_view name) : name_(name), handle_(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      const char* why = dlerror();
      throw UsageError(
          fmt::format("NCCL cannot be loaded: {}. Load NCCL's module or add the folder of {} to LD_LIBRARY_PATH",
                      why == nullptr ? "no reason given" : why, library_name));
    }
  }

  template <class Function>
  void find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(dlsym(handle_, symbol));
    if (function == nullptr)
      throw UsageError(fmt::format("'{}' has no function {}; NCCL 2.18 or newer is required", name_, symbol));
  }

 private:
  std::string name_;
  void* handle_;
};

}  // namespace

std::string Api::version_text() const {
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

std::shared_ptr<const Api> load(std::string_view name) {
  const NcclLibrary library(name);
  auto api = std::make_shared<Api>();
  library.find(api->get_version, "ncclGetVersion");
  if (api->get_version(&api->version) != Result::success)
    throw UsageError(fmt::format("ncclGetVersion failed in '{}'", name));
  if (api->version < min_version)
    throw UsageError(fmt::format("'{}' is NCCL {}; 2.18 or newer is required", name, api->version_text()));
  library.find(api->get_unique_id, "ncclGetUniqueId");
  library.find(api->comm_init_rank_config, "ncclCommInitRankConfig");
  library.find(api->comm_finalize, "ncclCommFinalize");
  library.find(api->comm_destroy, "ncclCommDestroy");
  library.find(api->comm_abort, "ncclCommAbort");
  library.find(api->comm_get_async_error, "ncclCommGetAsyncError");
  library.find(api->get_error_string, "ncclGetErrorString");
  library.find(api->get_last_error, "ncclGetLastError");
  library.find(api->all_reduce, "ncclAllReduce");
  library.find(api->reduce, "ncclReduce");
  library.find(api->broadcast, "ncclBroadcast");
  library.find(api->send, "ncclSend");
  library.find(api->recv, "ncclRecv");
  library.find(api->group_start, "ncclGroupStart");
  library.find(api->group_end, "ncclGroupEnd");
  return api;
}

}  // namespace trainrt::comm::nccl
