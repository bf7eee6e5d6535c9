// What the storage lies on, and what that means for a run.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor_check.hpp"
#include "io/file_system.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr std::uint64_t little = std::uint64_t{1} << 30;

Finding examine_file_system(const Examination& examination) {
  const auto& storage = examination.storage();
  const auto answers = examination.ask_nodes([&] {
    const auto system = io::file_system_of(storage);
    return Json{{"kind", system.name},
                {"parallel", system.parallel},
                {"durable", system.durable},
                {"free_bytes", system.free_bytes}};
  });
  if (!answers.well()) return error(examination.describe(answers.troubles), "see `storage`");
  const auto& first = answers.of_rank.front();
  const std::string kind = first.at("kind");
  std::vector<Trouble> others;
  for (std::size_t node = 1; node < answers.of_rank.size(); ++node)
    if (answers.of_rank[node].at("kind") != kind)
      others.push_back({examination.leaders()[node], answers.of_rank[node].at("kind").get<std::string>()});
  if (!others.empty())
    return warning(fmt::format("{} on rank 0's node, but {}", kind, examination.describe(others)),
                   "is it the same folder everywhere? See `storage`, and the mounts of the nodes", first);
  const auto free_bytes = first.at("free_bytes").get<std::uint64_t>();
  const auto text = fmt::format("{}, {:.1f} GiB free{}", kind, static_cast<double>(free_bytes) / (1 << 30),
                                first.at("parallel").get<bool>() ? ", many nodes write it at once" : "");
  if (!first.at("durable").get<bool>())
    return warning(text + "; it is memory of the node, and gone with it",
                   "checkpoints belong on a disk: name another folder", first);
  if (free_bytes < little) return warning(text, "make room before a run writes checkpoints there", first);
  return ok(text, first);
}

}  // namespace

extern const Check file_system;
const Check file_system{.name = "file_system",
                        .help = "the kind of file system that the storage lies on, and its free space",
                        .place = 170,
                        .run = examine_file_system};

}  // namespace trainrt::cli::doctor::plugins
