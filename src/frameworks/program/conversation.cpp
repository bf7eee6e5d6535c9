#include "frameworks/program/conversation.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "frameworks/program/fields.hpp"
#include "frameworks/program/last_output.hpp"
#include "frameworks/program/metrics_message.hpp"
#include "frameworks/program/program_fell.hpp"

namespace trainrt::program {

namespace {

constexpr int protocol = 1;

std::string reported(const Message& failed) {
  const auto traceback = text_field(failed.body, "traceback", "");
  return "failed: " + text_field(failed.body, "error") + (traceback.empty() ? "" : "\n" + traceback);
}

}  // namespace

void Conversation::hold(Message first) {
  take(std::move(first));
  while (come_together()) answer(*std::exchange(call_, std::nullopt));
}

/// False if the programs of all ranks have ended well, else all have come to the same call.
bool Conversation::come_together() {
  for (;;) {
    const auto turn = next_turn();
    const auto verdict = lockstep_.look(turn, ctx_.step_count());
    if (verdict == Lockstep::Verdict::fell) fall_together();
    if (verdict == Lockstep::Verdict::go) return turn.kind == Turn::Kind::calls;
  }
}

/// What the program comes with within a moment. Messages of its rank alone are answered meanwhile.
Turn Conversation::next_turn() {
  constexpr double look_s = 0.2;
  const double end_s = monotonic_seconds() + look_s;
  for (;;) {
    const double left_s = end_s - monotonic_seconds();
    const double most_s = is_done_ || !channel_.is_open() ? 0.01 : left_s;
    if (!call_ && !has_ended())
      if (auto message = channel_.receive(std::max(0.0, std::min(left_s, most_s)))) take(std::move(*message));
    look_at_end();
    if (!fault_.text.empty()) return {Turn::Kind::fell, ""};
    if (call_) return {Turn::Kind::calls, call_->op};
    if (has_ended()) return {Turn::Kind::ended, ""};
    if (left_s <= 0) return {};
  }
}

void Conversation::take(Message message) {
  if (message.op == "failed") {
    fault_ = {reported(message), monotonic_seconds(), true};
    child_.ends_within(0.5);  // it may have something to say
  } else if (message.op == "done") {
    is_done_ = true;
  } else if (is_for_all_ranks(message.op)) {
    if (!call_) call_ = std::move(message);  // else the program has left one, and ended: nobody waits for an answer
  } else {
    answer(message);
  }
}

/// No message comes any more.
bool Conversation::has_ended() {
  if (!child_.ending()) return false;
  // The batch system signals all processes: a script around the program dies of it, and the program does not.
  if (child_.ended_by_stop_signal() && channel_.is_open()) return false;
  stacks_.forget();  // the number of the process may soon be another's
  while (auto last = channel_.receive(0)) take(std::move(*last));
  return true;
}

/// The exit code is that of the command, which may be a script or a pipeline around the program.
void Conversation::look_at_end() {
  if (!has_ended() || !fault_.text.empty()) return;  // its last message may have told
  const auto& ending = *child_.ending();
  if (is_done_ && child_.ended_by_stop_signal()) return;
  if (!ending.is_good())
    fault_ = {ending_in_words(ending, last_output(child_.output_tail())), monotonic_seconds() - child_.end_age_s()};
  else if (!is_done_ && sender_ != 0 && sender_ != child_.pid())
    fault_ = {fmt::format("ended without a last word: it was killed, or called os._exit(). That is process {}; the command "
                          "of train.program around it exited with 0 all the same (in a pipeline of bash, 'set -o pipefail' "
                          "keeps the exit code)",
                          sender_),
              monotonic_seconds() - child_.end_age_s()};
}

void Conversation::fall_together() {
  auto& communicator = ctx_.communicator();
  const auto endings = gather_endings(communicator, child_, fault_);
  const int first = first_to_fall(endings);
  throw ProgramFell(fall_in_words(endings, first, share_output(communicator, child_, first)));
}

void Conversation::answer(const Message& message) {
  try {
    channel_.send({{"ok", reply(message)}});
  } catch (const ProgramFell&) {
    throw;  // the program gets no answer, which it might act on, but SIGKILL
  } catch (const Error& error) {
    channel_.send({{"error", error.what()}, {"usage", error.code() == ExitCode::usage}});
    throw;
  }
}

/// The messages that there are.
const std::map<std::string_view, Conversation::Call>& Conversation::calls() {
  using Self = Conversation&;
  using In = const Message&;
  constexpr bool together = true;
  static const std::map<std::string_view, Call> all = {
      {"hello", {[](Self self, In hello) { return self.hello(hello.body); }}},
      {"config", {[](Self self, In config) { return self.config(config.body); }}},
      {"restore", {[](Self self, In restore) { return self.restore(restore); }, together}},
      {"step", {[](Self self, In) { return self.ctx_.step(), self.step_fields(); }, together}},
      {"report", {[](Self self, In report) { return self.report(report.body); }, together}},
      {"stop_point", {[](Self self, In) { return self.ctx_.stop_point(), Json::object(); }, together}},
      {"save", {[](Self self, In) { return self.ctx_.save(), Json::object(); }, together}},
      {"barrier", {[](Self self, In) { return self.ctx_.communicator().barrier(), Json::object(); }, together}},
      {"request_stop",
       {[](Self self, In request) { return self.ctx_.request_stop(text_field(request.body, "reason")), Json::object(); }}},
      {"log", {[](Self self, In log) { return self.ctx_.log(text_field(log.body, "text")), Json::object(); }}},
      {"expect_iterations", {[](Self self, In expected) {
         return self.ctx_.expect_iterations(number_field(expected.body, "total")), Json::object();
       }}},
      {"metadata", {[](Self self, In metadata) {
         return self.ctx_.checkpoint_metadata(field(metadata.body, "json", Json::value_t::object).dump()), Json::object();
       }}},
      {"all_reduce", {[](Self self, In reduction) { return self.all_reduce(reduction); }, together}},
      {"broadcast", {[](Self self, In root) { return self.broadcast(root); }, together}},
      {"all_gather", {[](Self self, In part) { return self.all_gather(part); }, together}},
  };
  return all;
}

/// While the program is asked for its state nothing else may come, from any rank's.
bool Conversation::is_for_all_ranks(const std::string& op) const {
  const auto found = calls().find(op);
  return is_asked_for_state_ || (found != calls().end() && found->second.is_for_all_ranks);
}

Json Conversation::reply(const Message& message) {
  if (const auto found = calls().find(message.op); found != calls().end()) return found->second.make(*this, message);
  std::string names;
  for (const auto& [name, call] : calls()) names += (names.empty() ? "" : ", ") + std::string(name);
  throw UsageError(fmt::format("train.program: the program's message '{}' is unknown; there are: {}", message.op, names));
}

Json Conversation::hello(const Json& body) {
  if (const auto theirs = number_field(body, "protocol"); theirs != protocol)
    throw UsageError(
        fmt::format("train.program: the program speaks protocol {}, this is {}: take the client that came with "
                    "this version",
                    theirs, protocol));
  if (body.contains("pid")) sender_ = static_cast<pid_t>(number_field(body, "pid"));
  if (body.contains("stacks_signal")) take_stacks_signal(number_field(body, "stacks_signal"));
  auto fields = step_fields();
  fields.update({{"protocol", protocol},
                 {"world_rank", ctx_.world_rank()},
                 {"world_size", ctx_.world_size()},
                 {"local_rank", ctx_.local_rank()},
                 {"local_world_size", ctx_.local_world_size()},
                 {"node_rank", ctx_.node_rank()},
                 {"gpus", ctx_.gpus()},
                 {"run_name", ctx_.run_name()},
                 {"run_dir", ctx_.run_dir()},
                 {"seed", ctx_.seed()}});
  return fields;
}

/// One that might end the program, or mean something else to it, is none.
void Conversation::take_stacks_signal(std::int64_t signal) {
  if (signal < SIGRTMIN || signal > SIGRTMAX)
    throw UsageError(fmt::format("train.program: \"stacks_signal\" is {}; it must be a real-time signal, {} to {}", signal,
                                 SIGRTMIN, SIGRTMAX));
  stacks_.can_be_asked(child_.pid(), static_cast<int>(signal), child_.output());
}

Json Conversation::config(const Json& body) const {
  const auto key = text_field(body, "key");
  constexpr auto* missing = "\x01 no such key";  // no config file holds that
  const auto text = ctx_.config<std::string>(key, missing);
  return {{"value", text == missing ? Json() : Json(text)}};
}

Json Conversation::step_fields() const { return {{"step", ctx_.step_count()}, {"step_seed", ctx_.step_seed()}}; }

Json Conversation::restore(const Message& message) {
  if (state_) throw UsageError("train.program: the program sent 'restore' twice: it attaches the one State of the run");
  state_.emplace(message);
  state_->state().before_save([this] { bring_up_to_date(); });
  const bool restored = ctx_.restore(state_->state());
  auto fields = step_fields();
  fields.update({{"restored", restored}, {"values", state_->values()}});
  return fields;
}

/// The program's part in a checkpoint: it copies what it keeps elsewhere.
void Conversation::bring_up_to_date() {
  channel_.send({{"save", true}});
  is_asked_for_state_ = true;
  if (!come_together()) throw Error("train.program: the programs ended in the middle of a checkpoint");
  is_asked_for_state_ = false;
  const auto message = *std::exchange(call_, std::nullopt);
  if (message.op != "state")
    throw UsageError(fmt::format("train.program: the program was asked for its state and sent '{}'", message.op));
  state_->take_values(field(message.body, "values", Json::value_t::object));
}

Json Conversation::report(const Json& body) {
  ctx_.report(metrics_from(body));
  return Json::object();
}

void Conversation::take_memory(const Message& message) {
  if (!message.file) return;
  exchanged_ = SharedMemory(message.file, static_cast<std::size_t>(number_field(message.body, "memory")));
}

Json Conversation::all_reduce(const Message& message) {
  const auto& body = message.body;
  take_memory(message);
  const auto dtype = dtype_from(text_field(body, "dtype"));
  const auto count = static_cast<std::size_t>(number_field(body, "count"));
  if (count > exchanged_.size() / size_of(dtype))
    throw UsageError(fmt::format("train.program: all_reduce of {} {} elements, in a memory of {} bytes", count,
                                 name_of(dtype), exchanged_.size()));
  const auto op =
      choice_field<Op>(body, "reduce", {{"sum", Op::sum}, {"mean", Op::mean}, {"min", Op::min}, {"max", Op::max}});
  ctx_.communicator().all_reduce(Buffer{exchanged_.data(), count, dtype}, op, text_field(body, "name", "the program's"));
  return Json::object();
}

/// The elements of this rank, at the beginning of a memory that has room for so many `parts` of them. Collective: ranks
/// that make another call, or give another type or shape, get an Error that says which, on all ranks.
Buffer Conversation::same_on_all_ranks(const Message& message, const std::string& call, std::size_t parts) {
  take_memory(message);
  const auto what = "the array of " + message.op + "()";
  const auto dtype = dtype_from(text_field(message.body, "dtype"));
  const auto shape = shape_field(message.body, what);
  const auto bytes = bytes_of(shape, dtype, what);
  if (bytes > exchanged_.size() / parts)
    throw UsageError(fmt::format("train.program: {} of {} bytes, {} of them in a memory of {} bytes", message.op, bytes,
                                 parts, exchanged_.size()));
  const auto mine = fmt::format("{} {} {}", call, name_of(dtype), to_string(shape));
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(mine));
  std::array<std::int64_t, 2> most = {hash, ~hash};
  ctx_.communicator().all_reduce(most, Op::max, message.op);
  if (most[0] != ~most[1]) refuse_difference(ctx_.communicator().all_gather(mine));
  return {exchanged_.data(), bytes / size_of(dtype), dtype};
}

Json Conversation::broadcast(const Message& message) {
  const auto root = number_field(message.body, "root");
  if (root >= ctx_.world_size())
    throw UsageError(
        fmt::format("train.program: broadcast from rank {}: there are {} ranks, numbered from 0", root, ctx_.world_size()));
  const auto buffer = same_on_all_ranks(message, fmt::format("broadcast from rank {} of", root), 1);
  ctx_.communicator().broadcast(buffer, static_cast<int>(root), "the program's");
  return Json::object();
}

Json Conversation::all_gather(const Message& message) {
  const auto ranks = static_cast<std::size_t>(ctx_.world_size());
  const auto mine = same_on_all_ranks(message, "all_gather of", ranks);
  const std::vector<std::byte> part(exchanged_.data(), exchanged_.data() + mine.bytes());  // its place gets rank 0's
  const std::vector<std::size_t> counts(ranks, mine.count);
  ctx_.communicator().all_gather(part.data(), counts, Buffer{mine.data, ranks * mine.count, mine.dtype}, "the program's");
  return Json::object();
}

}  // namespace trainrt::program
