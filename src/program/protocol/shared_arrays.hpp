#pragma once
#include <cstddef>
#include <string>

#include <trainrt/communicator.hpp>

#include "program/protocol/channel.hpp"
#include "program/protocol/shared_memory.hpp"

namespace trainrt::program {

/// Collective operations on arrays in memory that the program shares with its rank. If that memory is too small, the
/// program sends a larger one with its message. All functions are collective, and throw UsageError for an invalid message.
class SharedArrays {
 public:
  explicit SharedArrays(Communicator& communicator) : communicator_(communicator) {}

  void all_reduce(const Message& message);
  void broadcast(const Message& message);
  void all_gather(const Message& message);
  /// Provides memory in which the ranks of a node access each other's arrays, and uses it instead of the program's memory.
  /// Returns its position in the file that is sent with the answer; an empty object if such memory is not available.
  Json share(const Message& message, Channel& channel);

 private:
  void take_memory(const Message& message);
  std::byte* data() const { return of_ranks_ ? of_ranks_.get() : memory_.data(); }
  std::size_t size() const { return of_ranks_ ? of_ranks_bytes_ : memory_.size(); }
  Buffer same_on_all_ranks(const Message& message, const std::string& call, std::size_t parts);

  Communicator& communicator_;
  SharedMemory memory_;  ///< memory that the program sent
  Memory of_ranks_;      ///< memory of the communicator, used instead if set
  std::size_t of_ranks_bytes_ = 0;
};

}  // namespace trainrt::program
