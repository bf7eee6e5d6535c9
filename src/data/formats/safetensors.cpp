#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/arrays/field_choice.hpp"
#include "data/arrays/safetensors_header.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data {

namespace {

/// The tensors of a file that the key `fields` chooses, each with its field, in the order of the fields.
class SafeTensors {
 public:
  SafeTensors(const InputFile& file, const Options& options)
      : what_("safetensors file " + file.path()), all_(safetensors_of(file)) {
    const auto choices = field_choices(options.text("fields"));
    for (const auto& [field, name] : choices) add(field, tensor_named(name));
    if (choices.empty())
      for (const auto& tensor : all_) add(tensor.name, tensor);
    if (fields_.empty()) throw UsageError(what_ + ": the file contains no tensors");
  }

  const std::vector<std::pair<Dataset::Field, SafeTensor>>& fields() const { return fields_; }
  std::uint64_t samples() const { return static_cast<std::uint64_t>(fields_.front().second.shape.front()); }

 private:
  const SafeTensor& tensor_named(const std::string& name) const {
    const auto found = std::ranges::find(all_, name, &SafeTensor::name);
    if (found != all_.end()) return *found;
    std::vector<std::string_view> names;
    for (const auto& tensor : all_) names.push_back(tensor.name);
    throw UsageError(
        fmt::format("{} has no tensor '{}', which the key 'fields' names; it has: {}", what_, name, names_in_words(names)));
  }

  void add(const std::string& name, const SafeTensor& tensor) {
    const auto in_words = excerpt(name, 100);
    if (name.empty() || !is_utf8(name)) throw UsageError(what_ + ": the name of a tensor is empty or not UTF-8");
    if (std::ranges::any_of(fields_, [&](const auto& other) { return other.first.name == name; }))
      throw UsageError(fmt::format("{}: two tensors make the field '{}'", what_, in_words));
    if (tensor.shape.empty())
      throw UsageError(
          fmt::format("{}: the tensor '{}' is a single value, so it has no axis of samples; to leave it out, set fields",
                      what_, in_words));
    if (!fields_.empty() && static_cast<std::uint64_t>(tensor.shape.front()) != samples())
      throw UsageError(
          fmt::format("{}: '{}' has {} samples, but '{}' has {}; "
                      "use the key 'fields' to choose tensors that have the same number of samples",
                      what_, excerpt(fields_.front().first.name, 100), samples(), in_words, tensor.shape.front()));
    fields_.emplace_back(Dataset::Field{name, dtype_of(tensor, what_), {tensor.shape.begin() + 1, tensor.shape.end()}},
                         tensor);
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
    throw Error("safetensors file " + file.path + ": the file was changed since the run listed it");
  auto source = std::make_unique<RowSource>(content.samples);
  for (const auto& [field, tensor] : tensors.fields())
    source->add(field, rows_in_file(input, {tensor.begin, content.samples, sample_bytes(field), 1}, keep));
  return source;
}

bool is_safetensors_name(std::string_view path) { return path.ends_with(".safetensors"); }

}  // namespace

namespace plugins {

extern const Format safetensors{
    .name = "safetensors",
    .help =
        "safetensors files: each tensor is a field; its first axis counts the samples; all tensors have the same number",
    .options = {{.key = "fields",
                 .default_value = "",
                 .help = "tensors to read, such as x, y; default: all tensors. "
                         "FIELD=TENSOR also sets the name of the field: images=x, labels=y"}},
    .probe = probe_safetensors,
    .open = open_safetensors,
    .is_name_of = is_safetensors_name};

}  // namespace plugins

}  // namespace trainrt::data
