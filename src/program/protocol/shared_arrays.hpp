#pragma once
#include <cstddef>
#include <string>

#include <trainrt/communicator.hpp>

#include "program/protocol/channel.hpp"
#include "program/protocol/shared_memory.hpp"

namespace trainrt::program {

/// Collectives on arrays in memory that the program shares; a message brings it if there is none of that size yet. All are
/// collective. UsageError for what a message says wrongly.
class SharedArrays {
 public:
  explicit SharedArrays(Communicator& communicator) : communicator_(communicator) {}

  void all_reduce(const Message& message);
  void broadcast(const Message& message);
  void all_gather(const Message& message);
  /// The answer: where in a file that travels with it, if there is one, the program finds memory in which the ranks reach
  /// each other's. It is used instead of what the program has brought.
  Json share(const Message& message, Channel& channel);

 private:
  void take_memory(const Message& message);
  std::byte* data() const { return of_ranks_ ? of_ranks_.get() : memory_.data(); }
  std::size_t size() const { return of_ranks_ ? of_ranks_bytes_ : memory_.size(); }
  Buffer same_on_all_ranks(const Message& message, const std::string& call, std::size_t parts);

  Communicator& communicator_;
  SharedMemory memory_;  ///< the program's
  Memory of_ranks_;      ///< of the communicator, in its place
  std::size_t of_ranks_bytes_ = 0;
};

}  // namespace trainrt::program
