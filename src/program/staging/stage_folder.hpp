#pragma once
#include <string>

#include "core/descriptor.hpp"

namespace trainrt::program::stage {

/// A place for one tree on a node, in the private folder trainrt-stage-UID (mode 0700) of a folder that all may write in:
///   NAME             the tree, whole: it is renamed to that when it is
///   NAME.id          of what it was made (StageFormat::identity)
///   NAME.part-XXXXXX a tree that is being unpacked
///   NAME.lock        locked by the process that uses it (flock), for as long as that lives
class StageFolder {
 public:
  /// Throws Error that says what to do if `base` is not there, is not writable, or the private folder is another's; or if
  /// another process uses the name for longer than `patience_s`.
  StageFolder(const std::string& base, const std::string& name, double patience_s = 10);

  const std::string& path() const { return path_; }  ///< of the whole tree, whether it is there or not
  std::string identity() const;                      ///< of the whole tree; "" if there is none
  std::string new_part() const;                      ///< an empty folder for unpacking
  void complete(const std::string& part, const std::string& identity) const;

  /// The tree of this name, with its parts; its lock is kept. Says nothing of what cannot be removed.
  void clear() const;
  void remove() const;  ///< with the lock: the last call
  /// The trees of other names that no process uses any more: the kernel unlocks what a killed process had locked.
  void remove_abandoned() const;

 private:
  std::string root_;
  std::string path_;
  Descriptor lock_;
};

/// The folder on this node's own storage: `chosen`, else $SLURM_TMPDIR, else $TMPDIR, else /tmp.
std::string local_storage(const std::string& chosen);

}  // namespace trainrt::program::stage
