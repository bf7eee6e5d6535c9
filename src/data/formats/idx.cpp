#include <cctype>
#include <utility>

#include <trainrt/error.hpp>

#include "data/format.hpp"
#include "data/idx_file.hpp"
#include "data/row_file.hpp"

namespace trainrt::data {

namespace {

/// Images and labels: each plain, then its rows are read at their places, or compressed, then it is unpacked into memory.
class IdxSource final : public Source {
 public:
  void add(std::string name, const DataFile& file, bool keep) {
    const auto header = check_idx(file.path);
    fields_.push_back({std::move(name), header.dtype, header.sample_shape()});
    size_ = static_cast<std::uint64_t>(header.shape.front());
    auto& rows = rows_.emplace_back();
    if (header.is_compressed)
      rows.unpacked = read_idx(file.path).values;
    else
      rows.in_file = std::make_unique<RowFile>(
          std::make_shared<InputFile>(file),
          RowPlace{header.header_bytes, size_, sample_bytes(fields_.back()), size_of(header.dtype)}, keep);
  }

  std::uint64_t size() const override { return size_; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    for (auto& column : columns) {
      const auto bytes = sample_bytes(fields_[column.field]);
      column.values.resize(samples.size() * bytes);
      const auto& rows = rows_[column.field];
      if (rows.in_file)
        rows.in_file->read(samples, column.values.data());
      else
        copy_rows(rows.unpacked, bytes, samples, column.values.data());
    }
  }

  bool is_resident() const override {
    for (const auto& rows : rows_)
      if (rows.in_file && !rows.in_file->is_resident()) return false;
    return true;
  }

 private:
  struct Rows {
    std::unique_ptr<RowFile> in_file;
    std::vector<std::byte> unpacked;
  };
  std::vector<Dataset::Field> fields_;
  std::vector<Rows> rows_;
  std::uint64_t size_ = 0;
};

bool has_labels(const DataFile& file) { return !file.companions.empty() && !file.companions.front().path.empty(); }

Dataset::Field field_of(std::string name, const IdxHeader& header) {
  return {std::move(name), header.dtype, header.sample_shape()};
}

FileContent look_at_idx(const DataFile& file, const Options&) {
  const auto images = check_idx(file.path);
  if (images.shape.front() == 0) throw UsageError("IDX file " + file.path + ": holds no samples");
  FileContent content{static_cast<std::uint64_t>(images.shape.front()), {field_of("images", images)}, {}};
  if (!has_labels(file)) return content;
  const auto& companion = file.companions.front();
  const auto labels = check_idx(companion.path);
  if (images.shape.front() != labels.shape.front())
    throw UsageError("IDX files do not belong together: " + file.path + " holds " + std::to_string(images.shape.front()) +
                     " samples, " + companion.path + " holds " + std::to_string(labels.shape.front()) + " labels");
  content.fields.push_back(field_of("labels", labels));
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

std::unique_ptr<Source> open_idx(const DataFile& file, const FileContent&, const Options&, bool keep) {
  auto source = std::make_unique<IdxSource>();
  source->add("images", file, keep);
  if (has_labels(file)) source->add("labels", file.companions.front(), keep);
  return source;
}

}  // namespace

namespace plugins {

extern const Format idx{
    .name = "idx",
    .help = "IDX files, as of MNIST and FashionMNIST, plain or gzip: fields images and, with labels, labels",
    .options = {{.key = "labels", .default_value = "", .help = "IDX file with the labels, or as many as source names"}},
    .look = look_at_idx,
    .open = open_idx,
    .is_name_of = is_idx_name,
    .companions = {"labels"}};

}  // namespace plugins

}  // namespace trainrt::data
