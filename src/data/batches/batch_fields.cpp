// The functions of BatchesImpl that return values of the current batch.
#include <string>

#include <trainrt/error.hpp>

#include "data/batches/batches_impl.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt {

std::size_t BatchesImpl::find_field(std::string_view name) const try {
  return data::find_field(fields_, name);
} catch (const UsageError& error) {
  throw UsageError("dataset '" + plan_->name + "': " + error.what());
}

Random BatchesImpl::random(const Batch& asked, std::size_t sample) const {
  if (sample >= asked.size())
    throw UsageError("dataset '" + plan_->name + "': sample " + std::to_string(sample) + " of a batch of " +
                     std::to_string(asked.size()));
  return {draw_seed_, asked.indices()[sample]};
}

const data::Column& BatchesImpl::column(const Batch& asked, std::string_view name, bool varies) {
  if (&asked != &batch_ && asked.indices_ != batch_.indices_)  // the first test is cheap, for loops over many samples
    throw Error("dataset '" + plan_->name + "': field '" + std::string(name) +
                "' of a batch before the current one; copy the values that are needed before taking the next batch");
  const auto at = find_field(name);
  if (fields_[at].varies != varies)
    throw UsageError("dataset '" + plan_->name + "': the samples of the field '" + std::string(name) +
                     (varies ? "' all have the same length: ask for field()"
                             : "' vary in length: ask for varying() or text(), sample by sample"));
  if (!data_.is_read[at]) read_field(at);
  return data_.columns[at];
}

TensorView BatchesImpl::field(const Batch& asked, std::string_view name) {
  const auto& values = this->column(asked, name, false);
  const auto& field = fields_[values.field];
  Shape shape{static_cast<std::int64_t>(asked.size())};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  return TensorView{const_cast<std::byte*>(values.values.data()), field.dtype, std::move(shape)};
}

TensorView BatchesImpl::varying(const Batch& asked, std::string_view name, std::size_t sample) {
  const auto& values = this->column(asked, name, true);
  if (sample >= values.ends.size())
    throw UsageError("dataset '" + plan_->name + "': sample " + std::to_string(sample) + " of a batch of " +
                     std::to_string(values.ends.size()));
  const auto dtype = fields_[values.field].dtype;
  const auto first = sample == 0 ? 0 : values.ends[sample - 1];
  const auto count = (values.ends[sample] - first) / size_of(dtype);
  return TensorView{const_cast<std::byte*>(values.values.data()) + first, dtype, {static_cast<std::int64_t>(count)}};
}

}  // namespace trainrt
