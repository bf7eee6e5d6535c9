#include <algorithm>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/verify.hpp"
#include "data/hdf5/h5_probe.hpp"
#include "data/hdf5/h5_rows.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

namespace {

/// Returns the index in `content`, adapted for this rank. Other files to which the HDF5 file refers get the same read
/// method as the HDF5 file. With `verify` = off, Fletcher-32 checksums are not verified.
H5Index index_of(const DataFile& file, const FileContent& content, Verify verify) {
  auto index = h5_index_of(content.index);
  for (auto& part : index.files) part.read_method = file.read_method;
  if (verify == Verify::off)
    for (auto& table : index.tables)
      std::ranges::replace(table.filters, ChunkFilter::fletcher32, ChunkFilter::ignored_fletcher32);
  return index;
}

class Hdf5Source final : public Source {
 public:
  Hdf5Source(const H5Index& index, const FileContent& content, std::uint64_t cache_bytes, bool keep)
      : size_(content.samples), fields_(content.fields), rows_(open_h5_rows(index, content.fields, cache_bytes, keep)) {}

  std::uint64_t size() const override { return size_; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    for (auto& column : columns) {
      column.values.resize(samples.size() * sample_bytes(fields_[column.field]));
      column.ends.clear();
      rows_[column.field]->read(samples, column.values.data());
    }
  }

  bool is_resident() const override {
    return std::ranges::all_of(rows_, [](const auto& rows) { return rows->is_resident(); });
  }

 private:
  std::uint64_t size_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::unique_ptr<Rows>> rows_;
};

FileContent probe_hdf5(const DataFile& file, const Options& options) {
  return probe_h5(file, options.text("group"), words_in(options.text("fields")), options);
}

/// Returns whether the values take at most 4 times the size of the file. Values of a compressed file, or of a file that
/// refers to other files, may take much more.
bool is_about_its_size(const DataFile& file, const FileContent& content) {
  constexpr std::uint64_t max_factor = 4;
  std::uint64_t row_bytes = 0;
  for (const auto& field : content.fields) row_bytes += sample_bytes(field);
  return row_bytes * content.samples / max_factor <= file.size;
}

std::unique_ptr<Source> open_hdf5(const DataFile& file, const FileContent& content, const Options& options, bool keep) {
  return std::make_unique<Hdf5Source>(index_of(file, content, verify_of(options)), content, options.bytes("chunk_cache"),
                                      keep && is_about_its_size(file, content));
}

bool is_hdf5_name(std::string_view name) {
  return name.ends_with(".h5") || name.ends_with(".hdf5") || name.ends_with(".he5");
}

}  // namespace

namespace plugins {

extern const Format hdf5{.name = "hdf5",
                         .help =
                             "HDF5 files: each dataset is a field, and its first axis counts the samples; "
                             "contiguous, chunked (also with gzip) and virtual datasets",
                         .options = {{.key = "group",
                                      .default_value = "",
                                      .help = "group that contains the datasets; by default the root group"},
                                     {.key = "fields",
                                      .default_value = "",
                                      .help = "datasets to read, separated by commas, as paths below the group; "
                                              "by default all datasets of numbers"},
                                     {.key = "chunk_cache",
                                      .type = OptionType::bytes,
                                      .default_value = "128 MiB",
                                      .help = "memory for decompressed chunks of all HDF5 files of a rank"}},
                         .probe = probe_hdf5,
                         .open = open_hdf5,
                         .is_name_of = is_hdf5_name,
                         .read_cache = "chunk_cache",
                         .checksums = "Fletcher-32 or gzip's checksum per chunk, if the file was written with one"};

}  // namespace plugins

}  // namespace trainrt::data
