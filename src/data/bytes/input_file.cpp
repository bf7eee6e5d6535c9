#include "data/bytes/input_file.hpp"

#include <fcntl.h>

#include <mutex>

#include "data/bytes/block_checksums.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/bytes/stage_clock.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

/// A descriptor that has failed is closed when its last reader has noticed, and the next reader opens the file again: after
/// a server came back, old ones stay stale.
class InputHandles {
 public:
  struct Handle {
    io::Descriptor fd;
    std::unique_ptr<FileReader> reader;
  };
  explicit InputHandles(const DataFile& file) : file_(file) {}
  std::shared_ptr<Handle> get() {
    const std::lock_guard lock(mutex_);
    if (!open_) open_ = opened();
    return open_;
  }
  void drop(const std::shared_ptr<Handle>& used) {
    const std::lock_guard lock(mutex_);
    if (open_ == used) open_ = nullptr;
  }

 private:
  std::shared_ptr<Handle> opened() const {
    if (is_object(file_.path)) return std::make_shared<Handle>(Handle{io::Descriptor(), object_reader(file_)});
    const int fd = open_guarded(file_.path, O_RDONLY);
    if (fd < 0) io::fail("open", file_.path, errno);
    auto handle = std::make_shared<Handle>(Handle{io::Descriptor(fd), nullptr});
    handle->reader = file_.read_method != nullptr ? file_.read_method->open(fd, file_) : plain_reader(fd, file_);
    return handle;
  }

  const DataFile& file_;
  std::mutex mutex_;
  std::shared_ptr<Handle> open_;
};

InputFile::InputFile(const DataFile& file) : file_(file), handles_(std::make_unique<InputHandles>(file_)) {
  io::retried([&] {
    const auto used = handles_->get();
    if (used->fd.get() >= 0) require_as_listed(used->fd.get(), file_);  // of an object each read sees it
  });
}

InputFile::~InputFile() = default;

void InputFile::read(std::span<const FilePart> parts) const {
  if (!file_.checksums) return read_plain(parts);
  file_.checksums->read_verified(parts, [this](std::span<const FilePart> blocks) { read_plain(blocks); });
}

void InputFile::read_plain(std::span<const FilePart> parts) const {
  const InStage reading(Stage::storage);
  io::retried([&] {
    const auto used = handles_->get();
    try {
      used->reader->read(parts);
    } catch (const io::StorageError&) {
      handles_->drop(used);
      throw;
    }
  });
}

std::size_t InputFile::max_in_flight() const { return handles_->get()->reader->max_in_flight(); }

}  // namespace trainrt::data
