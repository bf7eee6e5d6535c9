#include "io/files/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <trainrt/error.hpp>
#include <utility>

#include "core/files/guarded_tree.hpp"
#include "io/files/temporary.hpp"
#include "io/files/uninterrupted.hpp"

namespace trainrt::io {

namespace {

constexpr std::uint64_t early_bytes = std::uint64_t{8} << 20;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() { return std::exchange(fd_, -1); }

FileReader::FileReader(const std::string& path) : path_(path), fd_(open_retrying(path, O_RDONLY | O_NONBLOCK)) {
  if (fd_.get() < 0) fail("open", path_, errno);
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) fail("look at", path_, errno);
  if (!S_ISREG(info.st_mode)) throw Error("cannot read '" + path_ + "': it is not a regular file");
  size_ = static_cast<std::uint64_t>(info.st_size);
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

FileWriter::FileWriter(const std::string& path) : path_(path), fd_(open_retrying(path, O_WRONLY | O_CREAT | O_EXCL)) {
  if (fd_.get() < 0) fail("create", path_, errno);
}

void FileWriter::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count =
        uninterrupted([&] { return ::write(fd_.get(), bytes.data(), std::min(bytes.size(), bytes_per_call)); });
    if (count < 0) fail("write at byte " + std::to_string(bytes_) + " of", path_, errno);
    if (count == 0) fail("write at byte " + std::to_string(bytes_) + " of", path_, ENOSPC);
    bytes_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  // Lets the disk begin now instead of at the fsync, which alone decides whether it all went well.
  if (bytes_ - started_ >= early_bytes) {
    ::sync_file_range(fd_.get(), static_cast<off64_t>(started_), static_cast<off64_t>(bytes_ - started_),
                      SYNC_FILE_RANGE_WRITE);
    started_ = bytes_;
  }
}

void FileWriter::finish() {
  if (uninterrupted([&] { return ::fsync(fd_.get()); }) != 0) fail("make durable (fsync)", path_, errno);
  // A close that was interrupted has closed all the same (Linux).
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
  const auto aside = temporary_beside(path);
  if (unlink_guarded(aside) != 0 && errno != ENOENT) fail("remove", aside, errno);
  try {
    write_file(aside, bytes);
    if (rename_guarded(aside, path) != 0) fail_to_rename(aside, path, errno);
  } catch (...) {
    unlink_guarded(aside);
    throw;
  }
  sync_directory(directory);
}

void replace_file_lightly(const std::string& path, const std::string& aside, std::string_view bytes) {
  try {
    const Descriptor file(open_retrying(aside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW));
    if (file.get() < 0) fail("create", aside, errno);
    while (!bytes.empty()) {
      const auto count = uninterrupted([&] { return ::write(file.get(), bytes.data(), bytes.size()); });
      if (count <= 0) fail("write", aside, count < 0 ? errno : ENOSPC);
      bytes = bytes.substr(static_cast<std::size_t>(count));
    }
    if (rename_guarded(aside, path) != 0) fail_to_rename(aside, path, errno);
  } catch (...) {
    unlink_guarded(aside);
    throw;
  }
}

}  // namespace trainrt::io
