#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::frameworks::trees {

/// A shared library that is loaded while the program runs, and stays.
class LoadedLibrary {
 public:
  /// Where one is looked for: the path that [NAME] library gives (a file, or a folder of Python packages, in which
  /// `in_packages` are looked for: "xgboost/lib/libxgboost.so"), else `names` where the system finds libraries.
  struct Search {
    std::string_view name;                      ///< "xgboost"
    std::string_view key;                       ///< "xgboost.library"
    std::vector<std::string_view> names;        ///< "libxgboost.so.0"
    std::vector<std::string_view> in_packages;  ///< "xgboost/lib/libxgboost.so"
    std::string_view advice;                    ///< how to get one
  };
  /// UsageError that says where it was looked for, why it cannot be loaded, and how to get one.
  LoadedLibrary(const Search& search, const std::string& given);

  const std::string& path() const { return path_; }
  /// UsageError if the library is too old to have it.
  template <class Function>
  Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(address_of(name, true));
  }
  /// The same; nullptr if it does not have it.
  template <class Function>
  Function* symbol_if_there(const char* name) const {
    return reinterpret_cast<Function*>(address_of(name, false));
  }

 private:
  void* address_of(const char* name, bool is_required) const;

  std::string name_, path_;
  void* handle_ = nullptr;
};

}  // namespace trainrt::frameworks::trees
