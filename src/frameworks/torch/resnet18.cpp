#include "resnet18.hpp"

#include <trainrt/error.hpp>

#include "classifier.hpp"
#include "resnet.hpp"

namespace trainrt::frameworks {

namespace {

/// Returns [channels, height, width] for images of shape [height, width] or [channels, height, width].
Shape with_channels(Shape shape) {
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  if (shape.size() != 3)
    throw UsageError("resnet18: images have shape " + to_string(shape) +
                     "; they must be [height, width] or [channels, height, width]");
  return shape;
}

ResNet18 make_resnet(Context& ctx, const Shape& image_shape) {
  return ResNet18(with_channels(image_shape)[0], class_count, ctx.config<int>("width"));
}

Classifier resnet_classifier(Context& ctx, ResNet18& model, const Shape& image_shape) {
  const auto input = with_channels(image_shape);
  return {.model = model,
          .forward =
              [&model, input](const torch::Tensor& images) {
                return model.forward(images.reshape({images.size(0), input[0], input[1], input[2]}));
              },
          .image_shape = image_shape,
          .eval_batch_size = ctx.config<int>("eval_batch_size")};
}

}  // namespace

void resnet18(Context& ctx) {
  const auto settings = training_settings(ctx);
  const auto shape = image_shape(ctx);
  prepare_torch(ctx);
  auto model = make_resnet(ctx, shape);
  train_classifier(ctx, settings, resnet_classifier(ctx, model, shape));
}

void check_resnet18(Context& ctx) {
  training_settings(ctx);
  with_channels(check_images(ctx));
}

void predict_resnet18(Context& ctx, Predictions& predictions) {
  const auto shape = image_shape(predictions);
  prepare_torch(ctx);
  auto model = make_resnet(ctx, shape);
  predict_classes(ctx, predictions, resnet_classifier(ctx, model, shape));
}

}  // namespace trainrt::frameworks
