#pragma once
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <vector>

namespace trainrt::frameworks {

/// Two 3x3 convolutions with a residual connection. If the shape changes, a 1x1 convolution adapts the residual.
class BasicBlock : public torch::nn::Module {
 public:
  BasicBlock(std::int64_t inputs, std::int64_t outputs, std::int64_t stride) {
    using namespace torch::nn;
    conv1_ = register_module("conv1", Conv2d(Conv2dOptions(inputs, outputs, 3).stride(stride).padding(1).bias(false)));
    bn1_ = register_module("bn1", BatchNorm2d(outputs));
    conv2_ = register_module("conv2", Conv2d(Conv2dOptions(outputs, outputs, 3).padding(1).bias(false)));
    bn2_ = register_module("bn2", BatchNorm2d(outputs));
    if (stride == 1 && inputs == outputs) return;
    fit_ = register_module("fit", Conv2d(Conv2dOptions(inputs, outputs, 1).stride(stride).bias(false)));
    fit_bn_ = register_module("fit_bn", BatchNorm2d(outputs));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    auto y = bn2_(conv2_(bn1_(conv1_(x)).relu_()));
    return y.add_(fit_.is_empty() ? x : fit_bn_(fit_(x))).relu_();
  }

 private:
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr}, fit_{nullptr};
  torch::nn::BatchNorm2d bn1_{nullptr}, bn2_{nullptr}, fit_bn_{nullptr};
};

/// The ResNet-18 of He et al., "Deep residual learning for image recognition" (CVPR 2016), with their stem for small
/// images: one 3x3 convolution, no pooling. Input [n, channels, height, width] f32, output logits [n, classes].
class ResNet18 : public torch::nn::Module {
 public:
  ResNet18(std::int64_t channels, std::int64_t classes, std::int64_t width = 64) {
    using namespace torch::nn;
    conv1_ = register_module("conv1", Conv2d(Conv2dOptions(channels, width, 3).padding(1).bias(false)));
    bn1_ = register_module("bn1", BatchNorm2d(width));
    std::int64_t inputs = width;
    for (int stage = 0; stage < 4; ++stage)
      for (int block = 0; block < 2; ++block) {
        const auto outputs = width << stage;
        const auto name = "layer" + std::to_string(stage + 1) + "_" + std::to_string(block);
        blocks_.push_back(
            register_module(name, std::make_shared<BasicBlock>(inputs, outputs, stage > 0 && block == 0 ? 2 : 1)));
        inputs = outputs;
      }
    fc_ = register_module("fc", Linear(inputs, classes));
    torch::NoGradGuard no_grad;
    for (auto& parameter : parameters())
      if (parameter.dim() == 4) init::kaiming_normal_(parameter, 0, torch::kFanOut, torch::kReLU);
  }

  torch::Tensor forward(torch::Tensor x) {
    x = bn1_(conv1_(x)).relu_();
    for (auto& block : blocks_) x = block->forward(x);
    return fc_(x.mean({2, 3}));
  }

 private:
  torch::nn::Conv2d conv1_{nullptr};
  torch::nn::BatchNorm2d bn1_{nullptr};
  std::vector<std::shared_ptr<BasicBlock>> blocks_;
  torch::nn::Linear fc_{nullptr};
};

}  // namespace trainrt::frameworks
