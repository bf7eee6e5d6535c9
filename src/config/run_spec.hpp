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

/// A checked config with typed values: everything that defines a run. Each member has the values of the config section of
/// the same name.
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

  // The members below are sections whose keys are declared elsewhere: by the train function, the data format, the sink or
  // the callback. Their keys are stored without the name of the section.
  Options loop;                             ///< keys of [loop], the arguments of the train function
  Options loop_defaults;                    ///< defaults that the train function declares for keys missing in [loop]
  Options stop;                             ///< keys of [stop], the conditions that end the run early
  std::map<std::string, Options> data;      ///< keys of each [data.NAME], by NAME
  std::map<std::string, Options> sink;      ///< keys of each [sink.NAME], by NAME
  std::map<std::string, Options> callback;  ///< keys of each [callback.NAME], by NAME

  Options given;        ///< the options from config file and command line that make_run_spec() was called with
  std::string run_dir;  ///< run directory: storage_path/name
  /// text of every key, as given or defaulted, except for [loop]; recorded in run.json
  std::map<std::string, std::string> texts;

  /// Returns the value of a key of [loop]; the key's default if the config does not set it; nullptr if there is no default
  /// either. The result points into this object.
  const OptionValue* loop_value(std::string_view key) const;
};

/// Pointers to those members of RunSpec that hold the values of a config section with declared keys. `values_of` finds a
/// pointer by the type of its member: values_of<RunKeys> is &RunSpec::run.
inline constexpr std::tuple members_of_sections(&RunSpec::run, &RunSpec::train, &RunSpec::scaling, &RunSpec::checkpoint,
                                                &RunSpec::metrics, &RunSpec::failure, &RunSpec::program, &RunSpec::xgboost,
                                                &RunSpec::lightgbm, &RunSpec::storage);
template <class Values>
constexpr auto values_of = std::get<Values RunSpec::*>(members_of_sections);

/// Changes the name of the run and, with it, the path of the run directory. Must be called before the run directory is
/// created.
void rename(RunSpec& spec, const std::string& name);

/// Checks the values of a config file and command line, and returns them as a RunSpec. Throws UsageError that names the
/// invalid key, its origin and the valid values.
RunSpec make_run_spec(const Options& given);

}  // namespace trainrt::config
