#include "data/images/image_list.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/data_file.hpp"
#include "data/bytes/object_reader.hpp"

namespace trainrt::data {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void bad_line(const std::string& list, const std::string& line, const std::string& why) {
  throw UsageError(fmt::format("the list of images {}: '{}': {}", list, excerpt(line), why));
}

void require_inner_path(const std::string& list, const std::string& line, const std::string& path) {
  if (path.empty()) bad_line(list, line, "a line names an image, and behind a comma its label");
  if (path.front() == '/') bad_line(list, line, "paths are relative to the folder of the list");
  const auto parts = fs::path(path);
  if (std::find(parts.begin(), parts.end(), "..") != parts.end())
    bad_line(list, line, "the path leads out of the folder of the list");
}

ImageList images_of_list(const std::string& list) {
  ImageList images;
  images.base = fs::path(list).parent_path().string();
  if (images.base.empty()) images.base = ".";
  for (const auto& line : lines_of_list(list)) {
    const auto at = line.find_last_of(",\t");
    images.paths.push_back(trim(line.substr(0, at)));
    require_inner_path(list, line, images.paths.back());
    const bool has_label = at != std::string::npos;
    if (images.paths.size() > 1 && has_label != images.are_listed)
      bad_line(list, line,
               has_label ? "has a label, and the lines before have none" : "has no label, and the lines before have one");
    images.are_listed = has_label;
    if (has_label) images.labels.push_back(trim(line.substr(at + 1)));
    if (has_label && images.labels.back().empty()) bad_line(list, line, "its label is empty");
  }
  return images;
}

/// The images among some paths.
void add_images(ImageList& images, std::vector<std::string> paths, std::size_t skipped) {
  for (auto& path : paths)
    if (is_image_name(path))
      images.paths.push_back(path.substr(skipped));
    else
      ++images.others;
}

/// Below a folder the first part of the path, else the folder that the image lies in.
std::string class_of(const ImageList& images, const std::string& path) {
  if (images.base.empty()) return fs::path(path).parent_path().filename().string();
  const auto slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

void add_classes(ImageList& images) {
  std::vector<std::string> classes;
  for (const auto& path : images.paths) {
    classes.push_back(class_of(images, path));
    if (classes.back().empty()) return;
  }
  images.labels = std::move(classes);
}

ImageList images_of_paths(const std::string& word) {
  ImageList images;
  std::error_code ignored;
  if (fs::is_directory(word, ignored)) images.base = word;
  auto paths = paths_of_word(word);
  const bool is_folder = !images.base.empty();
  if (!is_folder && paths.front() == word) data_file(word);  // it is there
  while (images.base.size() > 1 && images.base.ends_with('/')) images.base.pop_back();
  add_images(images, std::move(paths), is_folder ? (fs::path(word) / "x").string().size() - 1 : 0);
  return images;
}

}  // namespace

bool is_image_name(std::string_view path) {
  const auto dot = path.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string ending(path.substr(dot + 1));
  std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view known[] = {"jpg", "jpeg", "png", "webp"};
  return std::ranges::find(known, ending) != std::end(known);
}

ImageList list_images(const std::string& word) {
  std::error_code ignored;
  const bool is_marked = word.starts_with('@');
  if (is_object(is_marked ? word.substr(1) : word))
    throw UsageError(fmt::format(
        "the source {}: images that are a file each are read from file systems only: put them into tar archives "
        "(format = tar), which object stores are read for too",
        word));
  const bool is_list = is_marked || (fs::is_regular_file(word, ignored) && !is_image_name(word));
  auto images = is_list ? images_of_list(is_marked ? word.substr(1) : word) : images_of_paths(word);
  if (images.paths.empty())
    throw UsageError(fmt::format("the source {}: no image is there: names end in .jpg, .jpeg, .png or .webp{}", word,
                                 images.others == 0 ? "" : fmt::format(", and {} files in others", images.others)));
  if (!images.are_listed) add_classes(images);
  return images;
}

}  // namespace trainrt::data
