#include "data/images/image_folder.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <sys/stat.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/bytes/log_once.hpp"
#include "data/images/image_decoder.hpp"
#include "data/images/image_list.hpp"
#include "data/images/image_source.hpp"
#include "data/source/skipping_reader.hpp"
#include "io/files/digest.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t most_weighed = 1000;  // files of a unit whose sizes are looked at
constexpr std::size_t most_opened = 16;     // files of a unit whose headers are

/// Numbers up to `count`, at most `most` of them, spread over all.
std::vector<std::size_t> spread(std::size_t count, std::size_t most) {
  std::vector<std::size_t> numbers;
  const auto wanted = std::min(count, most);
  for (std::size_t i = 0; i < wanted; ++i) numbers.push_back(i * count / wanted);
  return numbers;
}

/// The labels of the classes; or none if all labels are whole numbers in lists.
using ImageClasses = std::map<std::string, std::int64_t>;

bool has_labels(const std::vector<ImageList>& lists, const std::string& wanted) {
  if (wanted == "none") return false;
  const auto without = std::ranges::find_if(lists, [](const auto& list) { return list.labels.empty(); });
  if (without == lists.end()) return true;
  const bool others_have = std::ranges::any_of(lists, [](const auto& list) { return !list.labels.empty(); });
  if (wanted == "auto" && !others_have) return false;
  throw UsageError(fmt::format("labels: the image '{}' lies in no folder of a class; labels = none reads images alone",
                               without->paths.front()));
}

bool are_numbers(const std::vector<ImageList>& lists) {
  return std::ranges::all_of(lists, [](const auto& list) {
    return list.are_listed &&
           std::ranges::all_of(list.labels, [](const auto& label) { return parse_integer(label).has_value(); });
  });
}

/// "classes of [data.train]", or "classes (train.ini, line 7)"
std::string origin_of_classes(const Options& options) {
  const auto& origin = options.find("classes")->origin;
  return origin.starts_with("classes") ? origin : fmt::format("classes ({})", origin);
}

bool is_number(const std::string& name) { return parse_integer(name).has_value(); }

/// Says once that folders named by numbers have other labels than their names: 10 comes before 2.
void warn_of_text_order(const std::set<std::string>& names) {
  if (!std::ranges::all_of(names, is_number)) return;
  std::int64_t label = 0;
  for (const auto& name : names)
    if (const auto number = label++; parse_integer(name) != number)
      return warning_once(fmt::format(
          "the classes are in the order of their names as texts, so that class '{}' has the label {}; classes = "
          "NAME, ... gives them another order",
          name, number));
}

/// The key classes, or the sorted names. UsageError for a class that the key does not name.
std::vector<std::string> class_names(const std::vector<ImageList>& lists, const Options& options) {
  std::set<std::string> found;
  for (const auto& list : lists) found.insert(list.labels.begin(), list.labels.end());
  auto names = words_in(options.text("classes"));
  if (names.empty()) {
    warn_of_text_order(found);
    return {found.begin(), found.end()};
  }
  const std::set<std::string> known(names.begin(), names.end());
  if (known.size() < names.size()) throw UsageError("classes: a name is there twice");
  for (const auto& name : found)
    if (!known.contains(name))
      throw UsageError(fmt::format("'{}' is not among the {}: {}", excerpt(name, 60), origin_of_classes(options),
                                   excerpt(join(names), 200)));
  return names;
}

std::string remark_on(const std::vector<std::string>& classes, std::uint64_t others) {
  constexpr std::size_t most = 20;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(classes.size(), most); ++i)
    words.push_back(fmt::format("{} {}", i, excerpt(classes[i], 60)));
  if (classes.size() > most) words.push_back(fmt::format("... ({} in all)", classes.size()));
  auto remark = classes.empty() ? "" : "classes: " + join(words);
  if (others > 0)
    remark += fmt::format("{}{} that are no images by their names are left out", remark.empty() ? "" : "; ",
                          counted(static_cast<std::int64_t>(others), "file"));
  return remark;
}

