#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "io/files/file.hpp"
#include "io/storage.hpp"

namespace trainrt::io {

namespace {

/// A Storage that keeps objects as files: the name of an object is the path of a file without the first slash. If `root`
/// is not empty, symbolic links below it are not followed.
class FileStorage final : public Storage {
 public:
  explicit FileStorage(const std::string& root) {
    if (!root.empty()) guarded_.emplace(root);
  }

  std::vector<StoredObject> list(const std::string& prefix) const override {
    const auto path = path_of(prefix);
    const auto folder = path.substr(0, path.rfind('/') + 1);
    std::vector<StoredObject> found;
    if (!is_folder(folder)) return found;
    for (const auto& relative : list_files_below(folder))
      if (const auto file = folder + relative; file.starts_with(path))
        if (auto object = find(file.substr(1))) found.push_back(std::move(*object));
    return found;
  }

  std::optional<StoredObject> find(const std::string& name) const override {
    struct stat info {};
    if (stat_guarded(path_of(name), info) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
      fail("read the status of", path_of(name), errno);
    }
    if (!S_ISREG(info.st_mode)) return std::nullopt;
    const auto mtime_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
    return StoredObject{name, static_cast<std::uint64_t>(info.st_size), fmt::format("{}-{}", info.st_size, mtime_ns),
                        mtime_ns};
  }

  void read(const StoredObject& object, std::span<const ObjectPart> parts) const override {
    const auto path = path_of(object.name);
    const Descriptor file(open_guarded(path, O_RDONLY));
    if (file.get() < 0) fail("open", path, errno);
    const auto now = find(object.name);
    if (!now || now->etag != object.etag)
      throw Error(fmt::format("'{}' has changed since it was listed; restore it, or start again", path));
    for (const auto& part : parts)
      if (read_at(file.get(), part.offset, part.into, path) < part.into.size())
        throw Error(fmt::format("'{}' ends at byte {}, before the end of the part to read", path, object.size));
  }

  StoredObject put(const std::string& file, const std::string& name) override {
    const auto path = path_of(name), folder = std::filesystem::path(path).parent_path().string();
    make_directories(folder);
    const auto temporary = fmt::format("{}.{}.part", path, ::getpid());
    remove_tree(temporary);
    copy(file, temporary);
    rename_over(temporary, path);
    sync_directory(folder);
    auto object = find(name);
    if (!object) throw StorageError(fmt::format("'{}' does not exist after it was written", path), EIO, path);
    return *object;
  }

  void remove(const std::string& name) override {
    const auto path = path_of(name);
    if (unlink_guarded(path) != 0 && errno != ENOENT && errno != ENOTDIR) fail("remove", path, errno);
    // Removes the folder only if it is empty, because object stores have no empty folders.
    remove_directory_guarded(path.substr(0, path.rfind('/')));
  }

  std::string url_of(const std::string& name) const override { return "file://" + path_of(name); }
  void interrupt() override { interrupted_ = true; }

 private:
  static std::string path_of(const std::string& name) { return "/" + name; }

  static bool is_folder(const std::string& folder) {
    struct stat info {};
    if (stat_guarded(folder, info) == 0) return true;
    if (errno != ENOENT) fail("list", folder, errno);
    return false;
  }

  void copy(const std::string& from, const std::string& to) const {
    FileReader reader(from);
    FileWriter writer(to);
    std::vector<std::byte> block(4 << 20);
    while (const auto count = reader.read(block)) {
      if (interrupted_) throw Error("the copy was interrupted");
      writer.write({block.data(), count});
    }
    writer.finish();
  }

  std::optional<GuardedTree> guarded_;
  std::atomic<bool> interrupted_ = false;
};

std::shared_ptr<Storage> open_file_storage(const StorageUrl& url) {
  if (!url.bucket.empty())
    throw UsageError(fmt::format("file://{}/{} names a host; to name a path on this node, write file:///{}/{}", url.bucket,
                                 url.name, url.bucket, url.name));
  return std::make_shared<FileStorage>(url.name.empty() ? "" : "/" + url.name);
}

}  // namespace

namespace plugins {

extern const StorageKind file{.name = "file",
                              .help = "file:///PATH: a folder that all nodes can access, like any other path",
                              .open = open_file_storage};

}  // namespace plugins

}  // namespace trainrt::io
