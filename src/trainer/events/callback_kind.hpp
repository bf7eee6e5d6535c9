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

/// A plug-in that creates callbacks of one kind, such as "command". Each plug-in is one file in trainer/callbacks. The
/// options of a plug-in are the keys of config section [callback.NAME].
struct CallbackKind {
  std::string_view name;
  std::string_view help;
  std::vector<OptionSpec> options;
  /// Creates a callback. `options` has checked values of all keys, including defaults.
  std::unique_ptr<Callback> (*open)(const Options& options);
};

PluginTable<CallbackKind> callback_table();

/// A callback that the config selects, with its options.
struct ChosenCallback {
  const CallbackKind* kind;
  Options options;
};

/// Returns the callbacks that config key run.callbacks names, with checked options. Throws UsageError if a callback or a
/// section [callback.NAME] is unknown, or an option is invalid.
std::vector<ChosenCallback> chosen_callbacks(const config::RunSpec& spec);

}  // namespace trainrt::trainer
