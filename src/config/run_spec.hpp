#pragma once
#include <map>
#include <string>
#include <string_view>

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

/// What to run: the config, checked and typed.
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

  // Sections with free keys, which somebody else declares: the train function, the format of the data, the sink,
  // the callback.
  Options loop;                             ///< [loop], keys without the section
  Options loop_defaults;                    ///< of keys that the train function declares
  Options stop;                             ///< [stop], keys without the section
  std::map<std::string, Options> data;      ///< [data.NAME] by name
  std::map<std::string, Options> sink;      ///< [sink.NAME] by name
  std::map<std::string, Options> callback;  ///< [callback.NAME] by name

  Options given;                             ///< what this was made of
  std::string run_dir;                       ///< storage_path/name
  std::map<std::string, std::string> texts;  ///< every key as it was given or defaulted, for run.json

  /// What [loop] says, else what the train function declares as the default; nullptr if neither does.
  const OptionValue* loop_value(std::string_view key) const;
};

/// The member of RunSpec that has the values of a section with declared keys.
template <class Values>
constexpr Values RunSpec::*values_of = nullptr;
template <>
inline constexpr auto values_of<RunKeys> = &RunSpec::run;
template <>
inline constexpr auto values_of<TrainKeys> = &RunSpec::train;
template <>
inline constexpr auto values_of<ScalingKeys> = &RunSpec::scaling;
template <>
inline constexpr auto values_of<CheckpointKeys> = &RunSpec::checkpoint;
template <>
inline constexpr auto values_of<MetricsKeys> = &RunSpec::metrics;
template <>
inline constexpr auto values_of<FailureKeys> = &RunSpec::failure;
template <>
inline constexpr auto values_of<ProgramKeys> = &RunSpec::program;
template <>
inline constexpr auto values_of<XgboostKeys> = &RunSpec::xgboost;
template <>
inline constexpr auto values_of<StorageKeys> = &RunSpec::storage;
template <>
inline constexpr auto values_of<LightgbmKeys> = &RunSpec::lightgbm;

/// Gives the run another name, before anything was made for it.
void rename(RunSpec& spec, const std::string& name);

/// Checks the keys of a config file and command line. Throws UsageError that names key, place and what is valid.
RunSpec make_run_spec(const Options& given);

}  // namespace trainrt::config
