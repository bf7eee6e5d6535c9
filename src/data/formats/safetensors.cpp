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

namespace trainrt::data::plugins {

namespace {

/// The tensors of a file that the key `fields` chooses, each with its field, in the order of the fields.
class SafeTensors {
 public:
  SafeTensors(const InputFile& file, const Options& options) : what_("safetensors file " + file.path()) {
    const auto all = safetensors_of(file);
    std::vector<std::string> names;
    for (const auto& tensor : all) names.push_back(tensor.name);
    std::vector<std::pair<std::string, std::uint64_t>> samples;
    for (const auto& [field, number] : chosen_fields(options.text("fields"), names, what_)) {
      add(field, all[number]);
      samples.emplace_back(field, static_cast<std::uint64_t>(all[number].shape.front()));
    }
    require_same_samples(samples, what_);
  }

  const std::vector<std::pair<Dataset::Field, SafeTensor>>& fields() const { return fields_; }
  std::uint64_t samples() const { return static_cast<std::uint64_t>(fields_.front().second.shape.front()); }

 private:
  void add(const std::string& name, const SafeTensor& tensor) {
    if (tensor.shape.empty())
      throw UsageError(
          fmt::format("{}: the tensor '{}' is a single value, so it has no axis of samples; "
                      "to leave the tensor out, set the key 'fields'",
                      what_, excerpt(name, 100)));
    fields_.emplace_back(Dataset::Field{name, dtype_of(tensor, what_), {tensor.shape.begin() + 1, tensor.shape.end()}},
                         tensor);
  }

  std::string what_;
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
    throw Error("safetensors file " + file.path +
                ": the file was changed since the run listed it; restore it, or start again");
  auto source = std::make_unique<RowSource>(content.samples);
  for (const auto& [field, tensor] : tensors.fields())
    source->add(field, rows_in_file(input, {tensor.begin, content.samples, sample_bytes(field), 1}, keep));
  return source;
}

}  // namespace

extern const Format safetensors{.name = "safetensors",
                                .help =
                                    "safetensors files: each tensor is a field, and its first axis counts the samples; "
                                    "all tensors must have the same number of samples",
                                .options = {{.key = "fields",
                                             .default_value = "",
                                             .help = "tensors to read, such as x, y; default: all tensors. "
                                                     "FIELD=TENSOR also sets the name of the field: images=x, labels=y"}},
                                .probe = probe_safetensors,
                                .open = open_safetensors,
                                .is_name_of = [](std::string_view path) { return path.ends_with(".safetensors"); }};

}  // namespace trainrt::data::plugins
