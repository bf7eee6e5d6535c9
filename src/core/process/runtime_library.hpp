#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

/// A shared library that was loaded at run time and is never unloaded.
class RuntimeLibrary {
 public:
  /// `handle`: a handle of dlopen(3), or RTLD_DEFAULT. `marker`: a function that the library exports.
  RuntimeLibrary(void* handle, const char* marker);

  /// The file from which the library was loaded.
  const std::string& path() const { return path_; }

  /// Sets `function` to the library's function with the name `symbol`. Returns whether the library has that function.
  template <class Function>
  bool find(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address_of(symbol));
    return function != nullptr;
  }

 private:
  void* address_of(const char* symbol) const;

  void* handle_;
  std::string path_;
};

/// Returns a library that the process has already loaded and that exports the function `marker`; nullopt if there is none.
/// Only these libraries are searched: those in the global scope, such as libraries that the program links, and those whose
/// file name begins with `file_prefix`. Thread-safe.
std::optional<RuntimeLibrary> loaded_library(const char* marker, std::string_view file_prefix);

/// The result of open_library(). If `library` is empty, `failures` contains one message of dlopen(3) for each file.
struct OpenedLibrary {
  std::optional<RuntimeLibrary> library;
  std::vector<std::string> failures;
};

/// Loads the first of `files` (names or paths) that can be loaded and exports the function `marker`. The signal handlers
/// that the library installs while it is loaded are removed again: UCX, a library of MPICH, would replace the handlers of
/// this process. Thread-safe.
OpenedLibrary open_library(const char* marker, const std::vector<std::string>& files);

}  // namespace trainrt
