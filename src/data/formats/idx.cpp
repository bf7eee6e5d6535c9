#include <cctype>
#include <cstring>
#include <utility>

#include <trainrt/error.hpp>

#include "data/idx_file.hpp"
#include "data/source.hpp"

namespace trainrt::data {

namespace {

class IdxSource final : public Source {
 public:
  explicit IdxSource(std::vector<std::pair<std::string, IdxData>>&& files) {
    for (auto& [name, data] : files) {
      fields_.push_back({name, data.header.dtype, data.header.sample_shape()});
      files_.push_back(std::move(data));
    }
  }

  std::uint64_t size() const override { return static_cast<std::uint64_t>(files_.front().header.shape.front()); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }

  void gather(std::size_t field, std::span<const std::uint64_t> indices, std::byte* out) const override {
    const auto bytes = static_cast<std::size_t>(element_count(fields_[field].sample_shape)) * size_of(fields_[field].dtype);
    if (bytes == 0) return;  // an axis without extent: there is no memory on either side
    const auto& values = files_[field].values;
    for (const auto sample : indices) {
      std::memcpy(out, values.data() + sample * bytes, bytes);
      out += bytes;
    }
  }

 private:
  std::vector<IdxData> files_;
  std::vector<Dataset::Field> fields_;
};

void check_counts(const Options& options, const IdxHeader& images, const IdxHeader& labels) {
  if (images.shape.front() != labels.shape.front())
    throw UsageError("IDX files do not belong together: " + options.text("source") + " holds " +
                     std::to_string(images.shape.front()) + " samples, " + options.text("labels") + " holds " +
                     std::to_string(labels.shape.front()) + " labels");
}

void check_idx_options(const Options& options) {
  const auto images = check_idx(options.text("source"));
  if (images.shape.front() == 0) throw UsageError("IDX file " + options.text("source") + ": holds no samples");
  if (options.has("labels")) check_counts(options, images, check_idx(options.text("labels")));
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

std::unique_ptr<Source> open_idx(const Options& options) {
  check_idx_options(options);
  std::vector<std::pair<std::string, IdxData>> files;
  files.emplace_back("images", read_idx(options.text("source")));
  if (options.has("labels")) {
    files.emplace_back("labels", read_idx(options.text("labels")));
    check_counts(options, files[0].second.header, files[1].second.header);
  }
  return std::make_unique<IdxSource>(std::move(files));
}

}  // namespace

namespace plugins {

extern const Format idx{
    .name = "idx",
    .help = "IDX files, as of MNIST and FashionMNIST, plain or gzip: fields images and, with labels, labels",
    .options = {{.key = "source", .default_value = "", .help = "IDX file with the images", .required = true},
                {.key = "labels", .default_value = "", .help = "IDX file with the labels"}},
    .check = check_idx_options,
    .open = open_idx,
    .is_name_of = is_idx_name};

}  // namespace plugins

}  // namespace trainrt::data
