#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/arrays/npy_header.hpp"
#include "data/source/format.hpp"
#include "data/source/row_source.hpp"

namespace trainrt::data::plugins {

namespace {

bool has_npy_labels(const DataFile& file) { return !file.companions.empty() && !file.companions.front().path.empty(); }

Dataset::Field npy_field(std::string name, const NpyHeader& header, const InputFile& file) {
  return {std::move(name), dtype_of_npy(header, "NPY file " + file.path()), header.sample_shape()};
}

FileContent probe_npy(const DataFile& file, const Options& options) {
  const InputFile input(file);
  const auto header = npy_header(input);
  FileContent content{header.samples(), {npy_field(options.text("field"), header, input)}, {}};
  if (!has_npy_labels(file)) return content;
  const InputFile labels_input(file.companions.front());
  const auto labels = npy_header(labels_input);
  if (labels.samples() != header.samples())
    throw UsageError(fmt::format("NPY files do not belong together: {} has {} samples, but {} has {} labels", file.path,
                                 header.samples(), labels_input.path(), labels.samples()));
  content.fields.push_back(npy_field("labels", labels, labels_input));
  return content;
}

void add_npy(RowSource& source, const Dataset::Field& field, const DataFile& file, bool keep) {
  auto input = std::make_shared<const InputFile>(file);
  const auto place = npy_header(*input).place_at(0);
  if (place.rows != source.size() || place.row_bytes != sample_bytes(field))
    throw Error("NPY file " + file.path + ": the file was changed since the run listed it; restore it, or start again");
  source.add(field, rows_in_file(std::move(input), place, keep));
}

std::unique_ptr<Source> open_npy(const DataFile& file, const FileContent& content, const Options&, bool keep) {
  auto source = std::make_unique<RowSource>(content.samples);
  add_npy(*source, content.fields.front(), file, keep);
  if (has_npy_labels(file)) add_npy(*source, content.fields.back(), file.companions.front(), keep);
  return source;
}

bool is_field_name(std::string_view text) { return !text.empty() && text != "labels"; }

}  // namespace

extern const Format npy{
    .name = "npy",
    .help =
        "NumPy's .npy files with one array each, with the samples along the first axis. Fields: "
        "data (the key 'field' sets another name), and labels if the key 'labels' is given",
    .options = {{.key = "labels",
                 .type = OptionType::path,
                 .default_value = "",
                 .help = ".npy file with the labels; "
                         "if source names several files, the same number of label files, in the same order"},
                {.key = "field",
                 .default_value = "data",
                 .help = "name of the field, for the train function",
                 .form = "any name but labels",
                 .fits = is_field_name}},
    .probe = probe_npy,
    .open = open_npy,
    .is_name_of = [](std::string_view path) { return path.ends_with(".npy"); },
    .companions = {"labels"}};

}  // namespace trainrt::data::plugins
