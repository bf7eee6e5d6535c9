#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// Checks that the replicated tensors of a State are equal on all ranks. Each rank digests its tensors in blocks of 4 MiB
/// and reduces the digests to one number. The ranks compare that number, and exchange more only if it differs.
///
/// The first call of next_part() digests the complete state. Each later call digests the next sixteenth of the state, at
/// least 16 MiB. A check is therefore cheap, and a difference is found after at most sixteen checks. Must be used by one
/// thread.
class ReplicaCheck {
 public:
  /// `step`: training step at which the replicated tensors of `state` are known to be equal on all ranks. The state must
  /// outlive this object, and its tensors must not move in memory. `threads` is the number of threads that digest host
  /// memory.
  ReplicaCheck(const State& state, Communicator& communicator, std::int64_t step, int threads = 1);
  ~ReplicaCheck();

  /// A replicated tensor that is not equal on all ranks.
  struct DifferingTensor {
    std::string tensor;
    std::vector<int> ranks;     ///< ranks that differ from the majority; empty for all but the first 16 tensors
    std::int64_t equal_at = 0;  ///< last training step at which the tensor was known to be equal on all ranks
  };

  /// Digests the next part of this rank's replicated tensors and returns 60 bits of the digest as an integer. The caller
  /// must compare this integer between ranks and then call conclude(). Not collective.
  std::int64_t next_part();
  /// Finishes the check of the part that next_part() digested at training step `step`. `alike`: true if next_part()
  /// returned the same number on all ranks. If `alike` is false, compares the complete state between ranks, returns the
  /// tensors that differ, and excludes them from later checks. The result is empty if `alike` is true, or if the state has
  /// changed and is equal again. Collective if `alike` is false.
  std::vector<DifferingTensor> conclude(bool alike, std::int64_t step);
  /// The result of compare_all(), the same on all ranks: whether all replicated tensors are equal, and the tensors that
  /// differ.
  struct Compared {
    bool alike = true;
    std::vector<DifferingTensor> differing;
  };
  /// Compares all replicated tensors between ranks. `step` is the current training step. Collective.
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
  std::vector<Block> blocks_;  // blocks of all replicated tensors, sorted by tensor name, then by offset
  Indices part_;               // indices of the blocks that the latest digest covers
  std::size_t next_ = 0;       // index of the first block that the next next_part() digests
  bool has_compared_all_ = false;
  std::unique_ptr<Gpus> gpus_;
};

}  // namespace trainrt::checkpoint
