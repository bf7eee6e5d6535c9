#include "program/protocol/conversation.hpp"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/rank_zero.hpp"
#include "program/children/last_output.hpp"
#include "program/children/program_fell.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

constexpr int protocol = 1;
constexpr double quiet_look_s = 0.2;
constexpr double shortest_look_s = 0.005, longest_look_s = 0.05, look_growth = 1.1;  // while a checkpoint is on its way

}  // namespace

Conversation::End Conversation::hold(Message first) {
  take(std::move(first));
  while (!is_closed_ && come_together()) {
    if (!call_->body.contains("left") && !call_->body.contains("stage")) stacks_.note_call(call_place(*call_));
    answer(*std::exchange(call_, std::nullopt));
  }
  return is_closed_ ? End::of_run : End::of_programs;
}

/// False if the programs of all ranks have ended well, else all have come to the same call. A checkpoint on its way
/// advances between two looks, and a program may wait for it: they are short at first, and longer while a large one is
/// written.
bool Conversation::come_together() {
  for (double short_look_s = shortest_look_s;; short_look_s = std::min(look_growth * short_look_s, longest_look_s)) {
    const double look_s = ctx_.is_checkpoint_on_its_way() ? short_look_s : quiet_look_s;
    const auto turn = next_turn(look_s);
    const auto verdict = lockstep_.look(turn, ctx_.step_count(), look_s);
    if (verdict == Lockstep::Verdict::fell) fall_together();
    if (verdict == Lockstep::Verdict::go) return turn.kind == Turn::Kind::calls;
    ctx_.advance_checkpoint();  // a program may compute for long
  }
}

/// What the program comes with within a moment. Messages of its rank alone are answered meanwhile.
Turn Conversation::next_turn(double look_s) {
  const double end_s = monotonic_seconds() + look_s;
  for (;;) {
    const double left_s = end_s - monotonic_seconds();
    const double most_s = is_done_ || !channel_.is_open() ? 0.01 : left_s;
    if (!call_ && !has_ended())
      if (auto message = channel_.receive(std::max(0.0, std::min(left_s, most_s)))) take(std::move(*message));
    look_at_end();
    if (!fault_.text.empty()) return {Turn::Kind::fell, ""};
    if (call_) return {Turn::Kind::calls, call_->op, arrival_of_call()};
    if (has_ended()) return {Turn::Kind::ended, "", {Arrival::Kind::left, left_, stacks_.last_call()}};
    if (left_s <= 0) return {Turn::Kind::computes, "", {Arrival::Kind::computes, "", stacks_.last_call()}};
  }
}

/// A call of a program whose train function has returned is the package's own.
Arrival Conversation::arrival_of_call() const {
  const auto left = text_field(call_->body, "left", "");
  if (!left.empty()) return {Arrival::Kind::left, left, stacks_.last_call()};
  return {Arrival::Kind::calls, call_place(*call_), stacks_.last_call()};
}

void Conversation::take(Message message) {
  if (message.op == "failed") {
    fault_ = told_by(message);
    child_.ends_within(0.5);  // it may have something to say
  } else if (message.op == "done") {
    datasets_.note_taken(message);
    is_done_ = true;
    left_ = text_field(message.body, "left", left_);
  } else if (message.op == "imported") {
    return;
  } else if (is_for_all_ranks(message.op)) {
    if (!call_) call_ = std::move(message);  // else the program has left one, and ended: nobody waits for an answer
  } else {
    answer(message);
  }
}

/// No message comes any more.
bool Conversation::has_ended() {
  if (!child_.is_over()) return false;
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
  throw fall_of(endings, first, share_output(communicator, child_, first));
}

