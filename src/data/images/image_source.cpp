#include "data/images/image_source.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/stat.h>
#include <trainrt/error.hpp>

#include "data/bytes/file_reader.hpp"
#include "data/bytes/stage_clock.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

namespace {

std::span<const std::byte> bytes_of_text(std::string_view text) { return std::as_bytes(std::span(text)); }

void append(Column& column, std::span<const std::byte> bytes) {
  column.values.insert(column.values.end(), bytes.begin(), bytes.end());
  column.ends.push_back(column.values.size());
}

EncodedImage read_image_file(const std::string& path, std::uint64_t most, EncodedBuffer& buffer) {
  const io::Descriptor fd(open_guarded(path, O_RDONLY | O_NONBLOCK));
  if (fd.get() < 0) io::fail("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) io::fail("look at", path, errno);
  if (!S_ISREG(info.st_mode)) throw UsageError(fmt::format("the image '{}' is not a file", path));
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > most)
    throw UsageError(fmt::format("the image '{}' has {} bytes: more than max_file_bytes = {}", path, bytes, most));
  const auto into = buffer.room(bytes);
  read_part(fd.get(), DataFile{path, bytes}, {0, into});
  return into;
}

}  // namespace

std::string ImageFiles::path(std::size_t number) const {
  return base_.empty() ? names_[number] : fmt::format("{}/{}", base_, names_[number]);
}

EncodedImage ImageFiles::read(std::size_t number, std::uint64_t most, EncodedBuffer& buffer) const {
  const InStage reading(Stage::storage);
  const auto read = [&] { return read_image_file(path(number), most, buffer); };
  try {
    return base_.empty() ? io::retried(read) : io::retried_in(base_, read);
  } catch (const io::StorageError& error) {
    if (error.error_number() != ENOENT && error.error_number() != ENOTDIR) throw;
    throw UsageError(fmt::format("{} is not there", what(number)));
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
  files.names_ = PackedNames::unpacked(reader);
  for (std::size_t i = 0; i < files.size(); ++i) files.labels_.push_back(reader.integer());
  return files;
}

void ImageSource::read_images(std::span<const std::uint64_t> samples, Column& column) const {
  const InStage decoding(Stage::decode);
  const auto& field = fields_[column.field];
  EncodedBuffer buffer;
  auto* out = column.values.data();
  for (const auto sample : samples) {
    const auto image = files_.read(sample, decoder_.most_bytes(), buffer);
    if (field.varies) {
      append(column, image);
      continue;
    }
    decoder_.decode(image, files_.what(sample), field, out);
    out += sample_bytes(field);
  }
}

void ImageSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) {
    const auto& field = fields_[column.field];
    column.ends.clear();
    column.values.resize(field.varies ? 0 : samples.size() * sample_bytes(field));
    if (field.name == "image") read_images(samples, column);
    if (field.name == "path")
      for (const auto sample : samples) append(column, bytes_of_text(files_.path(sample)));
    if (field.name == "label")
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto label = files_.label(samples[i]);
        std::memcpy(column.values.data() + i * sizeof label, &label, sizeof label);
      }
  }
}

}  // namespace trainrt::data
