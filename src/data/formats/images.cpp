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
#include "data/bytes/stage_clock.hpp"
#include "data/images/image_decoder.hpp"
#include "data/images/image_files.hpp"
#include "data/source/format.hpp"
#include "data/source/skipping_reader.hpp"
#include "io/files/digest.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data::plugins {

namespace {

// Limits of the checks before a run, for each item of `source`: maximum number of files whose sizes are read, and maximum
// number of images that are opened with sizes = equal (max_opened_files) and with sizes = any (max_compared_files).
constexpr std::size_t max_sized_files = 1000, max_opened_files = 16, max_compared_files = 100;

/// Returns up to `max` of the numbers 0 to `count` - 1, evenly distributed.
std::vector<std::size_t> evenly_chosen(std::size_t count, std::size_t max) {
  std::vector<std::size_t> numbers;
  const auto chosen = std::min(count, max);
  for (std::size_t i = 0; i < chosen; ++i) numbers.push_back(i * count / chosen);
  return numbers;
}

/// Returns whether the dataset has the field `label`. Throws UsageError if only some of the images have labels.
bool has_labels(const std::vector<ImageList>& lists, const std::string& key) {
  if (key == "none") return false;
  const auto unlabeled = std::ranges::find_if(lists, [](const auto& list) { return list.labels.empty(); });
  if (unlabeled == lists.end()) return true;
  if (key == "auto" && std::ranges::all_of(lists, [](const auto& list) { return list.labels.empty(); })) return false;
  throw UsageError(
      fmt::format("labels: image '{}' is not in the folder of a class, so it has no label. "
                  "To read images without labels, set labels = none",
                  unlabeled->paths.front()));
}

bool is_number(const std::string& name) { return parse_integer(name).has_value(); }

/// Returns whether all labels are integers in list files. Such labels are used unchanged.
bool are_numbers(const std::vector<ImageList>& lists) {
  return std::ranges::all_of(
      lists, [](const auto& list) { return list.is_list_file && std::ranges::all_of(list.labels, is_number); });
}

/// Logs one warning if all class names are numbers, but the label of a class differs from its name. This happens because
/// the names are sorted as texts, so that "10" precedes "2".
void warn_of_text_order(const std::set<std::string>& names) {
  if (!std::ranges::all_of(names, is_number)) return;
  std::int64_t label = 0;
  for (const auto& name : names)
    if (const auto number = label++; parse_integer(name) != number)
      return warning_once(
          fmt::format("classes are sorted by their names as texts, so class '{}' has the label {}. "
                      "Set classes = NAME, ... for another order",
                      name, number));
}

/// Returns the names of the classes in the order of their labels: the names in the key `classes`, or the sorted names in
/// `lists` if the key is not set. Throws UsageError if the key lacks a class of `lists`.
std::vector<std::string> class_names(const std::vector<ImageList>& lists, const Options& options) {
  std::set<std::string> found;
  for (const auto& list : lists) found.insert(list.labels.begin(), list.labels.end());
  auto names = words_in(options.text("classes"));
  if (names.empty()) {
    warn_of_text_order(found);
    return {found.begin(), found.end()};
  }
  const std::set<std::string> known(names.begin(), names.end());
  if (known.size() < names.size()) throw UsageError("classes: a name occurs twice; each class needs its own name");
  const auto& origin = options.find("classes")->origin;  // such as "classes of [data.train]" or "train.ini, line 7"
  for (const auto& name : found)
    if (!known.contains(name))
      throw UsageError(fmt::format(
          "label '{}' is not among the {}", excerpt(name, 60),
          origin.starts_with("classes")
              ? fmt::format("{}: {}", origin, excerpt(join(names), 200))
              : fmt::format("classes '{}', which the key 'classes' lists ({})", excerpt(join(names), 200), origin)));
  return names;
}

/// Returns the text that `trainrt check` prints about the classes and about files that are not images.
std::string remark_on(const std::vector<std::string>& classes, std::uint64_t other_file_count) {
  constexpr std::size_t max_classes = 20;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(classes.size(), max_classes); ++i)
    words.push_back(fmt::format("{} {}", i, excerpt(classes[i], 60)));
  if (classes.size() > max_classes) words.push_back(fmt::format("... ({} in all)", classes.size()));
  auto remark = classes.empty() ? "" : "classes: " + join(words);
  if (other_file_count > 0)
    remark += fmt::format("{}{} ignored, because the name is not that of an image", remark.empty() ? "" : "; ",
                          counted(static_cast<std::int64_t>(other_file_count), "file"));
  return remark;
}

