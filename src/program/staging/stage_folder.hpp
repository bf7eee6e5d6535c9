#pragma once
#include <string>

#include "core/descriptor.hpp"

namespace trainrt::program::stage {

/// Storage for one tree on a node, in the private folder trainrt-stage-UID (mode 0700) of a folder that anybody may write
/// to:
///   NAME             the complete tree, which is renamed to this name
///   NAME.id          identity of the source (StageFormat::identity)
///   NAME.part-XXXXXX tree that is being unpacked
///   NAME.lock        locked (flock) by the process that uses the tree, until that process exits
class StageFolder {
 public:
  /// Throws Error if `base` does not exist or is not writable, if the private folder belongs to another user, or if another
  /// process has locked the name for longer than `patience_s`.
  StageFolder(const std::string& base, const std::string& name, double patience_s = 10);

  const std::string& path() const { return path_; }  ///< path of the complete tree, which may not exist
  std::string identity() const;                      ///< identity of the complete tree; "" if it does not exist
  std::string new_part() const;                      ///< creates an empty folder to unpack into
  void complete(const std::string& part, const std::string& identity) const;  ///< renames `part` to path()

  /// Removes the tree and its parts, and keeps the lock. Ignores errors.
  void clear() const;
  void remove() const;  ///< removes the lock too; must be the last call
  /// Removes trees of other names that no process uses. The kernel releases the locks of killed processes.
  void remove_abandoned() const;

 private:
  std::string root_;
  std::string path_;
  Descriptor lock_;
};

/// Returns the folder on the local storage of this node: `chosen`, else $SLURM_TMPDIR, else $TMPDIR, else /tmp.
std::string local_storage(const std::string& chosen);

}  // namespace trainrt::program::stage
