#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <thread>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/probe_file.hpp"
#include "core/files/quota.hpp"
#include "core/files/shortage.hpp"
#include "core/host.hpp"
#include "io/files/aligned_memory.hpp"
#include "io/files/file.hpp"
#include "io/files/file_system.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// Writes the path of a probe file into this file. Error messages name the folder `storage` instead of the probe file,
/// whose path differs between ranks: equal messages of several ranks can then be combined.
void write_own_path(const ProbeFile& probe, const std::string& storage) {
  if (!io::exists(storage)) throw Error("the folder does not exist");
  try {
    io::write_file(probe.path(), probe.path());
  } catch (const Error& error) {
    std::string text = error.what();
    if (const auto at = text.find(probe.path()); at != std::string::npos)
      text.replace(at, probe.path().size(), storage + "/...");
    throw Error(text);
  }
}

bool holds_own_path(const std::string& path) { return io::exists(path) && io::read_file(path) == path; }

/// Waits up to 10 s until this rank sees the files of other ranks: rank 0's file, or on rank 0 all files. This proves
/// that the folder is the same on all ranks.
void require_seen(const Answers& written, const World& world) {
  constexpr double limit_seconds = 10;
  if (written.values[static_cast<std::size_t>(world.rank)].is_null()) return;  // this rank could not write, either
  const auto deadline = monotonic_seconds() + limit_seconds;
  std::vector<int> missing;
  for (const int rank : world.rank > 0 ? std::vector{0} : written.ranks) {
    const auto& path = written.values[static_cast<std::size_t>(rank)];
    if (path.is_null()) continue;
    while (!holds_own_path(path) && monotonic_seconds() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!holds_own_path(path)) missing.push_back(rank);
  }
  if (!missing.empty())
    throw Error(fmt::format("does not see the files of {} within {} s", ranks_text(missing), limit_seconds));
}

Finding check_storage(const DoctorRanks& ranks, Json& figures) {
  const auto& storage = ranks.subject().storage;
  const ProbeFile mine(storage, "seen");
  const auto written = ranks.collect([&] {
    if (ranks.leads_node()) remove_abandoned_probes(storage);
    write_own_path(mine, storage);
    return Json(mine.path());
  });
  const auto seen = ranks.collect([&] {
    require_seen(written, ranks.world());
    return Json();
  });
  auto failures = written.failures;
  failures.insert(failures.end(), seen.failures.begin(), seen.failures.end());
  figures = {{"path", storage}, {"ranks_in_trouble", failures.size()}};
  if (failures.empty()) return ok(storage + ": every rank can write there and sees the other ranks' files");
  return error(fmt::format("{}: {}", storage, ranks.describe(failures)),
               "choose a folder that all nodes share and in which you may write (--storage, run.storage_path), or ask the "
               "site to fix the mounts");
}

Json probe_file_system(const std::string& storage) {
  const auto system = io::file_system_of(storage);
  const auto inodes = storage_room_at(storage).value_or(StorageRoom{}).free_inodes;
  auto quotas = Json::array();
  for (const auto& quota : quotas_at(storage)) quotas.push_back(usage_text(quota));
  return {{"kind", system.name},
          {"parallel", system.parallel},
          {"durable", system.durable},
          {"free_bytes", system.free_bytes},
          {"free_inodes", inodes ? Json(*inodes) : Json()},
          {"quotas", quotas}};
}

