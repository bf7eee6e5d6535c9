// The messages of a program that restore, report and load its state.
#include "program/protocol/conversation.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"
#include "program/protocol/metrics_message.hpp"

namespace trainrt::program {

Json Conversation::restore(const Message& message) {
  if (state_) throw UsageError("train.program: the program sent 'restore' twice: it attaches the one State of the run");
  const bool by_directory = flag_field(message.body, "by_directory");
  if (!by_directory) {
    state_.emplace(message);
    state_->state().before_save([this] { bring_up_to_date(); });
  }
  Json fields{{"restored", by_directory ? ctx_.restore() : ctx_.restore(state_->state())}};
  fields.update(step_fields());
  fields["values"] = by_directory ? Json::object() : state_->values();
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

Json Conversation::report(const Message& message) {
  auto directory = directory_from(message.body);
  std::optional<MirroredState> of_this_report;
  if (message.body.contains("tensors")) directory.state = &of_this_report.emplace(message, memory_of_one_).state();
  ctx_.report(metrics_from(message.body), directory, {.of_first_rank = flag_field(message.body, "of_first_rank")});
  return Json::object();
}

Json Conversation::load(const Message& message) {
  MirroredState wanted(message, memory_of_one_);
  ctx_.load(wanted.state(), text_field(message.body, "path"));
  return {{"values", wanted.values()}};
}

Json Conversation::checkpoint() const {
  Json newest;
  if (const auto at = ctx_.checkpoint()) newest = {{"index", at->index}, {"path", at->path}, {"files", at->has_files}};
  return {{"checkpoint", std::move(newest)}, {"on_its_way", ctx_.is_checkpoint_on_its_way()}};
}

}  // namespace trainrt::program
