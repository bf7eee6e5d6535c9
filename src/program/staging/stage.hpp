#pragma once
#include <memory>
#include <optional>
#include <string>

#include <trainrt/context.hpp>

#include "program/staging/stage_folder.hpp"
#include "program/staging/staged_tree.hpp"

namespace trainrt::program::stage {

struct StageOptions {
  std::string source;    ///< folder, tar or squashfs image to copy; "" for no copy
  std::string folder;    ///< folder on the local storage of each node; "" for local_storage()
  double timeout_s = 0;  ///< maximum time without progress in reading or unpacking
};

/// Copies a tree to the local storage of each node before the programs start (program.stage). Rank 0 reads the source,
/// and one rank of each node unpacks it. If an earlier attempt of this run in this job has left the tree, and the
/// source has not changed, the tree is used again.
class Stage {
 public:
  /// Copies the tree to all nodes, or finds the tree of an earlier attempt. Throws UsageError if the format of the
  /// source is unknown, and an Error that names the node if the tree cannot be unpacked. Collective.
  Stage(Context& ctx, const StageOptions& options);

  /// Returns the tree of this node, or nothing if StageOptions::source is empty.
  const std::optional<StagedTree>& tree() const { return tree_; }

  /// Calls `programs`, and then removes the trees of all nodes if the programs succeeded or the run was stopped. If
  /// `programs` throws a std::exception, the trees remain for the next attempt.
  template <class Programs>
  void run(Programs&& programs) {
    try {
      programs();
    } catch (const std::exception&) {
      throw;
    } catch (...) {
      remove();
      throw;
    }
    remove();
  }

 private:
  struct Plan;
  struct NodeState;
  Plan plan(const StageOptions& options) const;
  NodeState prepare(const Plan& plan, const StageOptions& options);
  bool is_staged(const Plan& plan, const std::vector<NodeState>& ranks) const;
  void unpack(const Plan& plan, const StageOptions& options);
  void remove() noexcept;

  Context& ctx_;
  std::shared_ptr<StageFolder> folder_;  ///< set on the rank that unpacks the tree for its node
  std::optional<StagedTree> tree_;
};

/// Checks the source of program.stage. Throws UsageError if `source` does not exist, cannot be read, or has an unknown
/// format.
void require_source(const std::string& source);

}  // namespace trainrt::program::stage
