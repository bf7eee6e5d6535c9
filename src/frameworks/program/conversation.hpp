#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <trainrt/context.hpp>

#include "frameworks/program/channel.hpp"
#include "frameworks/program/child.hpp"
#include "frameworks/program/endings.hpp"
#include "frameworks/program/live_stacks.hpp"
#include "frameworks/program/lockstep.hpp"
#include "frameworks/program/mirrored_state.hpp"

namespace trainrt::program {

/// Turns the messages of a program into calls of the Context. One JSON object a line over the socket TRAINRT_FD; the
/// program asks, the runtime answers:
///
///   {"ok": {...}}        what the message returns
///   {"error": "text"}    it failed, and the attempt ends; with "usage": true if the message or the config was wrong
///   {"stop": "text"}     the run stops here, with everything saved: the program ends now
///   {"save": true}       the state is about to be saved or compared, the true answer comes later: the program brings its
///                        memory and files up to date, and sends {"op": "state", "values": {...}}
///
///   hello {protocol = 1, client, pid, stacks_signal}    returns world_rank, world_size, local_rank, local_world_size,
///                                        node_rank, gpus, run_name, run_dir, seed, step, step_seed
///   config {key}                         returns value: the text of that [loop] key, or null
///   restore {tensors, values, files, memory}    returns restored, values, step, step_seed
///   step                                 returns step, step_seed
///   report {metrics}                     each a number, text, true, false, null (NaN), or {value, weight, reduce = mean |
///                                        sum | min | max}
///   stop_point, save, barrier
///   request_stop {reason}
///   expect_iterations {total}
///   log {text}                           lines of this worker
///   metadata {json}                      an object
///   all_reduce {dtype, count, reduce = sum | mean | min | max}    the memory's first elements, in place
///   broadcast {dtype, shape, root}       the same: rank root's are on every rank then
///   all_gather {dtype, shape}            the memory's first elements, of this rank, are replaced by those of all ranks
///   failed {error, traceback}            no answer; the program ends
///   done                                 no answer; the program ends, and well
///
/// restore: a tensor is {name, dtype, shape, at, placement = replicated | sharded | per_rank | sum}, sharded ones with
/// axis, first and global_extent; `at` is its place in the memory, a memfd of `memory` bytes with F_SEAL_SHRINK that
/// travels with the message (SCM_RIGHTS) and holds what the tensors are before; after the answer, what was restored, or of
/// a new run what rank 0 has in the replicated ones. `sums` names the values that are parts of a sum over the ranks. A file
/// is {name, path, per_rank}. all_reduce, broadcast and all_gather bring a memory of their own, with `memory`, if they
/// have none of that size yet.
/// At stacks_signal, a real-time signal, the program prints its stacks and goes on.
/// A program whose hello has its pid says 'done' if its exit code may not reach the runtime: behind a script or a pipe.
/// Numbers that JSON lacks are {"float": "nan" | "inf" | "-inf"}.
class Conversation {
 public:
  /// `wait_limit_s`: Lockstep's. `stacks` learns how the program is asked for them.
  Conversation(Context& ctx, Channel& channel, Child& child, double wait_limit_s, LiveStacks& stacks)
      : ctx_(ctx), channel_(channel), child_(child), lockstep_(ctx.communicator(), wait_limit_s), stacks_(stacks) {}
  ~Conversation() { stacks_.forget(); }
  Conversation(const Conversation&) = delete;

  /// From the program's first message to the good end of all. Throws what the Context throws (a stop is for the caller to
  /// pass on), UsageError for bad messages, Error if the programs do not make the same calls, and ProgramFell, on all
  /// ranks, if one falls.
  void hold(Message first);

 private:
  struct Call {
    Json (*make)(Conversation&, const Message&);
    bool is_for_all_ranks = false;  ///< all ranks make it together
  };
  static const std::map<std::string_view, Call>& calls();
  bool is_for_all_ranks(const std::string& op) const;
  bool come_together();
  Turn next_turn();
  void take(Message message);
  bool has_ended();
  void look_at_end();
  [[noreturn]] void fall_together();
  void answer(const Message& message);
  Json reply(const Message& message);
  Json hello(const Json& body);
  void take_stacks_signal(std::int64_t signal);
  Json config(const Json& body) const;
  Json restore(const Message& message);
  Json report(const Json& body);
  Json all_reduce(const Message& message);
  Json broadcast(const Message& message);
  Json all_gather(const Message& message);
  void take_memory(const Message& message);
  Buffer same_on_all_ranks(const Message& message, const std::string& call, std::size_t parts);
  Json step_fields() const;
  void bring_up_to_date();

  Context& ctx_;
  Channel& channel_;
  Child& child_;
  std::optional<MirroredState> state_;
  SharedMemory exchanged_;  ///< of the collectives
  pid_t sender_ = 0;        ///< who sends the messages, if it is known
  bool is_done_ = false;
  Lockstep lockstep_;
  LiveStacks& stacks_;
  std::optional<Message> call_;  ///< that the program has come to, and waits in
  bool is_asked_for_state_ = false;
  Fault fault_;
};

}  // namespace trainrt::program