/// Reads the headers of some images of a list, to find common problems before a run starts. Adds the sizes of the images to
/// `probed`, which already has the sizes of images in other lists. With on_error = skip, an image that cannot be read
/// causes only a warning.
void probe_sizes(const ImageFiles& files, const ImageDecoder& decoder, const Options& options, ProbedSizes& probed) {
  std::vector<std::byte> buffer;
  const bool accepts_any = options.text("sizes") == "any" && !decoder.resizes(), skips = skips_errors(options);
  for (const auto number : evenly_chosen(files.size(), accepts_any ? max_compared_files : max_opened_files)) try {
      const auto what = files.what(number);
      const auto size = decoder.size_of(files.read(number, decoder.max_file_bytes(), buffer), what);
      if (skips && !accepts_any) decoder.require_size(what, size, probed.first().value_or(size));
      probed.add(what, size);
      if (decoder.resizes() || (accepts_any && probed.differ())) return;
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error& error) {
      if (!skips) throw;
      log::run_warning(fmt::format("cannot read an image: {}", error.what()));
    }
  if (!accepts_any && !skips) probed.require_equal();
  if (!probed.first())
    throw UsageError(fmt::format("cannot read any of the images that were checked, such as {}", files.what(0)));
}

/// Returns an estimate of the total size of all files in bytes, from the sizes of some files. Appends these sizes to
/// `sizes`.
std::uint64_t estimate_bytes(const ImageFiles& files, std::string& sizes) {
  std::uint64_t bytes = 0;
  const auto numbers = evenly_chosen(files.size(), max_sized_files);
  for (const auto number : numbers) {
    struct stat info {};
    const bool exists = ::stat(files.path(number).c_str(), &info) == 0;
    const auto size = exists ? static_cast<std::uint64_t>(info.st_size) : 0;
    bytes += size;
    sizes += fmt::format("{},", size);
  }
  return static_cast<std::uint64_t>(static_cast<double>(bytes) / static_cast<double>(numbers.size()) *
                                    static_cast<double>(files.size()));
}

/// Returns the files of a list with their labels. `labels` maps the class of a file to its label. If `labels` is empty, the
/// label is the number in the list file.
ImageFiles image_files(const ImageList& list, bool has_label, const std::map<std::string, std::int64_t>& labels) {
  ImageFiles files(list.base);
  for (std::size_t i = 0; i < list.paths.size(); ++i) {
    std::int64_t label = 0;
    if (has_label) label = labels.empty() ? parse_integer(list.labels[i]).value_or(0) : labels.at(list.labels[i]);
    files.add(list.paths[i], label);
  }
  return files;
}

/// See Format::gather.
std::vector<ListedFile> gather_images(std::span<const std::string> words, const Options& options) {
  const ImageDecoder decoder(options);
  std::vector<ImageList> lists;
  std::uint64_t other_file_count = 0;
  for (const auto& word : words) other_file_count += lists.emplace_back(list_images(word)).other_file_count;
  const bool has_label = has_labels(lists, options.text("labels"));
  std::vector<std::string> classes;
  if (has_label && !are_numbers(lists)) classes = class_names(lists, options);
  std::map<std::string, std::int64_t> labels;
  for (const auto& name : classes) labels.emplace(name, std::ssize(labels));
  ProbedSizes probed;
  std::vector<ListedFile> units;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto files = image_files(lists[i], has_label, labels);
    if (decoder.decodes()) probe_sizes(files, decoder, options, probed);
    auto& [file, content] = units.emplace_back();
    std::string sizes;
    file.path = words[i];
    file.size = estimate_bytes(files, sizes);
    content.samples = files.size();
    content.fields = {decoder.field("image", probed.first().value_or(ImageSize{}))};
    if (has_label) content.fields.push_back({"label", DType::i64, {}});
    if (options.boolean("paths")) content.fields.push_back({"path", DType::u8, {}, true});
    content.index = files.packed();
    content.remark = remark_on(classes, other_file_count);
    content.classes = classes;
    file.head = io::digest_of(content.index + sizes);
  }
  for (auto& [file, content] : units)
    if (probed.differ() && !decoder.resizes()) content.fields.front() = decoder.field_of_any_size("image");
  return units;
}

