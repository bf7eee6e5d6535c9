#pragma once
#include <functional>
#include <optional>
#include <utility>

#include <trainrt/context.hpp>

#include "program/protocol/channel.hpp"
#include "program/protocol/mirrored_state.hpp"

namespace trainrt::program {

/// Answers the messages of a program about its State: 'restore', 'report', 'load', 'checkpoint' and 'unsaved'.
/// restore(), report() and load() are collective. All functions throw UsageError if the message is invalid. They also
/// throw the errors of the Context's functions.
class StateService {
 public:
  /// `request_values` asks the program to update its shared memory and files, and returns the values of the program's
  /// State.
  StateService(Context& ctx, std::function<Json()> request_values)
      : ctx_(ctx), request_values_(std::move(request_values)) {}

  Json restore(const Message& message);
  /// Stores the values that `message` contains in the State. Does nothing if the message contains no values.
  void take_values(const Message& message);
  Json report(const Message& message);
  Json load(const Message& message);
  Json checkpoint() const;
  /// Returns whether the run has a State that is not empty: the program has sent it with 'restore'.
  bool has_state() { return state_ && !state_->state().empty(); }
  /// Returns whether the State has changed since the last checkpoint, and whether a checkpoint is being written.
  Json unsaved();
  /// Stores the values that a message 'done' contains in the State, as its final values; the shared memory already has the
  /// final tensors. Later saves do not ask the program for its State, since the program exits.
  void take_final(const Message& done);
  bool is_final() const { return is_final_; }  ///< take_final() has stored final values

 private:
  Context& ctx_;
  std::function<Json()> request_values_;
  std::optional<MirroredState> state_;
  bool is_final_ = false;
  SharedMemory call_memory_;  ///< memory of a State that belongs to a single 'report' or 'load'
};

}  // namespace trainrt::program