Finding check_file_system(const DoctorRanks& ranks, Json& figures) {
  constexpr std::uint64_t min_free_bytes = std::uint64_t{1} << 30;
  constexpr std::uint64_t min_free_inodes = 1000;
  const auto answers = ranks.ask_nodes([&] { return probe_file_system(ranks.subject().storage); });
  figures = answers.first();
  const std::string kind = figures.at("kind");
  const auto others = ranks.problems_in(answers, [&](const Json& answer) {
    const std::string mine = answer.at("kind");
    return mine == kind ? "" : mine;
  });
  if (!others.empty())
    return warning(fmt::format("{} on rank 0's node, but {}", kind, others),
                   "check that all nodes mount the same file system at this path: see the line `storage`");
  const std::uint64_t free_bytes = figures.at("free_bytes");
  const auto& inodes = figures.at("free_inodes");
  auto text = fmt::format("{}, {:.1f} GiB{} free", kind, static_cast<double>(free_bytes) / (1 << 30),
                          inodes.is_null() ? "" : fmt::format(" and {} inodes", inodes.get<std::uint64_t>()));
  for (const auto& quota : figures.at("quotas")) text += ", " + quota.get<std::string>();
  if (figures.at("parallel").get<bool>()) text += ", a parallel file system";
  if (!figures.at("durable").get<bool>())
    return warning(text + "; this file system is in the memory of the node: its files are lost when the node restarts",
                   "choose a folder on a disk for checkpoints");
  if (free_bytes < min_free_bytes) return warning(text, "free some space before a run writes checkpoints there");
  return warning_if(!inodes.is_null() && inodes < min_free_inodes ? text : "",
                    "remove files of any size: a run creates dozens of files, and a few per checkpoint", text);
}

/// Writes and syncs a file for at most 2 s, as a checkpoint does. The bytes are random, since a file system may compress
/// zeros or not store them.
Json measure_writing(const std::string& storage) {
  constexpr std::size_t write_bytes = std::size_t{4} << 20;
  constexpr std::uint64_t max_bytes = std::uint64_t{64} << 20, min_free_bytes = std::uint64_t{1} << 30;
  constexpr double limit_seconds = 2;
  if (io::file_system_of(storage).free_bytes < min_free_bytes)
    throw Error(fmt::format("less than {} MiB are free", min_free_bytes >> 20));
  const io::AlignedMemory memory(write_bytes);
  const std::span words(reinterpret_cast<std::uint64_t*>(memory.bytes().data()), write_bytes / 8);
  std::ranges::generate(words, std::mt19937_64(1));
  const ProbeFile probe(storage, "rate");
  const auto file = io::PositionalFile::create(probe.path());
  const auto start = monotonic_seconds();
  std::uint64_t written = 0;
  for (; written < max_bytes && monotonic_seconds() - start < limit_seconds; written += write_bytes)
    file.write(written, memory.bytes());
  file.sync();
  return {{"bytes", written}, {"seconds", monotonic_seconds() - start}, {"direct", file.direct()}};
}

Finding check_storage_rate(const DoctorRanks& ranks, Json& figures) {
  constexpr double min_rate = 20e6;  // bytes per second per node
  ranks.communicator().barrier();
  const auto answers = ranks.ask_nodes([&] { return measure_writing(ranks.subject().storage); });
  double bytes = 0, seconds = 0, slowest = 1e300;
  for (const auto& node : answers.values) {
    const double mine = node.at("bytes"), time = node.at("seconds");
    bytes += mine;
    seconds = std::max(seconds, time);
    slowest = std::min(slowest, mine / time);
  }
  const bool direct = answers.first().at("direct");
  figures = {{"bytes_per_second", bytes / seconds},
             {"slowest_node_bytes_per_second", slowest},
             {"direct", direct},
             {"nodes", answers.values}};
  const auto text = fmt::format("{:.0f} MB/s in total, at least {:.0f} MB/s per node ({}, with fsync)",
                                bytes / seconds / 1e6, slowest / 1e6, direct ? "direct I/O" : "through the page cache");
  return warning_if(slowest < min_rate ? text : "",
                    "checkpoints will take long: choose a faster file system, or save less often (checkpoint.every)", text);
}

constexpr const char* rate_advice = "choose a folder in which a run can write its checkpoints, or free some space there";
constexpr std::array<Check, 3> storage_checks = {{
    {"storage", "whether all ranks share the storage and can write to it", check_storage, ""},
    {"file_system", "the file system of the storage", check_file_system, "see `storage`"},
    {"storage_rate", "how fast all nodes together write to the storage", check_storage_rate, rate_advice},
}};

}  // namespace

extern const CheckGroup storage;
const CheckGroup storage{
    .name = "storage", .help = "the folder of the run directories", .order = 50, .checks = storage_checks};

}  // namespace trainrt::cli::doctor::plugins
