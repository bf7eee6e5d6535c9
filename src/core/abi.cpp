#include <trainrt/abi.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/version.hpp"

namespace trainrt {

void require_abi(int headers) {
  if (headers == module_abi) return;
  Dl_info info{};
  const auto* here = reinterpret_cast<const void*>(&require_abi);
  const char* file = dladdr(here, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "libtrainrt.so";
  throw UsageError(
      fmt::format("this program was compiled with headers of trainrt for interface {}, but it loads the library {} "
                  "(trainrt {}, interface {}): compile the program with the headers of that library, or load the library "
                  "for which the program was compiled",
                  headers, file, version, module_abi));
}

}  // namespace trainrt
