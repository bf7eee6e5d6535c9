#include "fashion_mnist.hpp"

#include "classifier.hpp"
#include "mlp.hpp"

namespace trainrt::frameworks {

void fashion_mnist(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto eval_batch_size = ctx.config<int>("eval_batch_size");
  const auto hidden = ctx.config<int>("hidden");
  const auto dropout = ctx.config<double>("dropout");
  const auto relu_logits = ctx.config<bool>("relu_logits");

  const auto shape = image_shape(ctx);
  prepare_torch(ctx, settings.threads);
  Mlp model({.inputs = element_count(shape),
             .hidden = hidden,
             .classes = class_count,
             .dropout = dropout,
             .relu_logits = relu_logits});
  train_classifier(ctx, settings,
                   {.model = model,
                    .forward = [&](const torch::Tensor& images) { return model.forward(images.flatten(1)); },
                    .image_shape = shape,
                    .eval_batch_size = eval_batch_size,
                    .draws_random_numbers = dropout > 0});
}

}  // namespace trainrt::frameworks
