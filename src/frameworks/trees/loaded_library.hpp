#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::frameworks::trees {

/// A shared library that is loaded at run time and never unloaded.
class LoadedLibrary {
 public:
  /// The places in which a library is searched: the path in the key `library` of [NAME], which is a file or a folder of
  /// Python packages with one of `in_packages`; without that key `names`, in the folders of the dynamic linker.
  struct Search {
    std::string_view name;                      ///< "xgboost"
    std::string_view key;                       ///< "xgboost.library"
    std::vector<std::string_view> names;        ///< "libxgboost.so.0"
    std::vector<std::string_view> in_packages;  ///< "xgboost/lib/libxgboost.so"
    std::string_view advice;                    ///< how to install it
  };
  /// Loads the library. `given`: the value of the key `library`, or "". Throws UsageError with the places, the reasons and
  /// the advice.
  LoadedLibrary(const Search& search, const std::string& given);

  const std::string& path() const { return path_; }
  /// Returns a function of the library. Throws UsageError if the library does not have it.
  template <class Function>
  Function* symbol(const char* name) const {
    return reinterpret_cast<Function*>(address_of(name, true));
  }
  /// As symbol(), but returns nullptr if the library does not have the function.
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
