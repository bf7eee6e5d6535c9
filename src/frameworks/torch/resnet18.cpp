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
  const TrainingSettings defaults{
      .epochs = 5, .batch_size = 32, .optimizer = "sgd", .lr = 0.05, .momentum = 0.9, .weight_decay = 0.0005};
  const auto settings = training_settings(ctx, defaults);
  const auto eval_batch_size = ctx.config<int>("eval_batch_size", 250);
  const auto width = ctx.config<int>("width", 64);
  check_setting(width > 0, "width", "1 or more");

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