/// See Format::paths_of.
std::function<std::string(std::uint64_t sample)> paths_of_images(const FileContent& content) {
  return [files = std::make_shared<const ImageFiles>(ImageFiles::unpacked(content.index))](std::uint64_t sample) {
    return files->path(sample);
  };
}

/// A source with one sample per image file: field `image`, and optionally `label` and `path`.
class ImageSource final : public Source {
 public:
  ImageSource(const FileContent& content, const Options& options)
      : files_(ImageFiles::unpacked(content.index)), fields_(content.fields), decoder_(options) {}
  std::uint64_t size() const override { return files_.size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    for (auto& column : columns) {
      const auto& field = fields_[column.field];
      const auto bytes = field.varies ? 0 : sample_bytes(field);
      column.ends.clear();
      column.values.resize(samples.size() * bytes);
      if (field.name == "image") read_images(samples, column);
      for (std::size_t i = 0; field.name == "path" && i < samples.size(); ++i) {
        const auto path = files_.path(samples[i]);
        column.append(std::as_bytes(std::span(path)));
      }
      for (std::size_t i = 0; field.name == "label" && i < samples.size(); ++i) {
        const auto label = files_.label(samples[i]);
        std::memcpy(column.values.data() + i * bytes, &label, sizeof label);
      }
    }
  }

 private:
  void read_images(std::span<const std::uint64_t> samples, Column& column) const {
    const InStage decoding(Stage::decode);
    const auto& field = fields_[column.field];
    std::vector<std::byte> buffer;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto image = files_.read(samples[i], decoder_.max_file_bytes(), buffer);
      if (field.varies && decoder_.decodes())
        column.append(decoder_.decode_of_any_size(image, files_.what(samples[i])));
      else if (field.varies)
        column.append(image);
      else
        decoder_.decode(image, files_.what(samples[i]), field, column.values.data() + i * sample_bytes(field));
    }
  }

  ImageFiles files_;
  std::vector<Dataset::Field> fields_;
  ImageDecoder decoder_;
};

std::unique_ptr<Source> open_images(const DataFile&, const FileContent& content, const Options& options, bool) {
  return std::make_unique<ImageSource>(content, options);
}

std::vector<OptionSpec> images_options() {
  auto options = image_options();
  options.push_back({.key = "labels",
                     .default_value = "auto",
                     .help = "source of the field `label`: "
                             "folders (the number of the class, which is the image's folder or the label in a list file), "
                             "`none` (no field `label`), or "
                             "auto (folders if all images have a class, `none` if no image has a class)",
                     .choices = {"auto", "folders", "none"}});
  options.push_back({.key = "classes",
                     .default_value = "",
                     .help =
                         "names of the classes, in the order of their labels (the first has label 0); default: in "
                         "[data.train], the sorted names of the folders; in other sections, the classes of [data.train]",
                     .form = "CLASS, ..."});
  options.push_back({.key = "sizes",
                     .default_value = "equal",
                     .help = "whether sizes of images may differ if `size` is not set: "
                             "equal (an image of another size is an error), or "
                             "any (images of different sizes, which only Python programs can use)",
                     .choices = {"equal", "any"}});
  options.push_back({.key = "paths",
                     .type = OptionType::boolean,
                     .default_value = "false",
                     .help = "whether samples have the field `path`, the path of the image file as text"});
  return options;
}

}  // namespace

extern const Format images{.name = "images",
                           .help =
                               "JPEG, PNG and WebP images, one per file, in one folder per class or named by a list file: "
                               "fields image, label and path",
                           .options = images_options(),
                           .open = open_images,
                           .gather = gather_images,
                           .paths_of = paths_of_images,
                           .is_name_of = is_image_name,
                           .checksums = "PNG: CRC-32; JPEG and WebP have no checksum"};

}  // namespace trainrt::data::plugins
