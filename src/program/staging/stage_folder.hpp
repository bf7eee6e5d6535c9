#pragma once
#include <string>

#include "core/descriptor.hpp"

namespace trainrt::program::stage {

/// Storage for one staged tree on a node, in the folder trainrt-stage-UID (mode 0700), which belongs to the current user.
/// The parent folder, such as /tmp, may be shared by all users. The storage contains:
///   NAME             the complete tree
///   NAME.id          identity of the source of the tree (StageFormat::identity)
///   NAME.part-XXXXXX a tree that is being unpacked, and is renamed to NAME when it is complete
///   NAME.lock        a file that the process that uses the tree has locked (flock) until this process exits
class StageFolder {
 public:
  /// Creates the private folder in `base` and locks NAME.lock. Throws Error if `base` does not exist or is not
  /// writable, if the private folder belongs to another user, or if another process holds the lock for longer than
  /// `patience_s`.
  StageFolder(const std::string& base, const std::string& name, double patience_s = 10);

  const std::string& path() const { return path_; }  ///< path of the complete tree, which may not exist
  std::string identity() const;                      ///< identity of the complete tree's source; "" without a tree
  std::string new_part() const;                      ///< creates an empty folder for unpacking
  void complete(const std::string& part, const std::string& identity) const;  ///< renames `part` to path()

  /// Removes the complete tree and all folders that were created for unpacking, and keeps the lock. Ignores errors.
  void clear() const;
  void remove() const;  ///< like clear(), and removes the lock file; must be the last call
  /// Removes the trees of other names that no process has locked. The kernel has released the locks of processes that
  /// were killed.
  void remove_abandoned() const;

 private:
  std::string root_;
  std::string path_;
  Descriptor lock_;
};

/// Returns the folder on the local storage of this node: `chosen` if not empty, else $SLURM_TMPDIR, $TMPDIR or /tmp.
std::string local_storage(const std::string& chosen);

}  // namespace trainrt::program::stage
