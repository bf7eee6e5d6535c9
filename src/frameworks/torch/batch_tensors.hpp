#pragma once
#include <ATen/core/ivalue.h>
#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::frameworks {

/// Fields of a dataset as tensors [samples, shape of a sample...] of the field's own type, on the device that computes.
class BatchTensors {
 public:
  /// `inputs`: names with commas between, or `all` for those that are not the target, in the dataset's order. `target` may
  /// be
  /// "". UsageError with `name` (of [data.NAME]) if one is not there or cannot be a tensor.
  BatchTensors(const Dataset& data, const std::string& name, const std::string& inputs, const std::string& target,
               torch::Device device);

  /// Creates BatchTensors without a target. If `inputs` is `all`, the field `target` is left out if the dataset has it.
  static BatchTensors without_target(const Dataset& data, const std::string& name, const std::string& inputs,
                                     const std::string& target, torch::Device device);

  struct Taken {
    std::vector<c10::IValue> inputs;
    torch::Tensor target;  ///< undefined if there is none
  };
  /// `count` samples of the batch, from `first` on. On the CPU they are views of the batch's memory, valid as long as it.
  Taken from(const Batch& batch, std::int64_t first, std::int64_t count) const;

 private:
  BatchTensors(std::string name, torch::Device device) : name_(std::move(name)), device_(device) {}
  void take_inputs(const Dataset& data, const std::string& inputs, const std::string& target);
  Dataset::Field known(const Dataset& data, const std::string& field) const;
  torch::Tensor tensor(const Dataset::Field& field, const Batch& batch, std::int64_t first, std::int64_t count) const;

  std::string name_;
  torch::Device device_;
  std::vector<Dataset::Field> inputs_;
  std::vector<Dataset::Field> target_;  ///< one, or none
};

}  // namespace trainrt::frameworks
