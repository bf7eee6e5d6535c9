#include "fashion_mnist.hpp"

#include "classifier.hpp"
#include "mlp.hpp"

namespace trainrt::frameworks {

namespace {

/// Creates the model that the [loop] keys `hidden`, `dropout` and `relu_logits` describe.
Mlp make_mlp(Context& ctx, const Shape& image_shape) {
  return Mlp({.inputs = element_count(image_shape),
              .hidden = ctx.config<int>("hidden"),
              .classes = class_count,
              .dropout = ctx.config<double>("dropout"),
              .relu_logits = ctx.config<bool>("relu_logits")});
}

Classifier mlp_classifier(Context& ctx, Mlp& model, const Shape& image_shape) {
  return {.model = model,
          .forward = [&](const torch::Tensor& images) { return model.forward(images.flatten(1)); },
          .image_shape = image_shape,
          .eval_batch_size = ctx.config<int>("eval_batch_size"),
          .draws_random_numbers = ctx.config<double>("dropout") > 0};
}

}  // namespace

void fashion_mnist(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto shape = image_shape(ctx);
  prepare_torch(ctx);
  auto model = make_mlp(ctx, shape);
  train_classifier(ctx, settings, mlp_classifier(ctx, model, shape));
}

void check_fashion_mnist(Context& ctx) {
  training_settings(ctx);
  check_images(ctx);
}

void predict_fashion_mnist(Context& ctx, Predictions& predictions) {
  const auto shape = image_shape(predictions);
  prepare_torch(ctx);
  auto model = make_mlp(ctx, shape);
  predict_classes(ctx, predictions, mlp_classifier(ctx, model, shape));
}

}  // namespace trainrt::frameworks
