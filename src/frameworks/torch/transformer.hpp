#pragma once
#include <torch/nn/init.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/version.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace trainrt::frameworks {

struct TransformerShape {
  std::int64_t vocabulary, positions, layers, heads, width;
  double dropout = 0;
  /// The number of logits is the size of the vocabulary, rounded up to a multiple of this number. The logits of the
  /// added tokens are -inf. The value affects the speed on a GPU, but not the parameters.
  std::int64_t vocabulary_multiple = 1;
};

/// Multi-head attention of each position to itself and all earlier positions. Input and output [n, t, width].
class CausalAttention : public torch::nn::Module {
 public:
  explicit CausalAttention(const TransformerShape& shape) : shape_(shape) {
    qkv_ = register_module("c_attn", torch::nn::Linear(shape.width, 3 * shape.width));
    out_ = register_module("c_proj", torch::nn::Linear(shape.width, shape.width));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto n = x.size(0), t = x.size(1), each = shape_.width / shape_.heads;
    std::vector<torch::Tensor> parts;
    for (const auto& part : qkv_(x).split(shape_.width, 2))
      parts.push_back(part.view({n, t, shape_.heads, each}).transpose(1, 2));
    const auto y = attend(parts[0], parts[1], parts[2]);
    return torch::dropout(out_(y.transpose(1, 2).reshape({n, t, shape_.width})), shape_.dropout, is_training());
  }

 private:
  /// All three inputs and the result have shape [n, heads, t, width / heads].
  torch::Tensor attend(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
#if TORCH_VERSION_MAJOR >= 2
    return at::scaled_dot_product_attention(q, k, v, {}, is_training() ? shape_.dropout : 0.0, true);
#else
    const auto t = q.size(2);
    auto weights = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
    const auto later = torch::ones({t, t}, q.options().dtype(torch::kBool)).triu(1);
    weights = weights.masked_fill(later, -std::numeric_limits<double>::infinity()).softmax(3);
    return torch::dropout(weights, shape_.dropout, is_training()).matmul(v);
#endif
  }

  TransformerShape shape_;
  torch::nn::Linear qkv_{nullptr}, out_{nullptr};
};

/// Attention and a two-layer perceptron, each with a LayerNorm at its input and a residual connection.
class TransformerBlock : public torch::nn::Module {
 public:
  explicit TransformerBlock(const TransformerShape& shape) : dropout_(shape.dropout) {
    using namespace torch::nn;
    ln1_ = register_module("ln_1", LayerNorm(LayerNormOptions({shape.width})));
    attention_ = register_module("attn", std::make_shared<CausalAttention>(shape));
    ln2_ = register_module("ln_2", LayerNorm(LayerNormOptions({shape.width})));
    fc_ = register_module("mlp_c_fc", Linear(shape.width, 4 * shape.width));
    out_ = register_module("mlp_c_proj", Linear(4 * shape.width, shape.width));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = x + attention_->forward(ln1_(x));
    return x + torch::dropout(out_(torch::gelu(fc_(ln2_(x)), "tanh")), dropout_, is_training());
  }

 private:
  double dropout_;
  torch::nn::LayerNorm ln1_{nullptr}, ln2_{nullptr};
  std::shared_ptr<CausalAttention> attention_;
  torch::nn::Linear fc_{nullptr}, out_{nullptr};
};

/// GPT-2, the decoder of Radford et al., "Language models are unsupervised multitask learners" (2019): learned position
/// embeddings, LayerNorm at the input of each layer, and an output that shares the weights of the token embedding. Input
/// tokens i64 [n, t], output logits [n, t, vocabulary rounded up to a multiple of `vocabulary_multiple`].
class Transformer : public torch::nn::Module {
 public:
  explicit Transformer(const TransformerShape& shape) : shape_(shape) {
    using namespace torch::nn;
    tokens_ = register_module("wte", Embedding(shape.vocabulary, shape.width));
    positions_ = register_module("wpe", Embedding(shape.positions, shape.width));
    for (std::int64_t i = 0; i < shape.layers; ++i)
      blocks_.push_back(register_module("h" + std::to_string(i), std::make_shared<TransformerBlock>(shape)));
    ln_ = register_module("ln_f", LayerNorm(LayerNormOptions({shape.width})));
    initialize();
  }

  torch::Tensor forward(const torch::Tensor& tokens) {
    auto x = tokens_(tokens) + positions_->weight.narrow(0, 0, tokens.size(1));
    x = torch::dropout(x, shape_.dropout, is_training());
    for (auto& block : blocks_) x = block->forward(x);
    return logits(ln_(x));
  }

 private:
  /// Returns the logits for `x`. Added tokens have the logit -inf, so their probability and gradient are 0, and losses and
  /// gradients change only by rounding.
  torch::Tensor logits(const torch::Tensor& x) {
    const auto multiple = shape_.vocabulary_multiple;
    const auto added = (multiple - shape_.vocabulary % multiple) % multiple;
    if (added == 0) return torch::linear(x, tokens_->weight);
    const auto weight = torch::constant_pad_nd(tokens_->weight, {0, 0, 0, added});
    const auto bias = torch::zeros({weight.size(0)}, weight.options().requires_grad(false));
    bias.narrow(0, shape_.vocabulary, added).fill_(-std::numeric_limits<double>::infinity());
    return torch::linear(x, weight, bias);
  }

  /// Initializes weights like GPT-2: with standard deviation 0.02, and less for the projections that are added to the
  /// residual, so that the sum over all layers does not grow with their number.
  void initialize() {
    torch::NoGradGuard no_grad;
    const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(shape_.layers));
    for (auto& item : named_parameters()) {
      const auto& name = item.key();
      if (item.value().dim() > 1)
        torch::nn::init::normal_(item.value(), 0, name.find("c_proj") == std::string::npos ? 0.02 : residual);
      else if (name.find("bias") != std::string::npos)
        torch::nn::init::zeros_(item.value());
    }
  }

  TransformerShape shape_;
  torch::nn::Embedding tokens_{nullptr}, positions_{nullptr};
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
  torch::nn::LayerNorm ln_{nullptr};
};

}  // namespace trainrt::frameworks
