#include "trainer/saving/mirrored_artifacts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"

namespace trainrt::trainer {

namespace fs = std::filesystem;

namespace {

constexpr const char* artifacts = "artifacts";

/// Returns whether a program is still writing the file. Until a file is complete, _new_file.py of the Python package
/// names it ".NAME." followed by 16 hexadecimal digits.
bool is_unfinished(std::string_view name) {
  constexpr std::size_t digits = 16;
  if (!name.starts_with('.') || name.size() < digits + 3 || name[name.size() - digits - 1] != '.') return false;
  return name.substr(name.size() - digits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

bool MirroredArtifacts::exist() const {
  std::error_code gone;
  const auto path = run_dir_ + "/" + artifacts;
  return fs::is_directory(fs::symlink_status(path, gone)) && !io::list_if_exists(path).empty();
}

void MirroredArtifacts::copy_to(checkpoint::MirroredRun& mirror) {
  first_error_ = nullptr;
  copy_entry(mirror, artifacts);
  if (const auto error = std::exchange(first_error_, nullptr)) std::rethrow_exception(error);
}

void MirroredArtifacts::copy_entry(checkpoint::MirroredRun& mirror, const std::string& name) try {
  std::error_code gone;
  const auto status = fs::symlink_status(run_dir_ + "/" + name, gone);
  if (gone) return;
  if (fs::is_regular_file(status)) copy_file(mirror, name);
  if (!fs::is_directory(status)) return;
  for (const auto& entry : io::list_if_exists(run_dir_ + "/" + name))
    if (!is_unfinished(entry) && may_have_name(entry)) copy_entry(mirror, name + "/" + entry);
} catch (const Error& error) {
  if (io::is_transient(error)) throw;  // every further file would wait for the storage, too
  if (!first_error_) first_error_ = std::current_exception();
}

void MirroredArtifacts::copy_file(checkpoint::MirroredRun& mirror, const std::string& name) {
  std::error_code gone;
  const auto path = run_dir_ + "/" + name;
  const Version now{fs::file_size(path, gone), gone ? fs::file_time_type() : fs::last_write_time(path, gone)};
  if (gone) return;
  if (const auto found = copied_.find(name); found != copied_.end() && found->second == now) return;
  try {
    mirror.put_file(run_dir_, name);
  } catch (const Error&) {
    if (io::exists(path)) throw;
    return;
  }
  copied_[name] = now;  // if the file has changed during the copy, it is copied again
}

bool MirroredArtifacts::may_have_name(const std::string& name) {
  const auto is_control = [](unsigned char letter) { return letter < 0x20 || letter == 0x7f; };
  if (std::ranges::none_of(name, is_control)) return true;
  if (!std::exchange(has_warned_, true))
    log::warning(fmt::format("the artifact '{}' is not copied to the mirror, since its name has a control character",
                             excerpt(name)));
  return false;
}

}  // namespace trainrt::trainer
