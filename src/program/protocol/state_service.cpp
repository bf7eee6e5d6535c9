#include "program/protocol/state_service.hpp"

#include <trainrt/error.hpp>

#include "program/protocol/fields.hpp"
#include "program/protocol/metrics_message.hpp"
#include "program/protocol/run_service.hpp"

namespace trainrt::program {

Json StateService::restore(const Message& message) {
  if (state_) throw UsageError("train.program: the program sent 'restore' twice; a run has one State");
  const bool by_directory = flag_field(message.body, "by_directory");
  if (!by_directory) {
    state_.emplace(message);
    state_->state().before_save([this] { state_->take_values(request_values_()); });
  }
  Json fields{{"restored", by_directory ? ctx_.restore() : ctx_.restore(state_->state())}};
  fields.update(step_fields(ctx_));
  fields["values"] = by_directory ? Json::object() : state_->values();
  return fields;
}

Json StateService::report(const Message& message) {
  auto directory = directory_from(message.body);
  std::optional<MirroredState> of_this_report;
  if (message.body.contains("tensors")) directory.state = &of_this_report.emplace(message, call_memory_).state();
  ctx_.report(metrics_from(message.body), directory, {.of_first_rank = flag_field(message.body, "of_first_rank")});
  return Json::object();
}

Json StateService::load(const Message& message) {
  MirroredState wanted(message, call_memory_);
  ctx_.load(wanted.state(), text_field(message.body, "path"));
  return {{"values", wanted.values()}};
}

Json StateService::checkpoint() const {
  Json newest;
  if (const auto at = ctx_.checkpoint()) newest = {{"index", at->index}, {"path", at->path}, {"files", at->has_files}};
  return {{"checkpoint", std::move(newest)}, {"on_its_way", ctx_.is_checkpoint_on_its_way()}};
}

}  // namespace trainrt::program
