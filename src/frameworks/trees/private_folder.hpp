#pragma once
#include <string>

#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// A temporary folder of this process on its node's own storage. The destructor removes it.
class PrivateFolder {
 public:
  /// Creates the folder in `parent`; "" means TMPDIR. First removes the folders of earlier attempts of the run, which
  /// remain if an attempt was killed; they are not used any more, since only one attempt at a time owns the run. Throws
  /// Error if the folder cannot be created. Not collective.
  explicit PrivateFolder(const Context& ctx, const std::string& parent = {});
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace trainrt::frameworks::trees
