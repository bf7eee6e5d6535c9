#include "tune/record/sweep_mirror.hpp"

#include <cstdint>
#include <exception>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"
#include "trainer/saving/mirror_restore.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

std::string config_in_mirror(const config::RunSpec& spec, const std::string& name) {
  if (spec.checkpoint.mirror.empty()) return "";
  trainer::use_stores(spec);
  return trainer::mirror_of(spec).text_of(name);
}

void put_config_into_mirror(const config::RunSpec& spec, const std::string& name) {
  if (spec.checkpoint.mirror.empty()) return;
  trainer::use_stores(spec);
  auto mirror = trainer::mirror_of(spec);
  if (mirror.text_of(name) != io::read_file(spec.run_dir + "/" + name)) mirror.put_file(spec.run_dir, name);
}

void restore_trials_from_mirror(const Sweep& sweep) {
  for (std::uint64_t trial = 0; trial < sweep.trials(); ++trial) {
    const auto spec = config::make_run_spec(sweep.config_of(trial, sweep.params_of(trial)));
    try {
      trainer::restore_run_from_mirror(spec);
    } catch (const Error&) {
      if (!io::exists(spec.run_dir + "/run.json")) throw;  // otherwise another process has restored it
    }
  }
}

void put_tuner_record_into_mirror(const config::RunSpec& spec) try {
  constexpr const char* name = "tuner.json";
  if (io::exists(spec.run_dir + "/" + name)) put_config_into_mirror(spec, name);
} catch (const std::exception& error) {
  log::warning(fmt::format("the record of the Tuner was not copied to the mirror: {}", error.what()));
}

}  // namespace trainrt::tune
