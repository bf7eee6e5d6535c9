#include "frameworks/program/conversation.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/program/fields.hpp"
#include "frameworks/program/last_output.hpp"

namespace trainrt::program {

namespace {

constexpr int protocol = 1;

template <class Kind>
Kind kind_from(const Json& body, const char* name, const std::map<std::string, Kind>& kinds) {
  const auto text = text_field(body, name);
  if (const auto found = kinds.find(text); found != kinds.end()) return found->second;
  std::string valid;
  for (const auto& [word, kind] : kinds) valid += (valid.empty() ? "" : ", ") + word;
  throw UsageError(fmt::format("train.program: \"{}\" is '{}'; it must be one of: {}", name, text, valid));
}

MetricValue metric_from(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  const auto what = fmt::format("the metric '{}'", name);
  if (!value.is_object() || !value.contains("value")) return real_from(value, what);
  Number number{.value = real_from(value["value"], what)};
  if (value.contains("reduce"))
    number.reduce = kind_from<Reduce>(
        value, "reduce", {{"mean", Reduce::mean}, {"sum", Reduce::sum}, {"min", Reduce::min}, {"max", Reduce::max}});
  if (value.contains("weight")) number.weight = real_from(value["weight"], what);
  return number;
}

/// `ranks`: what each rank gave.
[[noreturn]] void refuse_difference(const std::vector<std::string>& ranks) {
  std::size_t other = 1;
  while (ranks.at(other) == ranks[0]) ++other;
  throw Error(fmt::format("train.program: the ranks do not make the same call: rank 0 came with {}, rank {} with {}",
                          ranks[0], other, ranks[other]));
}

[[noreturn]] void fail_as_reported(const Message& message) {
  const auto traceback = text_field(message.body, "traceback", "");
  throw Error(text_field(message.body, "error") + (traceback.empty() ? "" : "\n" + traceback));
}

}  // namespace

void require_good_end(Child& child, const Context& ctx) {
  const auto& ending = *child.ending();
  if (ending.is_good()) return;
  const auto output = last_output(child.output_tail());
  throw Error(fmt::format("the program of rank {} (train.program, process {}) {}{}", ctx.world_rank(), child.pid(),
                          ending_in_words(ending, output), output_in_words(ctx.world_rank(), output)));
}

void Conversation::hold(Message first) {
  for (std::optional<Message> message = std::move(first); message; message = next()) answer(*message);
}

/// Nothing if the program has ended well.
std::optional<Message> Conversation::next() {
  constexpr double look_s = 0.1;
  for (;;) {
    if (auto message = channel_.receive(look_s)) return message;
    if (!child_.ending()) continue;
    if (auto last = channel_.receive(0)) return last;
    // The batch system signals all processes: a script around the program dies of it, and the program does not.
    if (child_.ended_by_stop_signal() && channel_.is_open()) continue;
    require_good_end();
    return std::nullopt;
  }
}

/// The exit code is that of the command, which may be a script or a pipeline around the program.
void Conversation::require_good_end() {
  if (is_done_ && child_.ended_by_stop_signal()) return;
  program::require_good_end(child_, ctx_);
  if (is_done_ || sender_ == 0 || sender_ == child_.pid()) return;
  throw Error(
      fmt::format("the program of rank {} (process {}) ended without a last word: it was killed, or called os._exit(). The "
                  "command of train.program around it exited with 0 all the same (in a pipeline of bash, 'set -o pipefail' "
                  "keeps the exit code)",
                  ctx_.world_rank(), sender_));
}

void Conversation::answer(const Message& message) {
  if (message.op == "failed") fail_as_reported(message);
  if (message.op == "done") {
    is_done_ = true;
    return;
  }
  try {
    channel_.send({{"ok", reply(message)}});
  } catch (const Error& error) {
    channel_.send({{"error", error.what()}, {"usage", error.code() == ExitCode::usage}});
    throw;
  }
}

Json Conversation::reply(const Message& message) {
  using Call = Json (*)(Conversation&, const Message&);
  static const std::map<std::string_view, Call> calls = {
      {"hello", [](Conversation& self, const Message& hello) { return self.hello(hello.body); }},
      {"config", [](Conversation& self, const Message& config) { return self.config(config.body); }},
      {"restore", [](Conversation& self, const Message& restore) { return self.restore(restore); }},
      {"step", [](Conversation& self, const Message&) { return self.ctx_.step(), self.step_fields(); }},
      {"report", [](Conversation& self, const Message& report) { return self.report(report.body); }},
      {"stop_point", [](Conversation& self, const Message&) { return self.ctx_.stop_point(), Json::object(); }},
      {"save", [](Conversation& self, const Message&) { return self.ctx_.save(), Json::object(); }},
      {"barrier", [](Conversation& self, const Message&) { return self.ctx_.communicator().barrier(), Json::object(); }},
      {"request_stop",
       [](Conversation& self, const Message& request) {
         return self.ctx_.request_stop(text_field(request.body, "reason")), Json::object();
       }},
      {"log",
       [](Conversation& self, const Message& log) { return self.ctx_.log(text_field(log.body, "text")), Json::object(); }},
      {"expect_iterations",
       [](Conversation& self, const Message& expected) {
         return self.ctx_.expect_iterations(number_field(expected.body, "total")), Json::object();
       }},
      {"metadata",
       [](Conversation& self, const Message& metadata) {
         return self.ctx_.checkpoint_metadata(field(metadata.body, "json", Json::value_t::object).dump()), Json::object();
       }},
      {"all_reduce", [](Conversation& self, const Message& reduction) { return self.all_reduce(reduction); }},
      {"broadcast", [](Conversation& self, const Message& root) { return self.broadcast(root); }},
      {"all_gather", [](Conversation& self, const Message& part) { return self.all_gather(part); }},
  };
  if (const auto call = calls.find(message.op); call != calls.end()) return call->second(*this, message);
  std::string names;
  for (const auto& [name, call] : calls) names += (names.empty() ? "" : ", ") + std::string(name);
  throw UsageError(fmt::format("train.program: the program's message '{}' is unknown; there are: {}", message.op, names));
}

Json Conversation::hello(const Json& body) {
  if (const auto theirs = number_field(body, "protocol"); theirs != protocol)
    throw UsageError(
        fmt::format("train.program: the program speaks protocol {}, this is {}: take the client that came with "
                    "this version",
                    theirs, protocol));
  if (body.contains("pid")) sender_ = static_cast<pid_t>(number_field(body, "pid"));
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
  const auto message = next();
  if (!message) throw Error("the program ended in the middle of a checkpoint");
  if (message->op == "failed") fail_as_reported(*message);
  if (message->op != "state")
    throw UsageError(fmt::format("train.program: the program was asked for its state and sent '{}'", message->op));
  state_->take_values(field(message->body, "values", Json::value_t::object));
}

Json Conversation::report(const Json& body) {
  Metrics metrics;
  for (const auto& [name, value] : field(body, "metrics", Json::value_t::object).items())
    metrics.emplace_back(name, metric_from(name, value));
  ctx_.report(metrics);
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
  const auto op = kind_from<Op>(body, "reduce", {{"sum", Op::sum}, {"mean", Op::mean}, {"min", Op::min}, {"max", Op::max}});
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
