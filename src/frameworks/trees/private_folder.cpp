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

/// Returns the prefix of the names of this run's private folders. In a name, the number of the attempt follows the prefix.
std::string prefix_of_run(const Context& ctx) {
  return fmt::format("trainrt-trees-{:016x}-", std::hash<std::string>()(ctx.run_dir()));
}

/// Returns whether `name` is the name of a private folder from an attempt before `attempt`. `run`: prefix_of_run().
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

void remove_older_attempts(const std::string& parent, const std::string& run, std::int64_t attempt) {
  std::error_code error;
  std::vector<std::filesystem::path> older;
  for (std::filesystem::directory_iterator each(parent, error), end; !error && each != end; each.increment(error))
    if (is_older(each->path().filename().string(), run, attempt)) older.push_back(each->path());
  for (const auto& path : older)
    if (is_own(path)) std::filesystem::remove_all(path, error);
}

}  // namespace

PrivateFolder::PrivateFolder(const Context& ctx, const std::string& parent) {
  const auto folder = parent.empty() ? node_storage() : parent;
  const auto run = prefix_of_run(ctx);
  remove_older_attempts(folder, run, ctx.attempt());
  path_ = fmt::format("{}/{}{}-XXXXXX", folder, run, ctx.attempt());
  if (mkdtemp(path_.data()) == nullptr)
    throw Error(fmt::format("cannot create the folder {}: {}{}", path_, std::strerror(errno),
                            parent.empty() ? "; set TMPDIR to another folder" : ""));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace trainrt::frameworks::trees
