#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/callback.hpp>

#include "config/run_spec.hpp"
#include "core/options.hpp"
#include "core/plugin.hpp"

namespace trainrt::trainer {

/// A plug-in: one file in trainer/callbacks. Its options are the keys of [callback.NAME].
struct CallbackKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  /// `options`: checked, with the defaults of what is not given.
  std::unique_ptr<Callback> (*open)(const Options& options);
};

PluginTable<CallbackKind> callback_table();

/// A callback that a run is to have.
struct ChosenCallback {
  const CallbackKind* kind;
  Options options;
};

/// Those that run.callbacks names, with their options checked. UsageError for a name or a section that no callback has, and
/// for an option that is not valid.
std::vector<ChosenCallback> chosen_callbacks(const config::RunSpec& spec);

}  // namespace trainrt::trainer
