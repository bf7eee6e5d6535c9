#pragma once
#include <string>

#include <trainrt/context.hpp>

namespace trainrt::frameworks::trees {

/// A folder of this process on its node's own storage, which goes with the object.
class PrivateFolder {
 public:
  /// In that folder, "" being TMPDIR. Removes what earlier attempts of the run have left there when they were killed: only
  /// one attempt has the run, so what another one made is of no use, also if a process of it should still be there. Error
  /// if none can be made. Not collective.
  explicit PrivateFolder(const Context& ctx, const std::string& where = {});
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace trainrt::frameworks::trees
