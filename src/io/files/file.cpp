#include "io/files/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/files/guarded_tree.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::io {

namespace {

constexpr std::uint64_t early_bytes = std::uint64_t{8} << 20;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace

FileReader::FileReader(const std::string& path) : path_(path), fd_(open_guarded(path, O_RDONLY | O_NONBLOCK)) {
  if (fd_.get() < 0) fail("open", path_, errno);
  size_ = size_of_regular_file(fd_.get(), path_);
}

std::size_t FileReader::read(std::span<std::byte> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const auto count =
        uninterrupted([&] { return ::read(fd_.get(), into.data() + done, std::min(into.size() - done, bytes_per_call)); });
    if (count < 0) fail("read", path_, errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

FileWriter::FileWriter(const std::string& path) : path_(path), fd_(open_guarded(path, O_WRONLY | O_CREAT | O_EXCL)) {
  if (fd_.get() < 0) fail("create", path_, errno);
}

void FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto size = std::min(bytes.size(), bytes_per_call);
    const auto count = uninterrupted([&] { return ::write(fd_.get(), bytes.data(), size); });
    if (count <= 0) fail_at("write", bytes_, path_, count < 0 ? errno : ENOSPC);
    bytes_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  // Start writing the data to disk now, so that the fsync in finish() takes less time. The fsync reports the errors.
  if (bytes_ - started_ >= early_bytes) {
    ::sync_file_range(fd_.get(), static_cast<off64_t>(started_), static_cast<off64_t>(bytes_ - started_),
                      SYNC_FILE_RANGE_WRITE);
    started_ = bytes_;
  }
}

void FileWriter::finish() {
  sync_file(fd_.get(), path_);
  // On Linux, a close(2) that a signal interrupts (EINTR) has closed the descriptor.
  if (::close(fd_.release()) != 0 && errno != EINTR) fail("close", path_, errno);
}

std::string read_file(const std::string& path) {
  FileReader file(path);
  std::string text;
  for (std::size_t size = 0;;) {
    text.resize(size + (std::size_t{64} << 10));
    const auto count = file.read(std::as_writable_bytes(std::span(text.data() + size, text.size() - size)));
    size += count;
    if (size < text.size()) {
      text.resize(size);
      return text;
    }
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  FileWriter file(path);
  file.write(as_bytes(bytes));
  file.finish();
}

void replace_file(const std::string& path, std::string_view bytes) {
  const auto slash = path.rfind('/');
  const auto directory = slash == std::string::npos ? std::string(".") : path.substr(0, std::max<std::size_t>(slash, 1));
  const auto temporary = temporary_beside(path);
  // unlink() fails with EROFS on a read-only file system even if the file does not exist; write_file() then fails, too.
  if (unlink_guarded(temporary) != 0 && errno != ENOENT && errno != EROFS) fail("remove", temporary, errno);
  try {
    write_file(temporary, bytes);
    rename_over(temporary, path);
  } catch (...) {
    unlink_guarded(temporary);
    throw;
  }
  sync_directory(directory);
}

void replace_file_unsynced(const std::string& path, const std::string& temporary, std::string_view bytes) {
  try {
    const Descriptor file(open_guarded(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
    if (file.get() < 0) fail("create", temporary, errno);
    write_at(file.get(), 0, as_bytes(bytes), temporary);
    rename_over(temporary, path);
  } catch (...) {
    unlink_guarded(temporary);
    throw;
  }
}

}  // namespace trainrt::io
