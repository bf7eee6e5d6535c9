#include "core/files/quota.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <iterator>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "core/descriptor.hpp"
#include "core/host.hpp"
#include "core/process/child_process.hpp"
#include "core/text/byte_size.hpp"
#include "core/text/parse_number.hpp"

namespace trainrt {

namespace {

constexpr std::uint64_t bytes_per_block = 1024;  // quotactl and `lfs quota` give limits of space in blocks of this size
constexpr double lfs_limit_s = 2;
constexpr double reuse_s = 10;
constexpr std::uint32_t lustre_magic = 0x0BD00BD0;

/// The user, group or project that a quota applies to, as quotactl and `lfs quota` name it.
struct Holder {
  const char* name;
  int kind;            ///< quotactl's type: USRQUOTA, GRPQUOTA or project (2), which <sys/quota.h> does not define
  const char* option;  ///< option of `lfs quota` that selects the type
  std::uint32_t id;
};

/// Returns the quota limit in force: the hard limit; the soft limit if it is the only one or its grace time has `expired`.
std::uint64_t limit_in_force(std::uint64_t soft, std::uint64_t hard, bool expired) {
  return soft > 0 && (expired || hard == 0) ? soft : hard;
}

std::optional<Quota> with_limit(const Quota& quota) {
  return quota.max_bytes > 0 || quota.max_files > 0 ? std::optional(quota) : std::nullopt;
}

/// Queries the kernel for the quota of `holder` on the file system of the open directory `folder`. Calls quotactl_fd(2),
/// which needs no device name and exists since Linux 5.14. Returns nullopt if the call fails or no limit is set.
std::optional<Quota> ask_kernel(int folder, const Holder& holder) {
  struct dqblk found {};
  if (::syscall(SYS_quotactl_fd, folder, QCMD(Q_GETQUOTA, holder.kind), holder.id, &found) != 0) return std::nullopt;
  const auto now = static_cast<std::uint64_t>(std::time(nullptr));
  const auto expired = [&](std::uint64_t grace_end) { return grace_end != 0 && grace_end < now; };
  return with_limit(
      {.holder = holder.name,
       .used_bytes = found.dqb_curspace,
       .max_bytes = bytes_per_block * limit_in_force(found.dqb_bsoftlimit, found.dqb_bhardlimit, expired(found.dqb_btime)),
       .used_files = found.dqb_curinodes,
       .max_files = limit_in_force(found.dqb_isoftlimit, found.dqb_ihardlimit, expired(found.dqb_itime))});
}

std::optional<Quota> ask_lfs(const std::string& path, const Holder& holder) {
  const auto answer =
      run_child({"lfs", "quota", "-q", holder.option, std::to_string(holder.id), path}, lfs_limit_s, ChildErrors::dropped);
  return answer && answer->exit_code == 0 ? parse_lfs_quota(answer->text, holder.name) : std::nullopt;
}

/// Returns the id of the quota project that the open directory `folder` belongs to; 0 if it belongs to no project.
std::uint32_t project_of(int folder) {
  struct fsxattr found {};
  return ::ioctl(folder, FS_IOC_FSGETXATTR, &found) == 0 ? found.fsx_projid : 0;
}

std::vector<Quota> ask(const std::string& path) {
  const Descriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int folder = opened.get();
  if (!opened) return {};
  struct statfs system {};
  const bool is_lustre = ::fstatfs(folder, &system) == 0 && static_cast<std::uint32_t>(system.f_type) == lustre_magic;
  constexpr int project_quota = 2;
  std::vector<Quota> quotas;
  for (const Holder holder : {Holder{"user", USRQUOTA, "-u", ::geteuid()}, Holder{"group", GRPQUOTA, "-g", ::getegid()},
                              Holder{"project", project_quota, "-p", project_of(folder)}}) {
    if (holder.kind == project_quota && holder.id == 0) continue;
    auto quota = ask_kernel(folder, holder);
    if (!quota && is_lustre) quota = ask_lfs(path, holder);
    if (quota) quotas.push_back(*quota);
  }
  return quotas;
}

/// Parses a number in the output of `lfs quota`. `lfs` appends a '*' to a number above its limit, and puts a number in
/// brackets if some storage servers did not answer.
std::optional<std::uint64_t> lfs_number(std::string_view word) {
  while (!word.empty() && (word.front() == '[')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '*' || word.back() == ']')) word.remove_suffix(1);
  return parse_number<std::uint64_t>(word);
}

}  // namespace

std::optional<Quota> parse_lfs_quota(std::string_view text, std::string_view holder) {
  constexpr std::size_t columns = 9;  // the path, four columns for space and four for files
  std::istringstream line{std::string(text)};
  const std::vector<std::string> words{std::istream_iterator<std::string>(line), {}};
  if (words.size() < columns) return std::nullopt;
  const auto* const path = words.data();
  const auto is_expired = [](std::string_view grace) { return grace == "expired" || grace == "none"; };
  const auto used_blocks = lfs_number(path[1]), soft_blocks = lfs_number(path[2]), hard_blocks = lfs_number(path[3]);
  const auto used_files = lfs_number(path[5]), soft_files = lfs_number(path[6]), hard_files = lfs_number(path[7]);
  if (!used_blocks || !soft_blocks || !hard_blocks || !used_files || !soft_files || !hard_files) return std::nullopt;
  return with_limit({.holder = std::string(holder),
                     .used_bytes = bytes_per_block * *used_blocks,
                     .max_bytes = bytes_per_block * limit_in_force(*soft_blocks, *hard_blocks, is_expired(path[4])),
                     .used_files = *used_files,
                     .max_files = limit_in_force(*soft_files, *hard_files, is_expired(path[8]))});
}

std::string usage_text(const Quota& quota) {
  std::string text = quota.holder + " quota:";
  if (quota.max_bytes > 0) text += fmt::format(" {} of {}", byte_size(quota.used_bytes), byte_size(quota.max_bytes));
  if (quota.max_bytes > 0 && quota.max_files > 0) text += ',';
  if (quota.max_files > 0) text += fmt::format(" {} of {} files", quota.used_files, quota.max_files);
  return text;
}

/// Reuses the result of the last query. When a quota is used up, many calls fail in a row, and starting the program `lfs`
/// for each failure would be slow.
std::vector<Quota> quotas_at(const std::string& path) try {
  static std::mutex mutex;
  static std::string last_path;
  static std::vector<Quota> last_quotas;
  static double last_s = -reuse_s;
  const std::lock_guard lock(mutex);
  if (path == last_path && monotonic_seconds() - last_s < reuse_s) return last_quotas;
  last_quotas = ask(path);
  last_path = path;
  last_s = monotonic_seconds();
  return last_quotas;
} catch (const std::exception&) {
  return {};
}

}  // namespace trainrt
