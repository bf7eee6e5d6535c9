#include "data/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/stage_clock.hpp"
#include "io/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"
#include "io/uninterrupted.hpp"

namespace trainrt::data {

/// A descriptor that has failed is closed when its last reader has noticed, and the next reader opens the file again: after
/// a server came back, old ones stay stale.
class InputHandles {
 public:
  std::shared_ptr<io::Descriptor> get(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!open_) {
      const int fd = io::open_retrying(path, O_RDONLY);
      if (fd < 0) io::fail("open", path, errno);
      open_ = std::make_shared<io::Descriptor>(fd);
    }
    return open_;
  }
  void drop(const std::shared_ptr<io::Descriptor>& used) {
    const std::lock_guard lock(mutex_);
    if (open_ == used) open_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<io::Descriptor> open_;
};

namespace {

void require_as_listed(int fd, const DataFile& file) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) io::fail("look at", file.path, errno);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size != file.size)
    throw Error(fmt::format("'{}' was changed while it is used: it had {} bytes, and has {}", file.path, file.size, size));
}

void read_all(int fd, const DataFile& file, std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const auto count = io::uninterrupted(
        [&] { return ::pread(fd, into.data(), std::min(into.size(), io::bytes_per_call), static_cast<off_t>(offset)); });
    if (count < 0) io::fail(fmt::format("read at byte {} of", offset), file.path, errno);
    if (count == 0) {
      require_as_listed(fd, file);
      throw Error(
          fmt::format("'{}' ends at byte {}, and more of it was to be read: it is truncated, or its header is wrong",
                      file.path, offset));
    }
    offset += static_cast<std::uint64_t>(count);
    into = into.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace

InputFile::InputFile(const DataFile& file) : file_(file), handles_(std::make_unique<InputHandles>()) {
  io::retried([&] { require_as_listed(handles_->get(file_.path)->get(), file_); });
}

InputFile::~InputFile() = default;

void InputFile::read(std::uint64_t offset, std::span<std::byte> into) const {
  const InStage reading(Stage::storage);
  io::retried([&] {
    const auto used = handles_->get(file_.path);
    try {
      read_all(used->get(), file_, offset, into);
    } catch (const io::StorageError&) {
      handles_->drop(used);
      throw;
    }
  });
}

}  // namespace trainrt::data
