// Does every rank see the storage, the same one, and may it write there?
#include <chrono>
#include <thread>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/probe_file.hpp"
#include "core/host.hpp"
#include "io/files/file.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr double seeing_limit_seconds = 10;
constexpr const char* advice =
    "name a folder that all nodes share and you may write in (--storage, run.storage_path), or have its mounts mended";

/// The file holds its own path. Errors name the folder, so that they are the same on ranks that meet the same.
void write(const ProbeFile& probe, const std::string& storage) {
  if (!io::exists(storage)) throw Error("the folder is not there");
  try {
    io::write_file(probe.path(), probe.path());
  } catch (const Error& error) {
    std::string text = error.what();
    if (const auto at = text.find(probe.path()); at != std::string::npos)
      text.replace(at, probe.path().size(), storage + "/...");
    throw Error(text);
  }
}

bool shows(const std::string& path) { return io::exists(path) && io::read_file(path) == path; }

/// Waits until this node shows what others have written: everybody looks for rank 0's file and rank 0 for all of them,
/// which makes it the same folder everywhere. Files hold their own path.
void require_seen(const Answers& written, int reader) {
  if (written.of_rank[static_cast<std::size_t>(reader)].is_null()) return;  // its trouble is known
  const auto limit = monotonic_seconds() + seeing_limit_seconds;
  std::vector<int> missing;
  for (std::size_t rank = 0; rank < (reader == 0 ? written.of_rank.size() : 1); ++rank) {
    if (written.of_rank[rank].is_null()) continue;  // it could not write
    const auto path = written.of_rank[rank].get<std::string>();
    while (!shows(path) && monotonic_seconds() < limit) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!shows(path)) missing.push_back(static_cast<int>(rank));
  }
  if (!missing.empty())
    throw Error(fmt::format("does not see within {} s what {} wrote", seeing_limit_seconds, ranks_text(missing)));
}

Finding examine_storage(const Examination& examination) {
  const auto& storage = examination.storage();
  const ProbeFile mine(storage, "seen");
  const auto written = examination.ask([&] {
    if (examination.leads_node()) remove_abandoned_probes(storage);
    write(mine, storage);
    return Json(mine.path());
  });
  const auto seen = examination.ask([&] {
    require_seen(written, examination.world().rank);
    return Json();
  });
  auto troubles = written.troubles;
  troubles.insert(troubles.end(), seen.troubles.begin(), seen.troubles.end());
  const Json figures = {{"path", storage}, {"ranks_in_trouble", troubles.size()}};
  if (!troubles.empty()) return error(fmt::format("{}: {}", storage, examination.describe(troubles)), advice, figures);
  return ok(fmt::format("{}: every rank sees it and writes there", storage), figures);
}

}  // namespace

extern const Check storage;
const Check storage{.name = "storage",
                    .help = "whether every rank sees the storage and may write there",
                    .place = 160,
                    .run = examine_storage};

}  // namespace trainrt::cli::doctor::plugins
