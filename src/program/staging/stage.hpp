#pragma once
#include <memory>
#include <optional>
#include <string>

#include <trainrt/context.hpp>

#include "program/staging/stage_folder.hpp"
#include "program/staging/staged_tree.hpp"

namespace trainrt::program::stage {

struct StageOptions {
  std::string source;    ///< folder, tar or squashfs image; "" to stage nothing
  std::string folder;    ///< folder on the local storage of each node; "" for local_storage()
  double timeout_s = 0;  ///< how long reading or unpacking may make no progress
};

/// Copies a tree to the local storage of each node before the programs start. Rank 0 reads the source, and one rank of each
/// node unpacks it. A tree that an earlier attempt of the same run and job left is reused if the source has not changed.
class Stage {
 public:
  /// Stages the tree. Throws UsageError if the format of the source is unknown, and an Error that names the node if the
  /// tree cannot be unpacked. Collective.
  Stage(Context& ctx, const StageOptions& options);

  /// Returns the tree of this node, or nothing if there is no source.
  const std::optional<StagedTree>& tree() const { return tree_; }

  /// Runs the programs. Removes the trees after success or a stop of the run, when the programs of all ranks have exited.
  /// After an error the tree remains for the next attempt.
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
  std::shared_ptr<StageFolder> folder_;  ///< set on the rank that unpacks for its node
  std::optional<StagedTree> tree_;
};

/// Throws UsageError if `source` does not exist, cannot be read, or has an unknown format.
void require_source(const std::string& source);

}  // namespace trainrt::program::stage
