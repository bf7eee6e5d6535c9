// The functions of BatchesImpl that return values of the current batch.
#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/batches/batches_impl.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt {

namespace {

/// An element type of fields, and the name of the equal type in C++.
struct ElementType {
  DType dtype;
  std::string_view name;
};

constexpr std::array<ElementType, 8> element_types = {{{DType::f64, "double"},
                                                       {DType::f32, "float"},
                                                       {DType::i64, "std::int64_t"},
                                                       {DType::i32, "std::int32_t"},
                                                       {DType::i16, "std::int16_t"},
                                                       {DType::i8, "std::int8_t"},
                                                       {DType::u8, "std::uint8_t"},
                                                       {DType::boolean, "bool"}}};

}  // namespace

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
                "' was requested from an earlier batch; copy the values that you need before taking the next batch");
  const auto at = find_field(name);
  if (fields_[at].varies != varies)
    throw UsageError(
        "dataset '" + plan_->name + "': the samples of the field '" + std::string(name) +
        (varies ? "' all have the same length: use field()" : "' vary in length: use varying() or text() for each sample"));
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

void BatchesImpl::require_type(std::string_view name, DType present, DType asked) const {
  if (present == asked) return;
  const auto type = std::ranges::find(element_types, present, &ElementType::dtype);
  throw UsageError(fmt::format("dataset '{}': field '{}' has elements of type {}, but {} was requested: use {}",
                               plan_->name, name, name_of(present), name_of(asked),
                               type == element_types.end()
                                   ? fmt::format("field(\"{}\"), since C++ has no type for {}", name, name_of(present))
                                   : fmt::format("field<{}>(\"{}\")", type->name, name)));
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
