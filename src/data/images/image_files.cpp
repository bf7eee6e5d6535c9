#include "data/images/image_files.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <sys/stat.h>
#include <trainrt/error.hpp>

#include "data/bytes/read_method.hpp"
#include "data/bytes/stage_clock.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

namespace {

EncodedImage read_image_file(const std::string& path, std::uint64_t max_bytes, std::vector<std::byte>& buffer) {
  const io::Descriptor fd(open_guarded(path, O_RDONLY | O_NONBLOCK));
  if (fd.get() < 0) io::fail("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) io::fail("examine", path, errno);
  if (!S_ISREG(info.st_mode)) throw UsageError(fmt::format("image '{}' is not a regular file", path));
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > max_bytes)
    throw UsageError(fmt::format("image '{}' has {} bytes, more than max_file_bytes = {}", path, bytes, max_bytes));
  if (buffer.size() < bytes) buffer.resize(bytes);
  const auto image = std::span(buffer).first(bytes);
  read_part(fd.get(), DataFile{path, bytes}, {0, image});
  return image;
}

}  // namespace

std::string ImageFiles::path(std::size_t number) const {
  return base_.empty() ? names_[number] : fmt::format("{}/{}", base_, names_[number]);
}

EncodedImage ImageFiles::read(std::size_t number, std::uint64_t max_bytes, std::vector<std::byte>& buffer) const {
  const InStage reading(Stage::storage);
  const auto read = [&] { return read_image_file(path(number), max_bytes, buffer); };
  try {
    return base_.empty() ? io::retried(read) : io::retried_in(base_, read);
  } catch (const io::StorageError& error) {
    if (error.error_number() != ENOENT && error.error_number() != ENOTDIR) throw;
    throw UsageError(fmt::format("{} does not exist", what(number)));
  }
}

std::string ImageFiles::packed() const {
  PackedWriter writer;
  writer.text(base_);
  names_.pack(writer);
  for (const auto label : labels_) writer.integer(label);
  return writer.take();
}

ImageFiles ImageFiles::unpacked(std::string_view bytes) {
  PackedReader reader(bytes);
  ImageFiles files(reader.text());
  files.names_.unpack(reader);
  for (std::size_t i = 0; i < files.size(); ++i) files.labels_.push_back(reader.integer());
  return files;
}

}  // namespace trainrt::data
