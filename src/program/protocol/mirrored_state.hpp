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

/// The State of a program, as its message describes it ('restore', or that of one 'report' or 'load'): tensors lie in
/// memory that it shares, and are as current as it keeps them; values are copies here.
class MirroredState {
 public:
  /// UsageError for what the message says wrongly.
  explicit MirroredState(const Message& request);
  /// The same, in memory that is kept from message to message: `kept`, unless this one brings another.
  MirroredState(const Message& request, SharedMemory& kept);
  MirroredState(const MirroredState&) = delete;

  State& state() { return state_; }
  /// As the messages have them: {"epoch": 3, ...}.
  Json values() const;
  /// Takes the program's. UsageError if one is unknown, missing, or of another type.
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

  std::shared_ptr<SharedMemory> own_;  // null: it is kept elsewhere
  SharedMemory& memory_;
  bool is_steady_ = false;  // the program changes it only when it is asked for its state
  std::deque<Value> values_;
  State state_;
};

}  // namespace trainrt::program
