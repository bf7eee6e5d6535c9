#include "data/images/image_files.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>
#include <sys/stat.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/bytes/read_method.hpp"
#include "data/bytes/stage_clock.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::data {

namespace {

namespace fs = std::filesystem;

/// Appends the image that a line of a list file describes. Throws UsageError, which describes the problem, for an invalid
/// line.
void add_line(ImageList& images, const std::string& line) {
  const auto separator = line.find_last_of(",\t");
  const bool has_label = separator != std::string::npos;
  const auto path = trim(line.substr(0, separator));
  if (path.empty()) throw UsageError("the path is missing; a line is PATH or PATH,LABEL");
  const fs::path parts(path);
  if (parts.is_absolute()) throw UsageError("the path must be relative to the folder of the list");
  if (std::find(parts.begin(), parts.end(), "..") != parts.end())
    throw UsageError("the path must not contain '..': all images must be below the folder of the list");
  if (!images.paths.empty() && has_label != images.is_list_file)
    throw UsageError(has_label ? "has a label, but the lines before have no label"
                               : "has no label, but the lines before have a label");
  images.is_list_file = has_label;
  images.paths.push_back(path);
  if (!has_label) return;
  images.labels.push_back(trim(line.substr(separator + 1)));
  if (images.labels.back().empty()) throw UsageError("the label is empty");
}

ImageList read_list(const std::string& path) {
  ImageList images;
  images.base = fs::path(path).parent_path().string();
  if (images.base.empty()) images.base = ".";
  for (const auto& line : lines_of_list(path)) try {
      add_line(images, line);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("list of images '{}', line '{}': {}", path, excerpt(line), error.what()));
    }
  return images;
}

/// Returns the class of an image. In the images of a folder, this is the first part of the path below the folder.
/// Otherwise it is the name of the folder that contains the image.
std::string class_of(const ImageList& images, const std::string& path) {
  if (images.base.empty()) return fs::path(path).parent_path().filename().string();
  const auto slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

/// Sets the label of each image to its class. Does nothing unless all images have a class.
void add_classes(ImageList& images) {
  std::vector<std::string> classes;
  for (const auto& path : images.paths) {
    classes.push_back(class_of(images, path));
    if (classes.back().empty()) return;
  }
  images.labels = std::move(classes);
}

ImageList find_images(const std::string& word) {
  ImageList images;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(word, ignored);
  const auto paths = paths_of_word(word);
  if (!is_folder && paths.front() == word) data_file(word);  // data_file() throws if the file does not exist
  if (is_folder) images.base = word;
  while (images.base.size() > 1 && images.base.ends_with('/')) images.base.pop_back();
  const auto prefix = is_folder ? (fs::path(word) / "x").string().size() - 1 : 0;
  for (const auto& path : paths)
    if (is_image_name(path))
      images.paths.push_back(path.substr(prefix));
    else
      ++images.other_file_count;
  return images;
}

EncodedImage read_image_file(const std::string& path, std::uint64_t max_bytes, std::vector<std::byte>& buffer) {
  const io::Descriptor fd(open_guarded(path, O_RDONLY | O_NONBLOCK));
  if (fd.get() < 0) io::fail("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) io::fail("examine", path, errno);
  if (!S_ISREG(info.st_mode)) throw UsageError(fmt::format("image '{}' is not a regular file", path));
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes > max_bytes)
    throw UsageError(
        fmt::format("image '{}' has {} bytes, more than max_file_bytes = {}; increase this key if you trust the file", path,
                    bytes, max_bytes));
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

bool is_image_name(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string extension(path.substr(dot + 1));
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view known[] = {"jpg", "jpeg", "png", "webp"};
  return std::ranges::find(known, extension) != std::end(known);
}

ImageList list_images(const std::string& word) {
  std::error_code ignored;
  const bool is_marked = word.starts_with('@');
  const auto path = is_marked ? word.substr(1) : word;
  if (is_object(path))
    throw UsageError(
        fmt::format("source '{}': the format images cannot read from object stores. "
                    "Put the images into tar archives and set format = tar",
                    word));
  const bool is_list = is_marked || (fs::is_regular_file(word, ignored) && !is_image_name(word));
  auto images = is_list ? read_list(path) : find_images(word);
  if (images.paths.empty())
    throw UsageError(fmt::format(
        "source '{}' contains no images; their names end in .jpg, .jpeg, .png or .webp{}", word,
        images.other_file_count == 0 ? "" : fmt::format(", but {} other files were found", images.other_file_count)));
  if (!images.is_list_file) add_classes(images);
  return images;
}

}  // namespace trainrt::data
