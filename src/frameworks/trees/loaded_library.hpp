#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::frameworks::trees {

/// A shared library that is loaded at run time and never unloaded.
class LoadedLibrary {
 public:
  /// The paths at which LoadedLibrary searches for a library. If the key `library` of [NAME] is set, its value is the path
  /// of the library, or of a folder of Python packages that contains one of the files `in_packages`. If the key is not set,
  /// the dynamic linker searches for one of the file names `names`.
  struct Search {
    std::string_view name;                      ///< "xgboost"
    std::string_view key;                       ///< "xgboost.library"
    std::vector<std::string_view> names;        ///< "libxgboost.so.0"
    std::vector<std::string_view> in_packages;  ///< "xgboost/lib/libxgboost.so"
    std::string_view advice;                    ///< how to install it
  };
  /// Loads the library. `given` is the value of the key `library`, or "". If the library cannot be loaded, throws a
  /// UsageError that names the paths that were tried.
  LoadedLibrary(const Search& search, const std::string& given);

  const std::string& path() const { return path_; }
  /// Returns a function of the library. Throws UsageError if the library does not have it.
  template <class Function>
  Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(address_of(name, true));
  }
  /// Returns a function of the library; nullptr if the library does not have the function.
  template <class Function>
  Function* optional_symbol(const char* name) const {
    return reinterpret_cast<Function*>(address_of(name, false));
  }

 private:
  void* address_of(const char* name, bool is_required) const;

  std::string name_, path_;
  void* handle_ = nullptr;
};

}  // namespace trainrt::frameworks::trees
