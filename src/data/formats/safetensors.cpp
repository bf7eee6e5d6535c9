#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/arrays/safetensors_header.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

namespace {

/// The tensors that are read, each with its field, in the order of the fields.
class SafeTensors {
 public:
  SafeTensors(const InputFile& file, const Options& options)
      : what_("safetensors file " + file.path()), all_(safetensors_of(file)) {
    const auto chosen = words_in(options.text("fields"));
    for (const auto& word : chosen) {
      const auto equals = word.find('=');
      add(trim(word.substr(0, equals)), named(equals == std::string::npos ? word : trim(word.substr(equals + 1))));
    }
    if (chosen.empty())
      for (const auto& tensor : all_) add(tensor.name, tensor);
    if (fields_.empty()) throw UsageError(what_ + ": holds no tensors");
  }

  const std::vector<std::pair<Dataset::Field, SafeTensor>>& fields() const { return fields_; }
  std::uint64_t samples() const { return static_cast<std::uint64_t>(fields_.front().second.shape.front()); }

 private:
  const SafeTensor& named(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& tensor : all_) {
      if (tensor.name == name) return tensor;
      if (names.size() < 20) names.push_back(printable_lines(excerpt(tensor.name, 40) + "\n").front());
    }
    throw UsageError(
        fmt::format("{}: has no tensor '{}', which the key fields names; there are: {}", what_, name, join(names)));
  }

  void add(const std::string& name, const SafeTensor& tensor) {
    if (name.empty() || !is_utf8(name)) throw UsageError(what_ + ": the name of a tensor is empty, or no UTF-8");
    if (std::ranges::any_of(fields_, [&](const auto& other) { return other.first.name == name; }))
      throw UsageError(fmt::format("{}: makes the field '{}' twice", what_, excerpt(name, 100)));
    if (tensor.shape.empty())
      throw UsageError(
          fmt::format("{}: the tensor '{}' is a single value: it has no axis of samples; the key fields chooses others",
                      what_, excerpt(name, 100)));
    const Dataset::Field field{name, dtype_of(tensor, what_), {tensor.shape.begin() + 1, tensor.shape.end()}};
    if (!fields_.empty() && tensor.shape.front() != fields_.front().second.shape.front())
      throw UsageError(
          fmt::format("{}: '{}' holds {} samples, and '{}' holds {}: the key fields chooses those that belong together",
                      what_, excerpt(fields_.front().first.name, 100), fields_.front().second.shape.front(),
                      excerpt(name, 100), tensor.shape.front()));
    fields_.emplace_back(field, tensor);
  }

  std::string what_;
  std::vector<SafeTensor> all_;
  std::vector<std::pair<Dataset::Field, SafeTensor>> fields_;
};

FileContent probe_safetensors(const DataFile& file, const Options& options) {
  const SafeTensors tensors(InputFile(file), options);
  FileContent content{tensors.samples(), {}, {}};
  for (const auto& [field, tensor] : tensors.fields()) content.fields.push_back(field);
  return content;
}

std::unique_ptr<Source> open_safetensors(const DataFile& file, const FileContent& content, const Options& options,
                                         bool keep) {
  auto input = std::make_shared<const InputFile>(file);
  const SafeTensors tensors(*input, options);
  if (tensors.samples() != content.samples || tensors.fields().size() != content.fields.size())
    throw Error("safetensors file " + file.path + ": was changed since it was first looked at");
  auto source = std::make_unique<RowSource>(content.samples);
  for (const auto& [field, tensor] : tensors.fields())
    source->add(field, RowFile(input, RowLayout{tensor.begin, content.samples, sample_bytes(field), 1}, keep));
  return source;
}

bool is_safetensors_name(std::string_view path) { return path.ends_with(".safetensors"); }

}  // namespace

namespace plugins {

extern const Format safetensors{
    .name = "safetensors",
    .help = "safetensors files: one field per tensor, whose first axis counts the samples",
    .options = {{.key = "fields",
                 .default_value = "",
                 .help =
                     "the tensors that are read, by default all: x, y; or images=x, labels=y to give them other names"}},
    .probe = probe_safetensors,
    .open = open_safetensors,
    .is_name_of = is_safetensors_name};

}  // namespace plugins

}  // namespace trainrt::data
