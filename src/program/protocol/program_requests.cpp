#include "program/protocol/program_requests.hpp"

#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"

namespace trainrt::program {

ProgramRequests::ProgramRequests(Context& ctx, Channel& channel, Child& child, LiveStacks& stacks,
                                 const ProtocolOptions& options, std::function<Json()> request_values)
    : ctx_(ctx),
      channel_(channel),
      options_(options),
      run_(ctx, child, stacks, options.look_up),
      state_(ctx, std::move(request_values)),
      arrays_(ctx.communicator()),
      datasets_([&ctx](const std::string& name) {
        return ctx.has_dataset(name) ? std::optional(ctx.dataset(name)) : std::nullopt;
      }) {}

const std::map<std::string_view, ProgramRequests::Request>& ProgramRequests::requests() {
  using Self = ProgramRequests&;
  using In = const Message&;
  constexpr bool collective = true;
  static const std::map<std::string_view, Request> all = {
      {"hello", {[](Self self, In in) { return self.begin(), self.run_.hello(in.body); }}},
      {"open_run", {[](Self self, In in) { return self.begin(), self.run_.open_run(in.body); }, collective}},
      {"close_run", {[](Self self, In) { return self.close_run(); }, collective}},
      {"begins", {[](Self self, In) { return self.begin(), Json::object(); }}},
      {"unsaved", {[](Self self, In) { return self.state_.unsaved(); }}},
      {"done", {[](Self self, In in) { return self.state_.take_final(in), Json::object(); }}},
      {"config", {[](Self self, In in) { return self.run_.config(in.body); }}},
      {"restore", {[](Self self, In in) { return self.state_.restore(in); }, collective}},
      {"step",
       {[](Self self, In in) {
          self.state_.take_values(in);
          return self.ctx_.step(), step_fields(self.ctx_);
        },
        collective}},
      {"report", {[](Self self, In in) { return self.state_.report(in); }, collective}},
      {"load", {[](Self self, In in) { return self.state_.load(in); }, collective}},
      {"checkpoint", {[](Self self, In) { return self.state_.checkpoint(); }}},
      {"stop_point", {[](Self self, In) { return self.ctx_.stop_point(), Json::object(); }, collective}},
      {"save", {[](Self self, In) { return self.ctx_.save(), Json::object(); }, collective}},
      {"barrier", {[](Self self, In) { return self.ctx_.communicator().barrier(), Json::object(); }, collective}},
      {"request_stop",
       {[](Self self, In in) { return self.ctx_.request_stop(text_field(in.body, "reason")), Json::object(); }}},
      {"log", {[](Self self, In in) { return self.ctx_.log(text_field(in.body, "text")), Json::object(); }}},
      {"expect_iterations",
       {[](Self self, In in) { return self.ctx_.expect_iterations(number_field(in.body, "total")), Json::object(); }}},
      {"metadata", {[](Self self, In in) {
         return self.ctx_.checkpoint_metadata(field(in.body, "json", Json::value_t::object).dump()), Json::object();
       }}},
      {"all_reduce", {[](Self self, In in) { return self.arrays_.all_reduce(in), Json::object(); }, collective}},
      {"broadcast", {[](Self self, In in) { return self.arrays_.broadcast(in), Json::object(); }, collective}},
      {"all_gather", {[](Self self, In in) { return self.arrays_.all_gather(in), Json::object(); }, collective}},
      {"share", {[](Self self, In in) { return self.arrays_.share(in, self.channel_); }, collective}},
      {"data_fit", {[](Self self, In in) { return *self.datasets_.reply(in); }, collective}},
  };
  return all;
}

bool ProgramRequests::is_collective(const std::string& op) {
  const auto found = requests().find(op);
  return found != requests().end() && found->second.is_collective;
}

Json ProgramRequests::reply(const Message& message) {
  datasets_.note_taken(message);
  if (const auto found = requests().find(message.op); found != requests().end()) return found->second.reply(*this, message);
  if (auto served = datasets_.reply(message)) return *std::move(served);
  std::string names;
  for (const auto& [name, request] : requests()) names += (names.empty() ? "" : ", ") + std::string(name);
  throw UsageError(
      fmt::format("train.program: the program sent an unknown message '{}'; messages are: {}", message.op, names));
}

/// Saves the State, and closes the run that the program has opened. Without ProtocolOptions::may_close, the run stays open
/// until the program exits: the end of the run would remove the files of program.stage, which the program still uses.
Json ProgramRequests::close_run() {
  if (state_.has_state()) ctx_.save();
  is_closed_ = options_.may_close;
  return Json::object();
}

void ProgramRequests::save_at_end() {
  if (ctx_.communicator().all_reduced(state_.is_final() ? 1 : 0, Op::min) != 0) ctx_.save();
}

}  // namespace trainrt::program
