// The member functions of Batch and BatchesImpl that return values of the current batch.
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

/// Returns the owner of a batch from which the field `name`, or random numbers if `name` is empty, were requested.
BatchesImpl& owner_of(BatchesImpl* owner, std::string_view name) {
  if (owner == nullptr)
    throw UsageError(fmt::format("{} requested from a batch without a dataset; get batches from Dataset::epoch()",
                                 name.empty() ? "random numbers were" : fmt::format("field '{}' was", name)));
  return *owner;
}

}  // namespace

const data::Column& BatchesImpl::column(const Batch& asked, std::string_view name, bool varies) {
  if (&asked != &batch_ && asked.indices_ != batch_.indices_)  // compares addresses first, because that is faster
    throw Error(
        fmt::format("dataset '{}': field '{}' was requested from an earlier batch; "
                    "copy the values that you need before you request the next batch",
                    plan_->name, name));
  std::size_t at = 0;
  try {
    at = data::find_field(fields_, name);
  } catch (const UsageError& error) {
    throw UsageError("dataset '" + plan_->name + "': " + error.what());
  }
  if (fields_[at].varies != varies)
    throw UsageError(fmt::format(
        "dataset '{}': the samples of the field '{}' {}", plan_->name, name,
        varies ? "all have the same length: use field()" : "vary in length: use varying() or text() for each sample"));
  if (!data_.is_read[at]) read_field(at);
  return data_.columns[at];
}

void BatchesImpl::require_sample(const Batch& asked, std::size_t sample) const {
  if (sample >= asked.size())
    throw UsageError(fmt::format("dataset '{}': sample {} was requested from a batch of {} samples, numbered from 0",
                                 plan_->name, sample, asked.size()));
}

TensorView Batch::field(std::string_view name) const {
  auto& owner = owner_of(owner_, name);
  const auto& values = owner.column(*this, name, false);
  const auto& field = owner.fields()[values.field];
  Shape shape{static_cast<std::int64_t>(size())};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  return TensorView{const_cast<std::byte*>(values.values.data()), field.dtype, std::move(shape)};
}

TensorView Batch::field(std::string_view name, DType dtype) const {
  auto values = field(name);
  if (values.dtype == dtype) return values;
  const auto type = std::ranges::find(element_types, values.dtype, &ElementType::dtype);
  throw UsageError(fmt::format("dataset '{}': field '{}' has elements of type {}, but {} was requested: use {}",
                               owner_->name(), name, name_of(values.dtype), name_of(dtype),
                               type == element_types.end()
                                   ? fmt::format("field(\"{}\"), since C++ has no type for {}", name, name_of(values.dtype))
                                   : fmt::format("field<{}>(\"{}\")", type->name, name)));
}

TensorView Batch::varying(std::string_view name, std::size_t sample) const {
  auto& owner = owner_of(owner_, name);
  const auto& values = owner.column(*this, name, true);
  owner.require_sample(*this, sample);
  const auto dtype = owner.fields()[values.field].dtype;
  const auto bytes = values.varying(sample);
  return TensorView{
      const_cast<std::byte*>(bytes.data()), dtype, {static_cast<std::int64_t>(bytes.size() / size_of(dtype))}};
}

std::string_view Batch::text(std::string_view name, std::size_t sample) const {
  const auto values = varying(name, sample);
  if (values.dtype != DType::u8)
    throw UsageError(fmt::format("field '{}' contains {}, not texts; use varying()", name, name_of(values.dtype)));
  return {static_cast<const char*>(values.data), values.bytes()};
}

Random Batch::random(std::size_t sample) const {
  auto& owner = owner_of(owner_, "");
  owner.require_sample(*this, sample);
  return {owner.draw_seed(), indices_[sample]};
}

}  // namespace trainrt
