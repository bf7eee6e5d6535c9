#include "frameworks/trees/private_folder.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

std::string node_storage() {
  const auto* const given = std::getenv("TMPDIR");
  return given != nullptr && *given != '\0' ? given : "/tmp";
}

/// What the names of the run's folders begin with; behind it stands the number of the attempt.
std::string prefix_of_run(const Context& ctx) {
  return fmt::format("trainrt-trees-{:016x}-", std::hash<std::string>()(ctx.run_dir()));
}

/// Whether the folder of that name is one of the run's, and of an attempt before this one.
bool is_older(std::string_view name, std::string_view run, std::int64_t attempt) {
  if (!name.starts_with(run)) return false;
  std::int64_t number = 0;
  const auto* const end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data() + run.size(), end, number);
  return code == std::errc() && stop != end && *stop == '-' && number < attempt;
}

bool is_own(const std::filesystem::path& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid();
}

void remove_older_attempts(const std::string& where, const std::string& run, std::int64_t attempt) {
  std::error_code none;
  std::vector<std::filesystem::path> left;
  for (std::filesystem::directory_iterator each(where, none), end; !none && each != end; each.increment(none))
    if (is_older(each->path().filename().string(), run, attempt)) left.push_back(each->path());
  for (const auto& path : left)
    if (is_own(path)) std::filesystem::remove_all(path, none);
}

}  // namespace

PrivateFolder::PrivateFolder(const Context& ctx, const std::string& where) {
  const auto folder = where.empty() ? node_storage() : where;
  const auto run = prefix_of_run(ctx);
  remove_older_attempts(folder, run, ctx.attempt());
  path_ = fmt::format("{}/{}{}-XXXXXX", folder, run, ctx.attempt());
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(fmt::format("cannot make a folder {}: {}{}", path_, std::strerror(errno),
                            where.empty() ? "; TMPDIR chooses where" : ""));
}

PrivateFolder::~PrivateFolder() {
  std::error_code none;
  std::filesystem::remove_all(path_, none);
}

}  // namespace trainrt::frameworks::trees
