#pragma once
#include <cstddef>
#include <string>

#include <trainrt/communicator.hpp>

#include "program/protocol/channel.hpp"
#include "program/protocol/shared_memory.hpp"

namespace trainrt::program {

/// Carries out collective operations on arrays in memory that a program shares with its rank. If the shared memory is
/// too small for an array, the program sends a larger memory with the message. All functions are collective and throw
/// UsageError for an invalid message.
class SharedArrays {
 public:
  explicit SharedArrays(Communicator& communicator) : communicator_(communicator) {}

  void all_reduce(const Message& message);
  void broadcast(const Message& message);
  void all_gather(const Message& message);
  /// Allocates memory in which the ranks of a node can access each other's arrays, and uses this memory instead of the
  /// program's memory. Returns the offset and size of the memory in a file, which `channel` sends with the answer.
  /// Returns an empty object if such memory is not available.
  Json share(const Message& message, Channel& channel);

 private:
  void take_memory(const Message& message);
  std::byte* data() const { return of_ranks_ ? of_ranks_.get() : memory_.data(); }
  std::size_t size() const { return of_ranks_ ? of_ranks_bytes_ : memory_.size(); }
  Buffer same_on_all_ranks(const Message& message, const std::string& call, std::size_t parts);

  Communicator& communicator_;
  SharedMemory memory_;  ///< memory that the program sent last
  Memory of_ranks_;      ///< memory of the communicator, used instead of `memory_` unless empty
  std::size_t of_ranks_bytes_ = 0;
};

}  // namespace trainrt::program
