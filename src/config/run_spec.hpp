#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "config/sections/checkpoint.hpp"
#include "config/sections/failure.hpp"
#include "config/sections/lightgbm.hpp"
#include "config/sections/metrics.hpp"
#include "config/sections/program.hpp"
#include "config/sections/run.hpp"
#include "config/sections/scaling.hpp"
#include "config/sections/storage.hpp"
#include "config/sections/train.hpp"
#include "config/sections/xgboost.hpp"
#include "core/options.hpp"

namespace trainrt::config {

/// A checked config with typed values: everything that defines a run.
struct RunSpec {
  RunKeys run;
  TrainKeys train;
  ScalingKeys scaling;
  CheckpointKeys checkpoint;
  MetricsKeys metrics;
  FailureKeys failure;
  ProgramKeys program;
  XgboostKeys xgboost;
  LightgbmKeys lightgbm;
  StorageKeys storage;

  // Sections with keys that are declared elsewhere: by the train function, the data format, the sink or the callback. Keys
  // are stored without the name of their section.
  Options loop;                             ///< [loop]
  Options loop_defaults;                    ///< defaults of missing keys of [loop] that the train function declares
  Options stop;                             ///< [stop]
  std::map<std::string, Options> data;      ///< [data.NAME] by name
  std::map<std::string, Options> sink;      ///< [sink.NAME] by name
  std::map<std::string, Options> callback;  ///< [callback.NAME] by name

  Options given;                             ///< the options that make_run_spec() was called with
  std::string run_dir;                       ///< storage_path/name
  std::map<std::string, std::string> texts;  ///< every key as given or defaulted, except for [loop], for run.json

  /// Returns the value of a key of [loop], or its default, or nullptr if it has neither.
  const OptionValue* loop_value(std::string_view key) const;
};

/// Pointers to the members of RunSpec for sections with declared keys. `values_of<RunKeys>` is &RunSpec::run.
inline constexpr std::tuple members_of_sections(&RunSpec::run, &RunSpec::train, &RunSpec::scaling, &RunSpec::checkpoint,
                                                &RunSpec::metrics, &RunSpec::failure, &RunSpec::program, &RunSpec::xgboost,
                                                &RunSpec::lightgbm, &RunSpec::storage);
template <class Values>
constexpr auto values_of = std::get<Values RunSpec::*>(members_of_sections);

/// Changes the name of the run. Must be called before the run directory is created.
void rename(RunSpec& spec, const std::string& name);

/// Checks the values of a config file and command line. Throws UsageError that names the key, its origin and the valid
/// values.
RunSpec make_run_spec(const Options& given);

}  // namespace trainrt::config
