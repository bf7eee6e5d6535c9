#include "core/files/shortage.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "core/text/byte_size.hpp"

namespace trainrt {

namespace {

/// Threshold of free space in bytes. A file system with less free space counts as full, since a few free bytes may be left
/// on a full file system. Only if more space is free, missing inodes are reported as the cause of a failed write.
constexpr std::uint64_t min_free_bytes = std::uint64_t{64} << 10;

/// Threshold of free space in bytes. If a write failed with ENOSPC although more space than this is free, the error message
/// names other possible causes.
constexpr std::uint64_t ample_free_bytes = std::uint64_t{1} << 30;

std::string files_text(std::uint64_t used, std::uint64_t limit) { return fmt::format("{} of {} files", used, limit); }

ShortageFound of_file_system(const std::optional<StorageRoom>& room) {
  if (!room) return {Shortage::space, "remove files there"};
  const bool no_inodes = room->free_inodes == std::uint64_t{0};
  if (no_inodes && room->free_bytes >= min_free_bytes)
    return {Shortage::inodes, fmt::format("no inodes are left there for new files (although {} of space are free): "
                                          "remove files of any size",
                                          byte_size(room->free_bytes))};
  constexpr std::string_view odd =
      ", which is too little for this write, or a part of the file system is full (on Lustre: lfs df)";
  return {Shortage::space,
          fmt::format("{} of space{} left there{}: remove files", byte_size(room->free_bytes),
                      no_inodes ? " and no inodes are" : " are", room->free_bytes >= ample_free_bytes ? odd : "")};
}

/// Returns used / limit, the fraction of a quota that is used; 0 if there is no limit.
double fraction(std::uint64_t used, std::uint64_t limit) {
  return limit == 0 ? 0 : static_cast<double>(used) / static_cast<double>(limit);
}

/// Finds the quota that made a write fail. If the limit of a quota of files is reached, this quota is the cause. Otherwise,
/// the cause is the quota of bytes of which the largest fraction is used: its limit need not be reached, since a large
/// write can fail earlier.
ShortageFound of_quotas(std::span<const Quota> quotas) {
  constexpr std::string_view remedy = "remove files there, or ask for a larger quota";
  const auto full_of_files =
      std::ranges::find_if(quotas, [](const Quota& quota) { return fraction(quota.used_files, quota.max_files) >= 1; });
  if (full_of_files != quotas.end())
    return {Shortage::quota_files,
            fmt::format("the {} quota of the number of files is used up ({}): {}", full_of_files->holder,
                        files_text(full_of_files->used_files, full_of_files->max_files), remedy)};
  const auto fullest =
      std::ranges::max_element(quotas, {}, [](const Quota& quota) { return fraction(quota.used_bytes, quota.max_bytes); });
  if (fullest != quotas.end() && fullest->max_bytes > 0)
    return {Shortage::quota_bytes, fmt::format("the {} quota of space is used up ({} of {}): {}", fullest->holder,
                                               byte_size(fullest->used_bytes), byte_size(fullest->max_bytes), remedy)};
  return {Shortage::quota, fmt::format("your quota of space or of the number of files is used up "
                                       "(this system does not report which): {}",
                                       remedy)};
}

}  // namespace

std::string existing_part(const std::string& path) {
  struct stat found {};
  auto part = path.empty() ? std::string(".") : path;
  while (::stat(part.c_str(), &found) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
    const auto slash = part.find_last_of('/');
    if (slash == std::string::npos) return ".";
    if (slash == 0) return "/";
    part.resize(slash);
  }
  return part;
}

std::optional<StorageRoom> storage_room_at(const std::string& path) {
  struct statvfs found {};
  int done = -1;
  do done = ::statvfs(existing_part(path).c_str(), &found);
  while (done != 0 && errno == EINTR);
  if (done != 0) return std::nullopt;
  StorageRoom room{.free_bytes =
                       std::uint64_t{found.f_bavail} * std::uint64_t{found.f_frsize > 0 ? found.f_frsize : found.f_bsize}};
  if (found.f_files > 0) room.free_inodes = found.f_favail;
  return room;
}

ShortageFound shortage_from(int error_number, const std::optional<StorageRoom>& room, std::span<const Quota> quotas) {
  if (error_number == ENOSPC) return of_file_system(room);
  if (error_number == EDQUOT) return of_quotas(quotas);
  return {};
}

ShortageFound shortage_at(const std::string& path, int error_number) {
  if (error_number == ENOSPC) return shortage_from(error_number, storage_room_at(path), {});
  if (error_number == EDQUOT) return shortage_from(error_number, std::nullopt, quotas_at(existing_part(path)));
  return {};
}

std::string reason_with_shortage(const std::string& path, int error_number) {
  const auto found = shortage_at(path, error_number);
  return std::generic_category().message(error_number) + (found.text.empty() ? "" : "; " + found.text);
}

}  // namespace trainrt
