#pragma once
#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::frameworks {

/// Converts the fields of batches to tensors of shape [samples, shape of a sample...], with the field's type, on `device`.
class BatchTensors {
 public:
  /// `inputs` is a comma-separated list of field names, or `all` for every field except the target, in the dataset's order.
  /// `target` may be "". Throws UsageError, which names [data.`name`], if a field does not exist or cannot be a tensor.
  BatchTensors(const Dataset& data, const std::string& name, const std::string& inputs, const std::string& target,
               torch::Device device);

  /// Returns an object that converts only the inputs. The dataset may lack the field `target`; with inputs `all`, that
  /// field is excluded.
  static BatchTensors without_target(const Dataset& data, const std::string& name, const std::string& inputs,
                                     const std::string& target, torch::Device device);

  struct Converted {
    std::vector<c10::IValue> inputs;
    torch::Tensor target;  ///< undefined if the model needs no target
  };
  /// Returns the tensors of `count` samples of the batch, beginning with sample `first`. On the CPU they are views of the
  /// batch's memory, and valid as long as the batch.
  Converted from(const Batch& batch, std::int64_t first, std::int64_t count) const;

 private:
  BatchTensors(std::string name, torch::Device device) : name_(std::move(name)), device_(device) {}
  void select_inputs(const Dataset& data, const std::string& inputs, const std::string& target);
  Dataset::Field require_field(const Dataset& data, const std::string& field) const;
  torch::Tensor tensor(const Dataset::Field& field, const Batch& batch, std::int64_t first, std::int64_t count) const;

  std::string name_;
  torch::Device device_;
  std::vector<Dataset::Field> inputs_;
  std::vector<Dataset::Field> target_;  ///< at most one field
};

}  // namespace trainrt::frameworks
