#include "data/bytes/input_file.hpp"

#include <fcntl.h>

#include "data/bytes/block_checksums.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/bytes/stage_clock.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

struct InputFile::Handle {
  io::Descriptor fd;  ///< empty if the file is an object
  std::unique_ptr<FileReader> reader;
};

InputFile::InputFile(const DataFile& file) : file_(file) {
  io::retried([&] {
    const auto used = handle();
    if (used->fd.get() >= 0) require_listed_size(used->fd.get(), file_);  // each read of an object checks its version
  });
}

InputFile::~InputFile() = default;

std::shared_ptr<const InputFile::Handle> InputFile::handle() const {
  const std::lock_guard lock(mutex_);
  if (handle_) return handle_;
  if (is_object(file_.path)) return handle_ = std::make_shared<Handle>(Handle{io::Descriptor(), object_reader(file_)});
  io::Descriptor fd(open_guarded(file_.path, O_RDONLY));
  if (fd.get() < 0) io::fail("open", file_.path, errno);
  auto reader = (file_.read_method != nullptr ? file_.read_method->open : pread_reader)(fd.get(), file_);
  return handle_ = std::make_shared<Handle>(Handle{std::move(fd), std::move(reader)});
}

void InputFile::read(std::span<const FilePart> parts) const {
  if (!file_.checksums) return read_unverified(parts);
  file_.checksums->read_verified(parts, [this](std::span<const FilePart> blocks) { read_unverified(blocks); });
}

/// Reads `parts` without verifying checksums, and repeats failed reads. After a failed read, opens the file again, because
/// a descriptor that was opened before the file server failed stays invalid. Other threads may still read with the old
/// descriptor, which is closed when the last of these reads has returned.
void InputFile::read_unverified(std::span<const FilePart> parts) const {
  const InStage reading(Stage::storage);
  io::retried([&] {
    const auto used = handle();
    try {
      used->reader->read(parts);
    } catch (const io::StorageError&) {
      const std::lock_guard lock(mutex_);
      if (handle_ == used) handle_ = nullptr;
      throw;
    }
  });
}

std::size_t InputFile::max_in_flight() const { return handle()->reader->max_in_flight(); }

std::string read_text(const DataFile& file) {
  std::string text(file.size, '\0');
  InputFile(file).read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace trainrt::data
