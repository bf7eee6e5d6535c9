#include <cctype>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/arrays/idx_file.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data::plugins {

namespace {

IdxHeader header_of(const DataFile& file, const Options& options) {
  return check_idx(InputFile(file), ExpansionLimit(options, file.size));
}

Dataset::Field field_of(std::string name, const IdxHeader& header) {
  return {std::move(name), header.dtype, header.sample_shape()};
}

/// Adds the field `name` with the values of `file` to the source. A gzip file is decompressed into memory. With `keep`, a
/// plain file is read into memory, too; otherwise its rows are read when they are needed.
void add_idx(RowSource& source, std::string name, const DataFile& file, const Options& options, bool keep) {
  auto input = std::make_shared<const InputFile>(file);
  const ExpansionLimit limit(options, file.size);
  const auto header = check_idx(*input, limit);
  auto field = field_of(std::move(name), header);
  if (header.is_compressed) return source.add(std::move(field), read_idx(*input, limit).values);
  const RowLayout place{header.header_bytes, source.size(), sample_bytes(field), size_of(header.dtype)};
  source.add(std::move(field), rows_in_file(std::move(input), place, keep));
}

bool has_labels(const DataFile& file) { return !file.companions.empty() && !file.companions.front().path.empty(); }

FileContent probe_idx(const DataFile& file, const Options& options) {
  const auto images = header_of(file, options);
  if (images.shape.front() == 0) throw UsageError("IDX file " + file.path + ": the file contains no samples");
  FileContent content{static_cast<std::uint64_t>(images.shape.front()), {field_of("images", images)}, {}};
  if (images.is_compressed) content.reading = Reading::as_a_whole;
  if (!has_labels(file)) return content;
  const auto& companion = file.companions.front();
  const auto labels = header_of(companion, options);
  if (images.shape.front() != labels.shape.front())
    throw UsageError(fmt::format("IDX files do not belong together: {} has {} samples, but {} has {} labels", file.path,
                                 images.shape.front(), companion.path, labels.shape.front()));
  content.fields.push_back(field_of("labels", labels));
  if (labels.is_compressed) content.reading = Reading::as_a_whole;
  return content;
}

/// Returns whether `name` has the form of the names of the MNIST files: "train-images-idx3-ubyte", "x.idx1-ubyte.gz".
bool is_idx_name(std::string_view name) {
  for (const std::string_view ending : {".gz", "-ubyte"}) {
    if (name.ends_with(ending))
      name.remove_suffix(ending.size());
    else if (ending == "-ubyte")
      return false;
  }
  if (name.empty() || !std::isdigit(static_cast<unsigned char>(name.back()))) return false;
  while (!name.empty() && std::isdigit(static_cast<unsigned char>(name.back()))) name.remove_suffix(1);
  return name.ends_with("idx");
}

std::unique_ptr<Source> open_idx(const DataFile& file, const FileContent& content, const Options& options, bool keep) {
  auto source = std::make_unique<RowSource>(content.samples);
  add_idx(*source, "images", file, options, keep);
  if (has_labels(file)) add_idx(*source, "labels", file.companions.front(), options, keep);
  return source;
}

}  // namespace

extern const Format idx{
    .name = "idx",
    .help =
        "IDX files, plain or gzip, such as those of MNIST and FashionMNIST. "
        "Fields: images, and labels if the key 'labels' is given",
    .options = {{.key = "labels",
                 .type = OptionType::path,
                 .default_value = "",
                 .help = "IDX file with the labels; "
                         "if source names several files, the same number of label files, in the same order"}},
    .probe = probe_idx,
    .open = open_idx,
    .is_name_of = is_idx_name,
    .companions = {"labels"},
    .checksums = "CRC-32 of gzip files"};

}  // namespace trainrt::data::plugins
