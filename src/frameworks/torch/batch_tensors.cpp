#include "batch_tensors.hpp"

#include <optional>
#include <sstream>

#include <trainrt/error.hpp>

#include "training.hpp"

namespace trainrt::frameworks {

namespace {

std::optional<torch::ScalarType> type_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return torch::kDouble;
    case DType::f32:
      return torch::kFloat;
    case DType::f16:
      return torch::kHalf;
    case DType::bf16:
      return torch::kBFloat16;
    case DType::i64:
      return torch::kLong;
    case DType::i32:
      return torch::kInt;
    case DType::i16:
      return torch::kShort;
    case DType::i8:
      return torch::kChar;
    case DType::u8:
      return torch::kByte;
    default:
      return std::nullopt;
  }
}

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream words(list);
  for (std::string name; std::getline(words >> std::ws, name, ',');)
    names.push_back(name.substr(0, name.find_last_not_of(" \t") + 1));
  return names;
}

}  // namespace

BatchTensors::BatchTensors(const Dataset& data, const std::string& name, const std::string& inputs,
                           const std::string& target, torch::Device device)
    : BatchTensors(name, device) {
  if (!target.empty()) target_.push_back(require_field(data, target));
  select_inputs(data, inputs, target);
}

BatchTensors BatchTensors::without_target(const Dataset& data, const std::string& name, const std::string& inputs,
                                          const std::string& target, torch::Device device) {
  BatchTensors tensors(name, device);
  tensors.select_inputs(data, inputs, target);
  return tensors;
}

void BatchTensors::select_inputs(const Dataset& data, const std::string& inputs, const std::string& target) {
  if (inputs != "all") {
    for (const auto& input : names_in(inputs)) inputs_.push_back(require_field(data, input));
  } else {
    for (const auto& field : data.fields())
      if (field.name != target) inputs_.push_back(require_field(data, field.name));
  }
  if (inputs_.empty())
    throw UsageError("[data." + name_ + "] has no input field for the model: '" + target + "' is the only field");
}

Dataset::Field BatchTensors::require_field(const Dataset& data, const std::string& field) const {
  std::string names;
  for (const auto& each : data.fields()) {
    names += (names.empty() ? "" : ", ") + each.name;
    if (each.name != field) continue;
    if (each.varies || !type_of(each.dtype))
      throw UsageError("[data." + name_ + "] field '" + field + "' " +
                       (each.varies ? "has samples of different lengths"
                                    : "has type " + std::string(name_of(each.dtype)) + ", which torch does not have") +
                       ", so it cannot be an input or target of the model. Leave it out of [loop] inputs and target");
    return each;
  }
  throw UsageError("[data." + name_ + "] has no field '" + field + "'; it has: " + names);
}

torch::Tensor BatchTensors::tensor(const Dataset::Field& field, const Batch& batch, std::int64_t first,
                                   std::int64_t count) const {
  const auto view = batch.field(field.name);
  std::vector<std::int64_t> shape{count};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  const auto sample_bytes = static_cast<std::size_t>(element_count(field.sample_shape)) * size_of(field.dtype);
  auto* const data = static_cast<std::byte*>(view.data) + static_cast<std::size_t>(first) * sample_bytes;
  return copy_to_device(device_, torch::from_blob(data, shape, *type_of(field.dtype)));
}

BatchTensors::Converted BatchTensors::from(const Batch& batch, std::int64_t first, std::int64_t count) const {
  Converted converted;
  for (const auto& field : inputs_) converted.inputs.emplace_back(tensor(field, batch, first, count));
  if (!target_.empty()) converted.target = tensor(target_.front(), batch, first, count);
  return converted;
}

}  // namespace trainrt::frameworks
