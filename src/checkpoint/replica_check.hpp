#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// Checks that the replicated tensors of a State are equal on all ranks. Each rank digests blocks of 4 MiB, and the ranks
/// compare one number; they exchange more only if it differs.
///
/// The first call of next_part() digests the complete state. Each later call digests the next sixteenth of it, at least
/// 16 MiB, so that one check is cheap and a difference is found after sixteen checks at the latest. Must be used by one
/// thread.
class ReplicaCheck {
 public:
  /// Requires that all ranks hold equal tensors at `step`. The state must outlive this object, and its tensors must keep
  /// their memory. `threads` is the number of threads that digest host memory.
  ReplicaCheck(const State& state, Communicator& communicator, std::int64_t step, int threads = 1);
  ~ReplicaCheck();

  /// A tensor that differs between ranks.
  struct DifferingTensor {
    std::string tensor;
    std::vector<int> ranks;     ///< ranks that differ from the majority; empty after the first 16 tensors
    std::int64_t equal_at = 0;  ///< the last step at which all ranks were known to be equal
  };

  /// Returns a number of 60 bits from the digests of the next part on this rank. Not collective.
  std::int64_t next_part();
  /// Ends the check of the part that next_part() digested at `step`; `alike` is whether all ranks had the same number. If
  /// not, compares the complete state, and returns the tensors that differ, which are not checked again. The result is
  /// empty if the state changed in between. Collective if `alike` is false.
  std::vector<DifferingTensor> conclude(bool alike, std::int64_t step);
  /// The result of compare_all(), the same on all ranks.
  struct Compared {
    bool alike = true;
    std::vector<DifferingTensor> differing;
  };
  /// Compares the complete state at `step`. Collective.
  Compared compare_all(std::int64_t step);

 private:
  struct Block;
  struct Gpus;
  using Indices = std::vector<std::size_t>;
  void add_blocks(const TensorEntry& entry);
  Indices all() const;
  Indices rotating_part();
  std::int64_t number_of(const Indices& part);
  std::vector<std::string> digests_of(const Indices& part);
  void digest_on_host(const Indices& part, std::vector<std::string>& digests) const;
  void digest_on_gpus(const Indices& part, std::vector<std::string>& digests);
  std::vector<DifferingTensor> find();
  void forget(const std::vector<DifferingTensor>& differing);

  Communicator& communicator_;
  int threads_;
  std::vector<Block> blocks_;  // sorted by tensor name, then by position
  Indices part_;               // blocks that the last number covered
  std::size_t next_ = 0;       // first block of the next part
  bool has_compared_all_ = false;
  std::unique_ptr<Gpus> gpus_;
};

}  // namespace trainrt::checkpoint