/// Opens some of the images, so that what is wrong with all of them is found before a run starts. Returns the size of the
/// first.
ImageSize look_at_some(const ImageFiles& files, const ImageDecoder& decoder, std::optional<ImageSize> known, bool skips) {
  EncodedBuffer buffer;
  for (const auto number : spread(files.size(), most_opened)) try {
      const auto what = files.what(number);
      const auto size = decoder.size_of(files.read(number, decoder.most_bytes(), buffer), what);
      if (!known) known = size;
      if (!decoder.resizes() && size != *known)
        throw UsageError(
            fmt::format("{} is an image of {} x {} pixels, and another has {} x {} (height x width): size = {}x{} makes "
                        "them alike",
                        what, size.height, size.width, known->height, known->width, known->height, known->width));
      if (decoder.resizes()) return size;
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      if (!skips) throw;
      log::run_warning(fmt::format("an image cannot be read: {}", error.what()));
    }
  if (!known) throw UsageError("none of the images that were looked at can be read");
  return *known;
}

/// About the bytes of all files; and what was looked at for it, as a text.
std::uint64_t weigh(const ImageFiles& files, std::string& seen) {
  std::uint64_t bytes = 0;
  const auto numbers = spread(files.size(), most_weighed);
  for (const auto number : numbers) {
    struct stat info {};
    const bool is_there = ::stat(files.path(number).c_str(), &info) == 0;
    const auto size = is_there ? static_cast<std::uint64_t>(info.st_size) : 0;
    bytes += size;
    seen += fmt::format("{},", size);
  }
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / static_cast<double>(numbers.size()) *
                                    static_cast<double>(files.size()));
}

ImageFiles files_of_images(ImageList list, bool has_label, const ImageClasses& classes) {
  ImageFiles files(std::move(list.base));
  for (std::size_t i = 0; i < list.paths.size(); ++i) {
    std::int64_t label = 0;
    if (has_label) label = classes.empty() ? parse_integer(list.labels[i]).value_or(0) : classes.at(list.labels[i]);
    files.add(list.paths[i], label);
  }
  return files;
}

std::vector<Dataset::Field> fields_of_images(const ImageDecoder& decoder, ImageSize size, bool has_label, bool has_path) {
  std::vector<Dataset::Field> fields{decoder.field("image", size)};
  if (has_label) fields.push_back({"label", DType::i64, {}});
  if (has_path) fields.push_back({"path", DType::u8, {}, true});
  return fields;
}

}  // namespace

std::vector<ListedFile> gather_images(std::span<const std::string> words, const Options& options) {
  const ImageDecoder decoder(options);
  std::vector<ImageList> lists;
  std::uint64_t others = 0;
  for (const auto& word : words) others += lists.emplace_back(list_images(word)).others;
  const bool has_label = has_labels(lists, options.text("labels"));
  std::vector<std::string> names;
  if (has_label && !are_numbers(lists)) names = class_names(lists, options);
  ImageClasses classes;
  for (const auto& name : names) classes.emplace(name, std::ssize(classes));
  std::optional<ImageSize> size;
  std::vector<ListedFile> units;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto files = files_of_images(std::move(lists[i]), has_label, classes);
    if (decoder.decodes()) size = look_at_some(files, decoder, size, skips_errors(options));
    auto& [file, content] = units.emplace_back();
    std::string seen;
    file.path = words[i];
    file.size = weigh(files, seen);
    content.samples = files.size();
    content.fields = fields_of_images(decoder, size.value_or(ImageSize{}), has_label, options.boolean("paths"));
    content.index = files.packed();
    content.remark = remark_on(names, others);
    content.classes = names;
    file.head = io::digest_of(content.index + seen);
  }
  return units;
}

std::function<std::string(std::uint64_t sample)> paths_of_images(const FileContent& content) {
  return [files = std::make_shared<const ImageFiles>(ImageFiles::unpacked(content.index))](std::uint64_t sample) {
    return files->path(sample);
  };
}

std::unique_ptr<Source> open_images(const DataFile&, const FileContent& content, const Options& options) {
  return std::make_unique<ImageSource>(ImageFiles::unpacked(content.index), content.fields, ImageDecoder(options));
}

}  // namespace trainrt::data
