#include "resnet18.hpp"

#include <trainrt/error.hpp>

#include "classifier.hpp"
#include "resnet.hpp"

namespace trainrt::frameworks {

namespace {

/// [channels, height, width] of images that are [height, width] or that.
Shape with_channels(Shape shape) {
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  if (shape.size() != 3)
    throw UsageError("resnet18: images must be [height, width] or [channels, height, width], not " + to_string(shape));
  return shape;
}

}  // namespace

void resnet18(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto eval_batch_size = ctx.config<int>("eval_batch_size");
  const auto width = ctx.config<int>("width");

  const auto shape = image_shape(ctx);
  const auto input = with_channels(shape);
  prepare_torch(ctx, settings.threads);
  ResNet18 model(input[0], class_count, width);
  const auto forward = [&](const torch::Tensor& images) {
    return model.forward(images.reshape({images.size(0), input[0], input[1], input[2]}));
  };
  train_classifier(ctx, settings,
                   {.model = model, .forward = forward, .image_shape = shape, .eval_batch_size = eval_batch_size});
}

}  // namespace trainrt::frameworks
