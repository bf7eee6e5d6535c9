#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/child_process.hpp"
#include "core/process/spawn.hpp"
#include "program/staging/archives.hpp"

namespace trainrt::program::stage::plugins {

namespace {

namespace fs = std::filesystem;

constexpr double unsquashing_limit_s = 1800;
const char* const image_name = ".trainrt-image";

/// Returns whether a file begins with the magic number of squashfs 4, little endian
/// (Documentation/filesystems/squashfs.rst of Linux).
bool is_squashfs(const std::string& path) {
  std::array<char, 4> magic{};
  std::ifstream(path, std::ios::binary).read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "hsqs";
}

void write_image(const Fetch& fetch) {
  std::ofstream image(image_name, std::ios::binary);
  for (auto bytes = fetch(); !bytes.empty(); bytes = fetch())
    image.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  errno = 0;
  image.close();
  if (!image) throw Error(fmt::format("cannot write the image: {}", std::strerror(errno != 0 ? errno : ENOSPC)));
}

TreeSize size_of_tree(const fs::path& root) {
  TreeSize found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.is_directory() && !entry.is_symlink()) continue;
    ++found.files;
    if (entry.is_regular_file() && !entry.is_symlink()) found.bytes += static_cast<std::int64_t>(entry.file_size());
  }
  return found;
}

/// Makes all folders of the tree writable for the user. Otherwise the user could not remove them.
void open_folders(const fs::path& root) {
  fs::permissions(root, fs::perms::owner_all, fs::perm_options::add);
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_directory() && !entry.is_symlink())
      fs::permissions(entry.path(), fs::perms::owner_all, fs::perm_options::add);
}

TreeSize unsquash(const Fetch& fetch) {
  write_image(fetch);
  const auto done = run_child({"unsquashfs", "-force", "-no-progress", "-no-xattrs", "-dest", ".", image_name},
                              unsquashing_limit_s, ChildErrors::with_output);
  if (!done) throw Error(fmt::format("unsquashfs did not exit within {:g} s", unsquashing_limit_s));
  if (done->exit_code != 0)
    throw Error(fmt::format("unsquashfs exited with {}: {}", done->exit_code, excerpt(trim(done->text), 500)));
  open_folders(".");
  fs::remove(image_name);
  return size_of_tree(".");
}

std::string missing_unsquashfs() {
  if (!find_executable("unsquashfs").empty()) return {};
  return fmt::format(
      "unsquashfs was not found in the PATH of {}; install it (Debian: package squashfs-tools), or stage a tar",
      host_name());
}

}  // namespace

extern const StageFormat squashfs;
const StageFormat squashfs{.name = "squashfs",
                           .help = "a squashfs image, which unsquashfs unpacks on each node",
                           .fits = is_squashfs,
                           .read = emit_file,
                           .identity = identity_of_file,
                           .unpack = unsquash,
                           .missing = missing_unsquashfs};

}  // namespace trainrt::program::stage::plugins
