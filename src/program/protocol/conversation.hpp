#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <trainrt/context.hpp>

#include "program/children/child.hpp"
#include "program/progress/live_stacks.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/dataset_service.hpp"
#include "program/protocol/endings.hpp"
#include "program/protocol/lockstep.hpp"
#include "program/protocol/mirrored_state.hpp"
#include "program/protocol/run_request.hpp"
#include "program/protocol/shared_arrays.hpp"

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
///                                        node_rank, gpus, run_name, run_dir, seed, aggregate (Context::report_options()),
///                                        step, step_seed
///   open_run {settings, number, and as hello}    instead of hello: the run of these config keys ({"run.name": "mine"}),
///   the
///                                        number-th that the program asks for; rank 0's count. Returns the same, and
///                                        finished: it is so already, and nothing is run
///   close_run                            the run is finished, and open_run may follow; after it nothing but that
///   imported                             no answer; the program uses the client, and may say so later
///   begins                               its train function is called now: the first step can begin
///   config {key}                         returns value: the text of that [loop] key, or null
///   restore {tensors, values, files, memory}    returns restored, values, step, step_seed
///   step                                 returns step, step_seed
///   report {metrics}                     each a number (2 is a whole one, 2.0 a real), text, true, false, null (NaN), or
///                                        {value, weight, reduce = mean | sum | min | max}; besides of_first_rank,
///                                        directory (a path, or null) and directory_metadata (an object):
///                                        Context::report(). With tensors, values and files as restore has them: the State
///                                        of this checkpoint alone
///   load {path, and as restore}          fills this State from that checkpoint, or the newest of that run
///   checkpoint                           returns checkpoint, {index, path, files} or null: the newest that is committed;
///                                        on_its_way: a later one may soon be
///   stop_point, save, barrier
///   request_stop {reason}
///   expect_iterations {total}
///   log {text}                           lines of this worker
///   data_look {name}                     returns samples, fields: [{name, dtype, shape, varies}]; or is_missing = true
///   data_begin {name, batch_size, remainder = pad | uneven | drop}    a walk over the batches of an epoch: `epoch`, or the
///                                        one that is next; of all fields, or `fields`, a list of names. Returns walk, its
///                                        number, epoch, and batches, of a whole epoch. With `ahead` = true the batches
///                                        that data_next gives count as done when data_taken says so, and data_end ends the
///                                        walk; with `draws` = true each answer of data_next has draws: a random number of
///                                        64 bits for each sample, the same in this epoch on any rank and after a restart
///   data_next {walk, slot}               the next batch, in a memory of the program, which it numbers; a message brings
///   it,
///                                        with `memory`, or a larger one in its place. Returns samples, weight, and places:
///                                        [at, values, ends_at] of each field, or end = true, or room, the bytes that it
///                                        needs
///                                        With `together`, a number of bytes: returns batches, a list of such, the next
///                                        one and those that are there already, as far as they fit into that
///   data_taken {walk, batches}           so many of them count as done. Any other message may say that too, before what
///                                        it asks for: with `taken`, an object, {"WALK": batches}
///   data_end {walk}                      leaves it before its end
///   data_fit {name, preprocessor}        fits it to the dataset, by all ranks: trainrt/preprocessor.hpp's JSON, as an
///   object.
///                                        Returns preprocessor, the same with its stats
///   metadata {json}                      an object
///   all_reduce {dtype, count, reduce = sum | mean | min | max}    the memory's first elements, in place
///   broadcast {dtype, shape, root}       the same: rank root's are on every rank then
///   all_gather {dtype, shape}            the memory's first elements, of this rank, are replaced by those of all ranks
///   share {bytes}                        asks for a better memory than that of these three, as large at most: in which the
///                                        ranks reach each other's. Returns at and bytes, its place in a file that travels
///                                        with the answer, and is used from then on; or nothing: there is none
///   failed {error, traceback}            no answer; the program ends
///   done                                 no answer; the program ends, and well. `left` says what it left: "the program"
///
/// A call that all ranks make together may say where the user's code makes it: `place`, "report() at train.py:12"; or, if
/// it is not the user's, when it is made: `stage`, "the start of the train function", or after what this rank has left:
/// `left`, "the train function".
///
/// restore: a tensor is {name, dtype, shape, at, placement = replicated | sharded | slab | per_rank | sum}, sharded ones
/// with axis, first and global_extent, slabs with offset and global_shape; `at` is its place in the memory, a memfd of
/// `memory` bytes with F_SEAL_SHRINK that travels with the message (SCM_RIGHTS) and holds what the tensors are before;
/// after the answer, what was restored, or of a new run what rank 0 has in the replicated ones. `sums` names the values
/// that are parts of a sum over the ranks. "steady": true says that the program writes into this memory only between
/// 'save', which asks it for its state, and its answer: checkpoints are then written from there, tensors that begin on a
/// page without a copy, and 'save' is not sent before the last one is written. A file is {name, path, per_rank}. With
/// "by_directory": true instead of all these it is Context::restore() without a State. all_reduce, broadcast and all_gather
/// bring a memory of their own, with `memory`, if they have none of that size yet; so do report and load, whose memory is
/// another one. At stacks_signal, a real-time signal, the program prints its stacks and goes on. A program whose hello has
/// its pid says 'done' if its exit code may not reach the runtime: behind a script or a pipe. Numbers that JSON lacks are
/// {"float": "nan" | "inf" | "-inf"}.
class Conversation {
 public:
  struct Rules {
    double wait_limit_s = 0;                                      ///< Lockstep's
    bool may_close = true;                                        ///< its run before it ends
    std::function<RequestedRun(const RunRequest&)> look_up = {};  ///< ProgramOptions::look_up
    std::function<void()> begins = {};                            ///< the program has opened the run, or begins to train
  };
  /// `stacks` learns how the program is asked for them.
  Conversation(Context& ctx, Channel& channel, Child& child, Rules rules, LiveStacks& stacks)
      : ctx_(ctx),
        rules_(std::move(rules)),
        channel_(channel),
        child_(child),
        arrays_(ctx.communicator()),
        datasets_([&ctx](const std::string& name) {
          return ctx.has_dataset(name) ? std::optional(ctx.dataset(name)) : std::nullopt;
        }),
        lockstep_(ctx.communicator(), rules_.wait_limit_s),
        stacks_(stacks) {}
  ~Conversation() { stacks_.forget(); }
  Conversation(const Conversation&) = delete;

