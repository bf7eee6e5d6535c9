#pragma once
#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>

namespace trainrt::frameworks {

/// A perceptron with two hidden layers, each followed by ReLU and dropout. Input f32 [n, inputs], output logits
/// [n, classes].
class Mlp : public torch::nn::Module {
 public:
  struct Shape {
    std::int64_t inputs, hidden, classes;
    double dropout = 0;
    bool relu_logits = false;
  };

  explicit Mlp(const Shape& shape) : shape_(shape) {
    fc1_ = register_module("fc1", torch::nn::Linear(shape.inputs, shape.hidden));
    fc2_ = register_module("fc2", torch::nn::Linear(shape.hidden, shape.hidden));
    fc3_ = register_module("fc3", torch::nn::Linear(shape.hidden, shape.classes));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = dropped(fc1_(x).relu_());
    x = dropped(fc2_(x).relu_());
    x = fc3_(x);
    return shape_.relu_logits ? x.relu_() : x;
  }

 private:
  torch::Tensor dropped(torch::Tensor x) const {
    return shape_.dropout > 0 ? torch::dropout(x, shape_.dropout, is_training()) : x;
  }

  Shape shape_;
  torch::nn::Linear fc1_{nullptr}, fc2_{nullptr}, fc3_{nullptr};
};

}  // namespace trainrt::frameworks
