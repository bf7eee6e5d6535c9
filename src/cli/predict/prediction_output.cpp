#include "cli/predict/prediction_output.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/text/byte_size.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace {

constexpr std::uint64_t page_bytes = 4096;

std::string progress_in_samples(std::uint64_t done, std::uint64_t all) {
  return fmt::format("{} of {} samples", done, all);
}

}  // namespace

PredictionOutput::PredictionOutput(std::string path, bool replace, bool quiet, PredictedTable table)
    : path_(std::move(path)),
      writer_(prediction_writer_for(path_)),
      table_(std::move(table)),
      file_(path_, replace),
      progress_("predict", quiet, ProgressLine::standard_error(), progress_in_samples) {
  if (table_.for_spreadsheets && writer_.extension != ".csv")
    throw UsageError(fmt::format("--spreadsheet applies only to .csv files, not to '{}'", path_));
}

trainer::PredictedRows PredictionOutput::begin(const std::vector<trainer::PredictedField>& fields, std::uint64_t samples) {
  table_.fields = fields;
  table_.samples = samples;
  if (writer_.require != nullptr) writer_.require(table_);
  if (writer_.lay_out != nullptr) return rows_ = {file_.temporary_path(), writer_.lay_out(table_, file_)};
  std::uint64_t end = 0;
  std::vector<std::uint64_t> offsets;
  for (const auto& field : fields) {
    offsets.push_back(end);
    end += (samples * field.row_bytes() + page_bytes - 1) / page_bytes * page_bytes;
  }
  rows_file_.emplace(path_ + ".rows", true);
  rows_file_->reserve(end);
  return rows_ = {rows_file_->temporary_path(), std::move(offsets)};
}

void PredictionOutput::complete() {
  if (writer_.write != nullptr) {
    PredictedValues values(table_, rows_);
    writer_.write(table_, values, file_);
  }
  rows_file_.reset();
  file_.commit();
  progress_.end();
}

std::string PredictionOutput::summary() const {
  std::vector<std::string> names;
  for (const auto& field : table_.fields) names.push_back(field.name);
  return fmt::format("{}: {} of [data.{}] ({}), {}", path_, counted(static_cast<std::int64_t>(table_.samples), "sample"),
                     table_.dataset, join(names), byte_size(file_.bytes()));
}

}  // namespace trainrt::cli
