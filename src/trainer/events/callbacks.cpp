#include "trainer/events/callbacks.hpp"

#include <algorithm>
#include <typeinfo>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "config/value_origin.hpp"
#include "core/output/log.hpp"
#include "core/process/stack_trace.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/ending/reported_metrics.hpp"
#include "trainer/events/callback_kind.hpp"

namespace trainrt {

Callback::~Callback() = default;

std::string Callback::name() const { return demangled(typeid(*this).name()); }

}  // namespace trainrt

namespace trainrt::trainer {

namespace {

const CallbackKind& kind_named(const std::string& name) { return find_plugin(callback_table(), name, "callback"); }

/// Throws UsageError if the section [callback.NAME] is invalid.
void check_section(const config::RunSpec& spec, const std::string& name, const Options& options) {
  const auto section = "callback." + name;
  const auto find = [&] { return &kind_named(name); };
  const auto* kind = config::with_origin(spec.given, section + "." + options.keys().front(), find);
  static_cast<void>(checked(options, kind->options, "[" + section + "]"));
}

std::vector<ChosenCallback> callbacks_of(const config::RunSpec& spec) try {
  std::vector<ChosenCallback> chosen;
  for (const auto& name : spec.run.callbacks) {
    const auto& kind = kind_named(name);
    if (std::ranges::any_of(chosen, [&](const ChosenCallback& other) { return other.kind == &kind; }))
      throw UsageError("the callback '" + name + "' occurs twice");
    const auto section = spec.callback.find(name);
    const auto& given = section == spec.callback.end() ? Options() : section->second;
    chosen.push_back({&kind, checked(given, kind.options, "[callback." + name + "]")});
  }
  return chosen;
} catch (const UsageError& error) {
  throw UsageError(fmt::format("{}run.callbacks = {}: {}", config::origin_prefix(spec.given, "run.callbacks"),
                               join(spec.run.callbacks), error.what()));
}

}  // namespace

std::vector<ChosenCallback> chosen_callbacks(const config::RunSpec& spec) {
  for (const auto& [name, options] : spec.callback) check_section(spec, name, options);
  return callbacks_of(spec);
}

Callbacks::Callbacks(const config::RunSpec& spec, const std::vector<std::shared_ptr<Callback>>& of_program, int rank)
    : rank_(rank) {
  RankZero(rank).run([&] {
    is_rank_0_ = true;
    for (const auto& [kind, options] : chosen_callbacks(spec)) callbacks_.push_back(kind->open(options));
  });
  std::ranges::copy_if(of_program, std::back_inserter(callbacks_),
                       [](const auto& callback) { return callback != nullptr; });
  presence_.any = !callbacks_.empty();
  RankZero(rank).run([&] {
    presence_.all_ranks = std::ranges::any_of(callbacks_, [](const auto& callback) { return callback->wants_all_ranks(); });
    presence_.may_stop = std::ranges::any_of(
        callbacks_, [](const auto& callback) { return dynamic_cast<StoppingCallback*>(callback.get()) != nullptr; });
  });
}

void Callbacks::call(const char* function, const Call& call) const {
  const std::lock_guard lock(lock_->mutex);
  for (const auto& callback : callbacks_) try {
      call(*callback);
    } catch (const Error& error) {
      // A StoppingCallback belongs to the runtime. Its usage errors concern the config, so they do not name the callback.
      if (error.code() == ExitCode::usage && dynamic_cast<StoppingCallback*>(callback.get()) != nullptr) throw;
      throw Error(fmt::format("the callback '{}' failed in {}(): {}", callback->name(), function, with_advice(error)),
                  error.code());
    } catch (const std::exception& error) {
      throw Error(fmt::format("the callback '{}' failed in {}(): {}", callback->name(), function, error.what()));
    }
}

void Callbacks::call_collectively(const char* function, const Call& call, Communicator& communicator) const {
  if (!presence_.any) return;
  comm::collectively_on_first(communicator, [&] { this->call(function, call); });
}

void Callbacks::start(const RunInfo& info, Communicator& communicator) const {
  call_collectively(
      "on_start", [&](Callback& callback) { callback.on_start(info); }, communicator);
}

void Callbacks::commit(const ResultCheckpoint& checkpoint, Communicator& communicator) const {
  call_collectively(
      "on_checkpoint", [&](Callback& callback) { callback.on_checkpoint(checkpoint); }, communicator);
}

void Callbacks::finish(const std::string& run_dir, const Conclusion& conclusion, Communicator& communicator) const {
  if (!presence_.any) return;
  const auto finish = [&] {
    auto result = Result::from_path(run_dir);
    result.state = rundir::word_of(conclusion.state);  // run.json gets this state later, after all callbacks
    result.code = conclusion.code;
    call("on_finish", [&](Callback& callback) { callback.on_finish(result); });
  };
  comm::collectively_on_first(communicator, finish, with_advice);
}

void Callbacks::restored(std::int64_t iteration) const {
  call("on_restored", [&](Callback& callback) {
    if (auto* const stopping = dynamic_cast<StoppingCallback*>(&callback)) stopping->on_restored(iteration);
  });
}

StoppingCallback::Stop Callbacks::stop() const {
  for (const auto& callback : callbacks_)
    if (auto* const stopping = dynamic_cast<StoppingCallback*>(callback.get()))
      if (auto stop = stopping->stop(); is_rank_0_ && !stop.reason.empty()) return stop;
  return {};
}

void Callbacks::set_rank_metrics(const std::vector<metrics::Record>& of_ranks) {
  of_ranks_.clear();
  std::ranges::transform(of_ranks, std::back_inserter(of_ranks_), reported_metrics);
}

void Callbacks::report(const metrics::Record& record) const {
  if (callbacks_.empty()) return;
  const auto metrics = reported_metrics(record);
  call("on_report", [&](Callback& callback) { callback.on_report(metrics, of_ranks_); });
}

void Callbacks::fail(const RunFailure& failure) const noexcept {
  const std::lock_guard lock(lock_->mutex);
  if (std::exchange(lock_->has_failed, true)) return;
  auto here = failure;
  here.told_rank = rank_;
  for (const auto& callback : callbacks_) try {
      callback->on_failure(here);
    } catch (const std::exception& second) {
      log::warning(fmt::format("the callback '{}' failed in on_failure(): {}", callback->name(), second.what()));
    }
}

}  // namespace trainrt::trainer