void Conversation::answer(const Message& message) {
  try {
    datasets_.note_taken(message);
    if (message.op == "close_run") close_run();
    if (is_closed_) return;
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
      {"hello", {[](Self self, In hello) { return self.begin(), self.hello(hello.body); }}},
      {"open_run", {[](Self self, In request) { return self.begin(), self.open_run(request.body); }, together}},
      {"close_run", {[](Self, In) { return Json::object(); }, together}},
      {"begins", {[](Self self, In) { return self.begin(), Json::object(); }}},
      {"config", {[](Self self, In config) { return self.config(config.body); }}},
      {"restore", {[](Self self, In restore) { return self.restore(restore); }, together}},
      {"step", {[](Self self, In) { return self.ctx_.step(), self.step_fields(); }, together}},
      {"report", {[](Self self, In report) { return self.report(report); }, together}},
      {"load", {[](Self self, In load) { return self.load(load); }, together}},
      {"checkpoint", {[](Self self, In) { return self.checkpoint(); }}},
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
      {"all_reduce",
       {[](Self self, In reduction) { return self.arrays_.all_reduce(reduction), Json::object(); }, together}},
      {"broadcast", {[](Self self, In root) { return self.arrays_.broadcast(root), Json::object(); }, together}},
      {"all_gather", {[](Self self, In part) { return self.arrays_.all_gather(part), Json::object(); }, together}},
      {"data_fit", {[](Self self, In fit) { return *self.datasets_.reply(fit); }, together}},
      {"share", {[](Self self, In wish) { return self.arrays_.share(wish, self.channel_); }, together}},
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
  if (auto served = datasets_.reply(message)) return *std::move(served);
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
  if (body.contains("pid")) child_.note_client(sender_ = static_cast<pid_t>(number_field(body, "pid")));
  if (body.contains("stacks_signal")) take_stacks_signal(number_field(body, "stacks_signal"));
  return identity();
}

Json Conversation::identity() const {
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
                 {"seed", ctx_.seed()},
                 {"aggregate", !ctx_.report_options().of_first_rank}});
  return fields;
}

/// A program that was started again asks for its runs in turn, from the first.
Json Conversation::open_run(const Json& body) {
  const auto greeting = hello(body);
  const auto run = looked_up(run_request_from(body));
  if (run.is_finished && run.run_dir != ctx_.run_dir()) return finished_fields(place_of(ctx_), run);
  if (run.run_dir != ctx_.run_dir())
    throw UsageError(
        fmt::format("train.program: the program asks for the run '{}' ({}), but '{}' ({}) is open: a run is open from the "
                    "first call of trainrt.context() on, or once the program has said nothing for a minute, or printed "
                    "more than 1 MiB. Call fit() before, or start with --run.name={} --run.storage_path=...",
                    run.name, run.run_dir, ctx_.run_name(), ctx_.run_dir(), run.name));
  return greeting;
}

/// Rank 0's, on all ranks.
RequestedRun Conversation::looked_up(const RunRequest& request) {
  Json found = Json::object();
  RankZero(ctx_.world_rank()).run([&] {
    try {
      const auto run = rules_.look_up(request);
      found = {{"name", run.name}, {"run_dir", run.run_dir}, {"is_finished", run.is_finished}};
    } catch (const std::exception& error) {
      found = {{"error", error.what()}};
    }
  });
  found = Json::parse(ctx_.communicator().broadcast_text(found.dump(-1, ' ', false, Json::error_handler_t::replace), 0));
  if (found.contains("error")) throw UsageError(found["error"].get<std::string>());
  return {found["name"], found["run_dir"], found["is_finished"]};
}

/// A tree that is staged is there as long as its run: that is closed when the program ends.
void Conversation::close_run() {
  if (state_ && !state_->state().empty()) ctx_.save();
  is_closed_ = rules_.may_close;
}

/// One that might end the program, or mean something else to it, is none.
void Conversation::take_stacks_signal(std::int64_t signal) {
  if (signal < SIGRTMIN || signal > SIGRTMAX)
    throw UsageError(fmt::format("train.program: \"stacks_signal\" is {}; it must be a real-time signal, {} to {}", signal,
                                 SIGRTMIN, SIGRTMAX));
  stacks_.can_be_asked(child_.pid(), static_cast<int>(signal), child_.output());
}

Json Conversation::config(const Json& body) const {
  constexpr auto* missing = "\x01 no such key";  // no config file holds that
  const auto text = ctx_.config<std::string>(text_field(body, "key"), missing);
  return {{"value", text == missing ? Json() : Json(text)}};
}

Json Conversation::step_fields() const { return {{"step", ctx_.step_count()}, {"step_seed", ctx_.step_seed()}}; }

}  // namespace trainrt::program
