#include <trainrt/predictions.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"
#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "trainer/ending/advice.hpp"
#include "trainer/predictions/predictions_impl.hpp"
#include "trainer/predictions/text_outputs.hpp"

namespace trainrt {

using trainer::PredictedField;

const CheckpointPlace& Predictions::checkpoint() const { return impl_.job.checkpoint; }
Dataset Predictions::dataset() { return impl_.dataset; }
const std::string& Predictions::dataset_name() const { return impl_.job.dataset; }
void Predictions::begin(const std::vector<Dataset::Field>& fields) { impl_.begin(fields); }
void Predictions::add(const Batch& batch, const std::vector<TensorView>& values) { impl_.add(batch, values); }

namespace {

/// Throws UsageError if the name or the shape of a field would be invalid for a tensor of a State, or if two names are
/// equal.
void require_valid(const std::vector<PredictedField>& fields, std::uint64_t samples) {
  State names;
  for (const auto& field : fields) {
    auto shape = field.sample_shape;
    shape.insert(shape.begin(), static_cast<std::int64_t>(samples));
    names.tensor(field.name, TensorView{nullptr, field.dtype, std::move(shape)});
  }
}

PredictedField kept_field(const trainer::KeptField& kept, const Dataset& data, const std::string& dataset,
                          const std::map<std::string, std::int64_t>& text_sizes) {
  std::vector<std::string> names;
  for (const auto& field : data.fields()) {
    if (field.name != kept.field) {
      names.push_back(field.name);
      continue;
    }
    if (trainer::is_text(field)) return {kept.name, DType::u8, {text_sizes.at(field.name)}, kept.field, true};
    if (field.varies)
      throw UsageError(
          fmt::format("--keep {}: the samples of this field of [data.{}] vary in length; "
                      "only texts and fields of a fixed shape can be copied",
                      kept.field, dataset));
    return {kept.name, field.dtype, field.sample_shape, kept.field};
  }
  throw UsageError(fmt::format("--keep {}: [data.{}] has no field of this name{}; its fields: {}", kept.field, dataset,
                               did_you_mean(kept.field, names), join(names)));
}

/// Returns the output's fields and file as JSON, which rank 0 sends to the other ranks.
std::string text_of(const std::vector<PredictedField>& fields, const trainer::PredictedRows& rows) {
  auto list = nlohmann::json::array();
  for (const auto& field : fields)
    list.push_back({field.name, name_of(field.dtype), field.sample_shape, field.kept_of, field.is_text});
  return nlohmann::json{{"fields", list}, {"path", rows.path}, {"offsets", rows.offsets}}.dump();
}

/// Sets `fields` and `rows` from `text`, a result of text_of().
void read_text(const std::string& text, std::vector<PredictedField>& fields, trainer::PredictedRows& rows) {
  const auto json = nlohmann::json::parse(text);
  fields.clear();
  for (const auto& field : json.at("fields"))
    fields.push_back({field.at(0), dtype_from(field.at(1).get<std::string>()), field.at(2), field.at(3), field.at(4)});
  rows = {json.at("path"), json.at("offsets")};
}

}  // namespace

PredictionsImpl::PredictionsImpl(const trainer::PredictionJob& job_, Context& context, double visible_timeout_s)
    : job(job_), dataset(context.dataset(job_.dataset)), context_(context), visible_timeout_s_(visible_timeout_s) {}

std::vector<PredictedField> PredictionsImpl::with_kept(const std::vector<Dataset::Field>& declared,
                                                       const std::map<std::string, std::int64_t>& text_sizes) const {
  std::vector<PredictedField> fields;
  std::set<std::string> predicted;
  for (const auto& field : declared) {
    if (field.varies)
      throw UsageError(fmt::format(
          "predictions: the field '{}' varies in length; all samples must have the same number of values", field.name));
    predicted.insert(field.name);
    fields.push_back({field.name, field.dtype, field.sample_shape, ""});
  }
  if (fields.empty()) throw UsageError("predictions: rank 0 declared no fields in begin(); declare at least one field");
  for (const auto& kept : job.kept) {
    if (predicted.contains(kept.name))
      throw UsageError(fmt::format("--keep {0}: {1} predicts a field of this name; choose another name: --keep {0}=NAME",
                                   kept.field, job.function));
    fields.push_back(kept_field(kept, dataset, job.dataset, text_sizes));
  }
  return fields;
}

void PredictionsImpl::begin(const std::vector<Dataset::Field>& declared) {
  if (file_) throw UsageError("predictions: begin() was called twice; call it once, before the first add()");
  auto& communicator = context_.communicator();
  const auto sizes = trainer::text_sizes(dataset, job.dataset, job.kept, communicator);
  std::string text;
  const auto make = [&] {
    const auto fields = with_kept(declared, sizes);
    require_valid(fields, dataset.size());
    text = text_of(fields, job.make_rows(fields, dataset.size()));
  };
  comm::collectively_on_first(communicator, make, trainer::with_output_advice);
  read_text(communicator.broadcast_text(std::move(text), 0), fields_, rows_);
  comm::collectively(
      communicator, [&] { open_rows(rows_); }, trainer::with_output_advice);
}

/// Waits until this node sees the output file, which rank 0 has created, and then opens it. Before that, create() would
/// make another file.
void PredictionsImpl::open_rows(const trainer::PredictedRows& rows) {
  for (const auto deadline_s = monotonic_seconds() + visible_timeout_s_; !io::exists(rows.path);) {
    if (monotonic_seconds() > deadline_s)
      throw UsageError(
          fmt::format("host {} does not see the output file after {:g} s; it must be on a file system that all nodes share",
                      host_name(), visible_timeout_s_));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  file_.emplace(io::PositionalFile::create(rows.path));
}

void PredictionsImpl::add(const Batch& batch, const std::vector<TensorView>& values) {
  if (!file_) throw UsageError("predictions: add() was called before begin(), which must declare the fields");
  if (const int signal = batch::stop_signal())
    throw Error(fmt::format("stopped by {}: no output was written", batch::signal_name(signal)));
  const auto declared = fields_.size() - job.kept.size();
  if (values.size() != declared)
    throw UsageError(fmt::format("predictions: add() got {}, but begin() declared {}",
                                 counted(static_cast<std::int64_t>(values.size()), "view"),
                                 counted(static_cast<std::int64_t>(declared), "field")));
  for (std::size_t i = 0; i < declared; ++i) write(i, values[i], batch.indices());
  for (std::size_t i = declared; i < fields_.size(); ++i) write_kept(i, batch);
  added_ += batch.size();
  const auto done = added_ * static_cast<std::uint64_t>(context_.world_size());
  if (context_.world_rank() == 0) job.progress(std::min(done, dataset.size()), dataset.size());
}

void PredictionsImpl::write_kept(std::size_t number, const Batch& batch) {
  const auto& field = fields_[number];
  if (!field.is_text) return write(number, batch.field(field.kept_of), batch.indices());
  const auto size = field.sample_shape.front();
  auto rows = trainer::padded_texts(batch, field.kept_of, size);
  write(number, {rows.data(), DType::u8, {static_cast<std::int64_t>(batch.size()), size}}, batch.indices());
}

/// Writes `values`, the values of field number `number` for the samples `samples`. Rows of consecutive samples are written
/// with one call.
void PredictionsImpl::write(std::size_t number, const TensorView& values, std::span<const std::uint64_t> samples) {
  const auto& field = fields_[number];
  Shape shape{static_cast<std::int64_t>(samples.size())};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  if (values.dtype != field.dtype || values.shape != shape || values.device != Device::host)
    throw UsageError(fmt::format("predictions: the values of '{}' are {}{} in {} memory; they must be {}{} in {} memory",
                                 field.name, name_of(values.dtype), to_string(values.shape), name_of(values.device),
                                 name_of(field.dtype), to_string(shape), name_of(Device::host)));
  const auto row = field.row_bytes();
  const std::span bytes(static_cast<const std::byte*>(values.data), values.bytes());
  for (std::size_t at = 0, end = 0; at < samples.size(); at = end) {
    for (end = at + 1; end < samples.size() && samples[end] == samples[end - 1] + 1;) ++end;
    if (samples[end - 1] >= dataset.size())
      throw UsageError(
          fmt::format("predictions: add() got a batch of another dataset: it has sample {}", samples[end - 1]));
    file_->write(rows_.offsets[number] + samples[at] * row, bytes.subspan(at * row, (end - at) * row));
  }
}

void PredictionsImpl::end() {
  auto& communicator = context_.communicator();
  const auto make_durable = [&] {
    if (!file_)
      throw UsageError(
          fmt::format("the predict function of {} returned without calling Predictions::begin()", job.function));
    file_->sync();
    file_->close();
  };
  comm::collectively(communicator, make_durable, trainer::with_output_advice);
  const auto all = communicator.all_reduced(static_cast<std::int64_t>(added_), Op::sum);
  const auto complete = [&] {
    if (static_cast<std::uint64_t>(all) != dataset.size())
      throw Error(fmt::format(
          "the predict function of {} added {} samples, but [data.{}] has {}; every sample must be added exactly once",
          job.function, all, job.dataset, dataset.size()));
    job.complete();
  };
  comm::collectively_on_first(communicator, complete, trainer::with_output_advice);
}

}  // namespace trainrt
