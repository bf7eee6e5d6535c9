// How fast the nodes write the storage: all at once, one rank each, as a checkpoint does it, fsync included.
#include <algorithm>
#include <random>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "cli/doctor/probe_file.hpp"
#include "core/host.hpp"
#include "io/files/aligned_memory.hpp"
#include "io/files/file_system.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr std::size_t piece_bytes = std::size_t{4} << 20;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
constexpr std::uint64_t least_free_bytes = std::uint64_t{1} << 30;
constexpr double limit_seconds = 2;  // of writing; what is on its way then is waited for
constexpr double slow = 20e6;

void fill_with_noise(std::span<std::byte> bytes) {  // zeros would be compressed, or not written at all
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
    const auto word = random();
    std::copy_n(reinterpret_cast<const std::byte*>(&word), 8, bytes.data() + i);
  }
}

Json write(const std::string& storage) {
  if (io::file_system_of(storage).free_bytes < least_free_bytes)
    throw Error(fmt::format("less than {} MiB are free: not measured", least_free_bytes >> 20));
  const io::AlignedMemory memory(piece_bytes);
  fill_with_noise(memory.bytes());
  const ProbeFile probe(storage, "rate");
  const auto file = io::PositionalFile::create(probe.path());
  const auto start = monotonic_seconds();
  std::uint64_t written = 0;
  while (written < most_bytes && monotonic_seconds() - start < limit_seconds) {
    file.write(written, memory.bytes());
    written += piece_bytes;
  }
  file.sync();
  return {{"bytes", written}, {"seconds", monotonic_seconds() - start}, {"direct", file.direct()}};
}

Finding examine_storage_rate(const Examination& examination) {
  examination.communicator().barrier();
  const auto answers = examination.ask_nodes([&] { return write(examination.storage()); });
  if (!answers.well())
    return error(examination.describe(answers.troubles), "name a folder that takes what a run writes, or make room there");
  double together = 0;  // bytes
  double longest = 0;
  double slowest = 1e300;
  for (const auto& node : answers.of_rank) {
    together += node.at("bytes").get<double>();
    longest = std::max(longest, node.at("seconds").get<double>());
    slowest = std::min(slowest, node.at("bytes").get<double>() / node.at("seconds").get<double>());
  }
  const bool direct = answers.of_rank.front().at("direct");
  const Json figures = {{"bytes_per_second", together / longest},
                        {"slowest_node_bytes_per_second", slowest},
                        {"direct", direct},
                        {"nodes", answers.of_rank}};
  const auto text = fmt::format("{:.0f} MB/s in all, at least {:.0f} MB/s a node ({})", together / longest / 1e6,
                                slowest / 1e6, direct ? "direct, with fsync" : "through the page cache, with fsync");
  if (slowest < slow)
    return warning(
        text, "checkpoints will take long: name a faster file system, or take them less often (checkpoint.every)", figures);
  return ok(text, figures);
}

}  // namespace

extern const Check storage_rate;
const Check storage_rate{.name = "storage_rate",
                         .help = "how fast the nodes write the storage, all at once",
                         .place = 180,
                         .run = examine_storage_rate};

}  // namespace trainrt::cli::doctor::plugins
