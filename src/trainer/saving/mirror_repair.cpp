#include "trainer/saving/mirror_repair.hpp"

#include <fmt/format.h>

#include "checkpoint/format/names.hpp"
#include "core/fault_point.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "rundir/records/point_words.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/saving/checkpoint_mirror.hpp"
#include "trainer/saving/mirror_restore.hpp"

namespace trainrt::trainer {

namespace {

bool has_run(const checkpoint::MirroredRun& mirror, const std::string& run_id) {
  const auto text = mirror.text_of("run.json");
  return !text.empty() && rundir::run_record_from(text, mirror.url() + "run.json").run_id == run_id;
}

/// Until the exchange the run directory is as it was.
void put_in_place(const std::string& brought, const std::string& place) {
  if (!io::rename_to_new(brought, place)) io::exchange(brought, place);
}

}  // namespace

std::optional<std::int64_t> repair_from_mirror(const config::RunSpec& spec, const std::string& run_id,
                                               const std::string& private_dir) {
  if (spec.checkpoint.mirror.empty()) return std::nullopt;
  const auto mirror = mirror_of(spec);
  log::warning(fmt::format("all checkpoints in {} are damaged: trying {}", spec.run_dir, mirror.url()));
  if (!has_run(mirror, run_id)) {
    log::warning(fmt::format("{} has no copy of this run", mirror.url()));
    return std::nullopt;
  }
  const auto aside = private_dir + "/from_mirror";
  io::remove_tree(aside);
  io::make_directory(aside);
  const auto brought = bring_newest(mirror, aside, spec.run_dir).meta;
  if (brought) {
    fault_point("repair");
    const auto name = checkpoint::directory_name(brought->number);
    put_in_place(aside + "/" + name, spec.run_dir + "/" + name);
    io::sync_directory(spec.run_dir);
    log::info(fmt::format("{} was restored from {} ({})", name, mirror.url(),
                          rundir::short_point(brought->step, brought->iteration)));
  } else {
    log::warning(fmt::format("{} has no intact checkpoint whose reports are here", mirror.url()));
  }
  io::remove_tree(aside);
  return brought ? std::optional(brought->number) : std::nullopt;
}

}  // namespace trainrt::trainer
