#include "tune/record/sweep_mirror.hpp"

#include <exception>

#include <fmt/format.h>

#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"

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

void put_tuner_record_into_mirror(const config::RunSpec& spec) try {
  constexpr const char* name = "tuner.json";
  if (io::exists(spec.run_dir + "/" + name)) put_config_into_mirror(spec, name);
} catch (const std::exception& error) {
  log::warning(fmt::format("the record of the Tuner was not copied to the mirror: {}", error.what()));
}

}  // namespace trainrt::tune
