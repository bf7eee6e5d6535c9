#include <cctype>
#include <utility>

#include <trainrt/error.hpp>

#include "data/arrays/idx_file.hpp"
#include "data/bytes/expansion.hpp"
#include "data/bytes/local_copy.hpp"
#include "data/bytes/object_reader.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

namespace {

/// What `call` makes of the path of a file of this machine that holds what matters of `file`; errors name the file itself.
template <class Call>
auto by_path(const DataFile& file, const Call& call) {
  if (!is_object(file.path)) return call(file.path);
  const LocalCopy copy(file);
  try {
    return call(copy.path());
  } catch (const UsageError& error) {
    std::string text = error.what();
    if (const auto at = text.find(copy.path()); at != std::string::npos) text.replace(at, copy.path().size(), file.path);
    throw UsageError(text);
  }
}

IdxHeader header_of(const DataFile& file, const Options& options) {
  const ExpansionLimit limit(options, file.size);
  return by_path(file, [&](const std::string& path) { return check_idx(path, limit); });
}

std::vector<std::byte> values_of(const DataFile& file, const Options& options) {
  const ExpansionLimit limit(options, file.size);
  return by_path(file, [&](const std::string& path) { return std::move(read_idx(path, limit).values); });
}

/// Plain, then its rows are read at their places, or compressed, then it is unpacked into memory.
void add_idx(RowSource& source, std::string name, const DataFile& file, const Options& options, bool keep) {
  const auto header = header_of(file, options);
  Dataset::Field field{std::move(name), header.dtype, header.sample_shape()};
  if (header.is_compressed) return source.add(std::move(field), values_of(file, options));
  const RowLayout place{header.header_bytes, source.size(), sample_bytes(field), size_of(header.dtype)};
  source.add(std::move(field), RowFile(std::make_shared<InputFile>(file), place, keep));
}

bool has_labels(const DataFile& file) { return !file.companions.empty() && !file.companions.front().path.empty(); }

Dataset::Field field_of(std::string name, const IdxHeader& header) {
  return {std::move(name), header.dtype, header.sample_shape()};
}

FileContent probe_idx(const DataFile& file, const Options& options) {
  const auto images = header_of(file, options);
  if (images.shape.front() == 0) throw UsageError("IDX file " + file.path + ": holds no samples");
  FileContent content{static_cast<std::uint64_t>(images.shape.front()), {field_of("images", images)}, {}};
  if (images.is_compressed) content.reading = Reading::as_a_whole;
  if (!has_labels(file)) return content;
  const auto& companion = file.companions.front();
  const auto labels = header_of(companion, options);
  if (images.shape.front() != labels.shape.front())
    throw UsageError("IDX files do not belong together: " + file.path + " holds " + std::to_string(images.shape.front()) +
                     " samples, " + companion.path + " holds " + std::to_string(labels.shape.front()) + " labels");
  content.fields.push_back(field_of("labels", labels));
  if (labels.is_compressed) content.reading = Reading::as_a_whole;
  return content;
}

/// "train-images-idx3-ubyte", "x.idx1-ubyte.gz": the names of LeCun's files.
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

namespace plugins {

extern const Format idx{
    .name = "idx",
    .help = "IDX files, such as MNIST's, plain or gzip: field images, and labels if the key labels names a file",
    .options = {{.key = "labels",
                 .type = OptionType::path,
                 .default_value = "",
                 .help = "IDX file with the labels, or as many as source names"}},
    .probe = probe_idx,
    .open = open_idx,
    .is_name_of = is_idx_name,
    .companions = {"labels"},
    .checksums = "of gzip files: CRC-32"};

}  // namespace plugins

}  // namespace trainrt::data
