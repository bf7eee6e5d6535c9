// What the storage lies on, and what that means for a run.
#include <algorithm>

#include <fmt/format.h>

#include "cli/doctor/doctor_check.hpp"
#include "core/files/quota.hpp"
#include "core/files/shortage.hpp"
#include "io/files/file_system.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr std::uint64_t little = std::uint64_t{1} << 30;
constexpr std::uint64_t few_files = 1000;

Json quota_texts(const std::string& storage) {
  auto texts = Json::array();
  for (const auto& quota : quotas_at(storage)) texts.push_back(usage_text(quota));
  return texts;
}

std::string quotas_of(const Json& answer) {
  std::string text;
  for (const auto& quota : answer.at("quotas")) text += ", " + quota.get<std::string>();
  return text;
}

Finding examine_file_system(const Examination& examination) {
  const auto& storage = examination.storage();
  const auto answers = examination.ask_nodes([&] {
    const auto system = io::file_system_of(storage);
    const auto inodes = storage_room_at(storage).value_or(StorageRoom{}).free_inodes;
    return Json{{"kind", system.name},
                {"parallel", system.parallel},
                {"durable", system.durable},
                {"free_bytes", system.free_bytes},
                {"free_inodes", inodes ? Json(*inodes) : Json()},
                {"quotas", quota_texts(storage)}};
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
  const auto& inodes = first.at("free_inodes");
  const auto text = fmt::format("{}, {:.1f} GiB{} free{}{}", kind, static_cast<double>(free_bytes) / (1 << 30),
                                inodes.is_null() ? "" : fmt::format(" and {} inodes", inodes.get<std::uint64_t>()),
                                quotas_of(first), first.at("parallel").get<bool>() ? ", many nodes write it at once" : "");
  if (!first.at("durable").get<bool>())
    return warning(text + "; it is memory of the node, and gone with it",
                   "checkpoints belong on a disk: name another folder", first);
  if (free_bytes < little) return warning(text, "make room before a run writes checkpoints there", first);
  if (!inodes.is_null() && inodes.get<std::uint64_t>() < few_files)
    return warning(text, "remove files, of any size: a run makes some dozens, and every checkpoint a few more", first);
  return ok(text, first);
}

}  // namespace

extern const Check file_system;
const Check file_system{.name = "file_system",
                        .help = "the kind of file system of the storage, its free space and inodes, and quotas",
                        .place = 170,
                        .run = examine_file_system};

}  // namespace trainrt::cli::doctor::plugins
