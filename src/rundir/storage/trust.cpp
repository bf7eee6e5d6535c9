#include "rundir/storage/trust.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"
#include "rundir/records/run_error.hpp"

namespace trainrt::rundir {

namespace fs = std::filesystem;

namespace {

const std::string centre_file = "/etc/trainrt/trainrt.ini";

std::string name_of_user(uid_t uid) {
  const auto* user = getpwuid(uid);
  return user != nullptr ? user->pw_name : std::to_string(uid);
}

std::optional<uid_t> uid_of(const std::string& user) {
  if (const auto* found = getpwnam(user.c_str())) return found->pw_uid;
  const auto number = parse_integer(user);
  constexpr auto max_uid = std::numeric_limits<uid_t>::max();
  return number && *number >= 0 && *number <= max_uid ? std::optional(static_cast<uid_t>(*number)) : std::nullopt;
}

/// Returns the path of the current user's trainrt.ini; "" if the user has no home directory.
std::string file_of_user(const Environment& environment) {
  fs::path folder = environment.text("XDG_CONFIG_HOME").value_or("");
  if (!folder.is_absolute()) folder = fs::path(environment.text("HOME").value_or("")) / ".config";
  return folder.is_absolute() ? (folder / "trainrt/trainrt.ini").string() : "";
}

bool may_others_write(const std::string& path) {
  struct stat found {};
  if (stat_guarded(path, found) != 0) return false;
  return (found.st_uid != 0 && found.st_uid != geteuid()) || (found.st_mode & 022) != 0;
}

/// Returns the names of groups in one line of section [trust]. Returns an empty list for a comment, the line [trust] or an
/// empty line; throws UsageError for other lines. `origin`, the file and line, is used in the error message.
std::vector<std::string> groups_of_line(const std::string& line, const std::string& origin) {
  if (line.empty() || line.front() == '#' || line.front() == ';' || line == "[trust]") return {};
  const auto equals = line.find('=');
  if (equals == std::string::npos || trim(line.substr(0, equals)) != "trust_group")
    throw UsageError(
        fmt::format("{}: invalid line '{}'; section [trust] may contain: trust_group = GROUP, ...", origin, excerpt(line)));
  return words_in(line.substr(equals + 1));
}

void add_groups_of(const std::string& path, std::vector<std::string>& groups) {
  if (path.empty() || !io::exists(path)) return;
  if (may_others_write(path)) {
    log::warning(fmt::format("{} is ignored because other users can write to it; run: chmod go-w {}", path, path));
    return;
  }
  std::istringstream lines(io::read_file(path));
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number)
    for (auto& group : groups_of_line(trim(line), fmt::format("{}:{}", path, number))) groups.push_back(std::move(group));
}

bool is_member(uid_t user, const std::string& group) {
  const auto* found = getgrnam(group.c_str());
  if (found == nullptr) return false;
  const auto wanted = found->gr_gid;
  const auto* account = getpwuid(user);
  if (account == nullptr) return false;
  const std::string name = account->pw_name;
  const auto own = account->pw_gid;
  int count = 0;
  getgrouplist(name.c_str(), own, nullptr, &count);  // sets `count`
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(count, 0)));
  if (getgrouplist(name.c_str(), own, groups.data(), &count) < 0) return false;
  return std::ranges::find(groups, wanted) != groups.end();
}

/// Returns the user that owns a new file of this process in `folder`; the current user if no file can be created in the
/// folder.
uid_t uid_on(const std::string& folder) {
  const auto probe = io::temporary_beside(folder + "/.owner");
  unlink_guarded(probe);
  const int file = open_guarded(probe, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) return geteuid();
  struct stat found {};
  const bool is_known = fstat(file, &found) == 0;
  close(file);
  unlink_guarded(probe);
  return is_known ? found.st_uid : geteuid();
}

/// Returns the parts of a run that do not belong to the current user, as pairs of path and owner. Checks `directory`,
/// the target of the link if `directory` is a link, and the file `record` in the directory.
std::vector<std::pair<std::string, uid_t>> foreign_parts(const std::string& directory, const std::string& record) {
  std::vector<std::pair<std::string, uid_t>> parts;
  const auto add = [&](const std::string& path, auto status_of) {
    struct stat found {};
    if (status_of(path.c_str(), &found) == 0 && found.st_uid != geteuid()) parts.emplace_back(path, found.st_uid);
  };
  add(directory, lstat);
  add(directory, stat);  // a link of the current user may lead to another user's directory
  add(directory + "/" + record, lstat);
  return parts;
}

}  // namespace

void trust_owners(const std::string& users) {
  for (const auto& user : words_in(users))
    if (!uid_of(user)) throw UsageError(fmt::format("--trust-owner={}: there is no user '{}'", users, user));
  setenv(trust_owner_variable, users.c_str(), 1);
}

Trust trust_of(const Environment& environment) {
  Trust trust{words_in(environment.text(trust_owner_variable).value_or("")), {}};
  for (const auto& path : {centre_file, file_of_user(environment)}) add_groups_of(path, trust.groups);
  return trust;
}

bool is_trusted(uid_t user, const Trust& trust) {
  return std::ranges::any_of(trust.owners, [&](const std::string& each) { return uid_of(each) == user; }) ||
         std::ranges::any_of(trust.groups, [&](const std::string& each) { return is_member(user, each); });
}

void require_trusted_owner(const std::string& directory, const std::string& record) {
  const auto parts = foreign_parts(directory, record);
  if (parts.empty()) return;
  const auto trust = trust_of(Environment::of_process());
  const auto own = uid_on(fs::path(directory).parent_path().string());
  for (const auto& [path, owner] : parts) {
    if (owner == own || is_trusted(owner, trust)) continue;
    const auto name = name_of_user(owner);
    throw ForeignRun(fmt::format(
        "{} belongs to {}, and this process runs as {}: runs of other users are not resumed, restored or changed; "
        "they can only be read. If you trust that user, add --trust-owner={} (in Python: restore(..., "
        "trust_owner='{}'))",
        path, name, name_of_user(geteuid()), name, name));
  }
}

}  // namespace trainrt::rundir
