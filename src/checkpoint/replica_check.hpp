#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::checkpoint {

/// Finds out whether the ranks still hold the same in the replicated tensors of a State. Each rank digests blocks of some
/// megabytes and the ranks compare one number; only if that differs they tell each other more.
///
/// next_part() takes all of the state the first time, and then a sixteenth of it (16 MiB at least) that goes round: so what
/// is compared at every checkpoint costs little, and a difference is found after sixteen of them at the latest.
class ReplicaCheck {
 public:
  /// All ranks hold the same at this `step`. The state must outlive this object, and its views stay as they are.
  ReplicaCheck(const State& state, Communicator& communicator, std::int64_t step, int threads = 1);
  ~ReplicaCheck();

  /// A tensor that is not the same on all ranks.
  struct Parted {
    std::string tensor;
    std::vector<int> ranks;     ///< whose tensor is not that of most ranks; empty beyond the first few tensors
    std::int64_t equal_at = 0;  ///< the last step at which all of it was known to be the same
  };

  /// A number of what this rank holds of the next part. Not collective.
  std::int64_t next_part();
  /// `alike`: all ranks had the same number. If not, the tensors that differ: all ranks look at all of the state. These are
  /// not compared any more. (There are none if the state changed in between.) Collective if not alike.
  std::vector<Parted> conclude(bool alike, std::int64_t step);
  /// Compares everything at once. Collective.
  struct Compared {
    bool alike = true;
    std::vector<Parted> parted;
  };
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
  std::vector<Parted> find();
  void forget(const std::vector<Parted>& parted);

  Communicator& communicator_;
  int threads_;
  std::vector<Block> blocks_;  // by tensor name, then by place
  Indices part_;               // that the last number was of
  std::size_t next_ = 0;       // block of the rotation
  bool has_compared_all_ = false;
  std::unique_ptr<Gpus> gpus_;
};

}  // namespace trainrt::checkpoint
