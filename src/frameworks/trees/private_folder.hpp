#pragma once
#include <string>

#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// A temporary folder of this process on the local storage of the node. The destructor removes the folder.
class PrivateFolder {
 public:
  /// Creates the folder in `parent`; "" means TMPDIR. Before that, removes the folders that killed attempts of this run
  /// have left. These folders are no longer used, since only one attempt of a run is active at a time. Throws Error if the
  /// folder cannot be created. Not collective.
  explicit PrivateFolder(const Context& ctx, const std::string& parent = {});
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace trainrt::frameworks::trees
