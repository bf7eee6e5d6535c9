#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <variant>

#include <trainrt/state.hpp>

#include "program/protocol/channel.hpp"
#include "program/protocol/shared_memory.hpp"

namespace trainrt::program {

/// The State that a program describes in a message 'restore', 'report' or 'load'. The tensors of the State are in
/// memory that the program shares and keeps up to date. The values of the State are copies.
class MirroredState {
 public:
  /// Creates the State that belongs to the run and owns its memory. Throws UsageError for an invalid message.
  explicit MirroredState(const Message& request);
  /// Creates a State that belongs to one message and uses the memory `kept`. If the program sent a larger memory with
  /// the message, the new memory replaces `kept`. Throws UsageError for an invalid message.
  MirroredState(const Message& request, SharedMemory& kept);
  MirroredState(const MirroredState&) = delete;

  State& state() { return state_; }
  /// Returns the values of the State as a message contains them: {"epoch": 3, ...}.
  Json values() const;
  /// Sets the values of the State. Throws UsageError if a value is unknown, missing, or of another type.
  void take_values(const Json& values);

 private:
  struct Value {
    std::string name;
    std::variant<std::int64_t, double, bool, std::string> value;
  };
  void add_all(const Json& body);
  void add_tensor(const Json& description);
  void add_value(const std::string& name, const Json& value, bool is_part_of_sum);
  void add_file(const Json& description);

  std::shared_ptr<SharedMemory> own_;  ///< memory of the State; null if the memory belongs to the caller
  SharedMemory& memory_;
  bool is_steady_ = false;  ///< the program writes to the memory only while it answers a request for its state
  std::deque<Value> values_;
  State state_;
};

}  // namespace trainrt::program
