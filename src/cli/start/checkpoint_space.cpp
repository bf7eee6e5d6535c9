#include "cli/start/checkpoint_space.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::cli {

namespace {

/// The space that is left for checkpoints in a file system, or in a quota.
struct SpaceLimit {
  std::string holder;  ///< "the file system has", "the user quota leaves"
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t inodes = std::numeric_limits<std::uint64_t>::max();
};

std::uint64_t unused(std::uint64_t used, std::uint64_t limit) {
  if (limit == 0) return std::numeric_limits<std::uint64_t>::max();
  return limit - std::min(used, limit);
}

std::vector<SpaceLimit> limits_of(const std::optional<StorageRoom>& free, std::span<const Quota> quotas) {
  std::vector<SpaceLimit> limits;
  if (free) {
    limits.push_back({.holder = "the file system has", .bytes = free->free_bytes});
    if (free->free_inodes) limits.back().inodes = *free->free_inodes;
  }
  for (const auto& quota : quotas)
    limits.push_back({.holder = fmt::format("the {} quota leaves", quota.holder),
                      .bytes = unused(quota.used_bytes, quota.max_bytes),
                      .inodes = unused(quota.used_files, quota.max_files)});
  return limits;
}

std::string space_for_all(const CheckpointSize& size, std::span<const SpaceLimit> limits) {
  std::uint64_t fitting = std::numeric_limits<std::uint64_t>::max();
  for (const auto& limit : limits)
    fitting = std::min({fitting, limit.bytes / std::max<std::uint64_t>(size.bytes, 1), limit.inodes / size.inodes});
  return fmt::format("all are kept (checkpoint.num_to_keep = 0); there is space for {} more{}",
                     fitting > 1'000'000 ? "more than 1000000" : std::to_string(fitting),
                     fitting <= 1 ? "; WARNING: set checkpoint.num_to_keep, or free some space" : "");
}

CheckpointSize size_of(const checkpoint::Manifest& manifest) {
  CheckpointSize size{.bytes = 0, .inodes = 3 + manifest.shards.size()};  // the folder, manifest.json and state.h5
  for (const auto& shard : manifest.shards) size.bytes += shard.bytes;
  for (const auto& file : manifest.files) size.bytes += file.bytes;
  if (!manifest.files.empty()) size.inodes += 1 + manifest.files.size();
  return size;
}

/// Returns the size of the checkpoint in the directory `dir`. If `dir` is a run directory, returns the size of its
/// newest checkpoint. Returns nullopt if `dir` is neither or has no readable checkpoint.
std::optional<CheckpointSize> newest_size(const std::string& dir) {
  if (dir.empty()) return std::nullopt;
  if (io::exists(dir + "/manifest.json")) return size_of(checkpoint::read_manifest(dir));
  const auto newest = checkpoint::newest(dir);
  if (!newest) return std::nullopt;
  return size_of(checkpoint::read_manifest(dir + "/" + checkpoint::directory_name(newest->number)));
}

}  // namespace

std::string free_space_text(const std::string& path) {
  const auto free = storage_room_at(path).value_or(StorageRoom{});
  auto text = byte_size(free.free_bytes);
  if (free.free_inodes) text += fmt::format(" and {}", counted(static_cast<std::int64_t>(*free.free_inodes), "inode"));
  text += " free";
  for (const auto& quota : quotas_at(path)) text += "; " + usage_text(quota);
  return text;
}

std::string compare_space(const CheckpointSize& size, const CheckpointCount& count, const std::optional<StorageRoom>& free,
                          std::span<const Quota> quotas) {
  const auto limits = limits_of(free, quotas);
  if (count.num_to_keep == 0) return space_for_all(size, limits);
  constexpr std::int64_t latest_and_new = 2;
  const auto more =
      static_cast<std::uint64_t>(std::max<std::int64_t>(count.num_to_keep + latest_and_new - count.existing, 1));
  const auto bytes = more * size.bytes, inodes = more * size.inodes;
  auto text = fmt::format("checkpoint.num_to_keep = {} needs {} and {} inodes in addition", count.num_to_keep,
                          byte_size(bytes), inodes);
  for (const auto& limit : limits) {
    if (limit.bytes < bytes)
      text += fmt::format("; WARNING: {} {}: lower checkpoint.num_to_keep, or free some space", limit.holder,
                          byte_size(limit.bytes));
    if (limit.inodes < inodes)
      text += fmt::format("; WARNING: {} {}: set checkpoint.layout = single, lower checkpoint.num_to_keep, or remove files",
                          limit.holder, counted(static_cast<std::int64_t>(limit.inodes), "inode"));
  }
  return text;
}

std::string checkpoint_space_text(const config::RunSpec& spec) {
  auto size = newest_size(spec.run_dir);
  if (!size) size = newest_size(spec.run.resume_from);
  if (!size) return "their size will be known after the first save";
  const auto folder = existing_part(spec.run_dir);
  const CheckpointCount count{.num_to_keep = spec.checkpoint.num_to_keep,
                              .existing = std::ssize(checkpoint::numbers_in(spec.run_dir))};
  return fmt::format("{} and {} inodes each; {}", byte_size(size->bytes), size->inodes,
                     compare_space(*size, count, storage_room_at(folder), quotas_at(folder)));
}

}  // namespace trainrt::cli
