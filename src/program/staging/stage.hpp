#pragma once
#include <memory>
#include <optional>
#include <string>

#include <trainrt/context.hpp>

#include "program/staging/stage_folder.hpp"
#include "program/staging/staged_tree.hpp"

namespace trainrt::program::stage {

struct StageOptions {
  std::string source;    ///< a folder, a tar or an image of squashfs; "": nothing is staged
  std::string folder;    ///< on the nodes' own storage; "": local_storage() of each
  double timeout_s = 0;  ///< that reading or unpacking may stand still
};

/// A tree on the own storage of each node, there before the programs start: read by rank 0, passed on to one rank of each
/// node, which unpacks it. A tree that an attempt of the same run and job has left is taken again if the source is the
/// same.
class Stage {
 public:
  /// Collective. UsageError if the source is of no kind that is known, Error that names the node if it cannot be unpacked.
  Stage(Context& ctx, const StageOptions& options);

  /// The node's tree; nothing if there is no source.
  const std::optional<StagedTree>& tree() const { return tree_; }

  /// Runs the programs, then removes the trees, once all ranks' programs have ended: after success or a stop. After an
  /// error the tree stays for the next attempt.
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
  struct Card;
  Plan plan(const StageOptions& options) const;
  Card prepare(const Plan& plan, const StageOptions& options);
  bool is_there(const Plan& plan, const std::vector<Card>& cards) const;
  void unpack(const Plan& plan, const StageOptions& options);
  void remove() noexcept;

  Context& ctx_;
  std::shared_ptr<StageFolder> folder_;  ///< of the rank that unpacks for its node
  std::optional<StagedTree> tree_;
};

/// Throws UsageError if `source` cannot be staged: it is not there, cannot be read, or is of no kind that is known.
void require_source(const std::string& source);

}  // namespace trainrt::program::stage