  enum class End {
    of_programs,
    of_run,  ///< all have sent close_run, and wait for the answer
  };
  /// From the program's first message to the good end of all. Throws what the Context throws (a stop is for the caller to
  /// pass on), UsageError for bad messages, Error if the programs do not make the same calls, and ProgramFell, on all
  /// ranks, if one falls.
  End hold(Message first);

 private:
  struct Call {
    Json (*make)(Conversation&, const Message&);
    bool is_for_all_ranks = false;  ///< all ranks make it together
  };
  static const std::map<std::string_view, Call>& calls();
  bool is_for_all_ranks(const std::string& op) const;
  bool come_together();
  Turn next_turn(double look_s);
  Arrival arrival_of_call() const;
  void take(Message message);
  bool has_ended();
  void look_at_end();
  [[noreturn]] void fall_together();
  void answer(const Message& message);
  Json reply(const Message& message);
  Json hello(const Json& body);
  Json open_run(const Json& body);
  RequestedRun looked_up(const RunRequest& request);
  void close_run();
  /// Reports that the program can begin to train; the last call before its first step counts.
  void begin() const {
    if (rules_.begins) rules_.begins();
  }
  Json identity() const;
  void take_stacks_signal(std::int64_t signal);
  Json config(const Json& body) const;
  Json restore(const Message& message);
  Json report(const Message& message);
  Json load(const Message& message);
  Json checkpoint() const;
  Json step_fields() const;
  void bring_up_to_date();

  Context& ctx_;
  Rules rules_;
  Channel& channel_;
  Child& child_;
  std::optional<MirroredState> state_;
  SharedArrays arrays_;
  DatasetService datasets_;
  SharedMemory memory_of_one_;  ///< of the States of single reports and loads
  pid_t sender_ = 0;            ///< who sends the messages, if it is known
  bool is_done_ = false;
  std::string left_ = "the program";  ///< Arrival::place after its end
  bool is_closed_ = false;
  Lockstep lockstep_;
  LiveStacks& stacks_;
  std::optional<Message> call_;  ///< that the program has come to, and waits in
  bool is_asked_for_state_ = false;
  Fault fault_;
};

}  // namespace trainrt::program
