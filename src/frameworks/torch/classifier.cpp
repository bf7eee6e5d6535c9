#include "classifier.hpp"

#include <torch/nn/functional/loss.h>
#include <torch/nn/module.h>

#include <algorithm>
#include <utility>

#include <trainrt/error.hpp>

#include "pixels.hpp"
#include "prediction.hpp"

namespace trainrt::frameworks {

namespace {

/// Returns the shape of one u8 image of the dataset; empty if the dataset has no images.
Shape shape_of_images(const Dataset& data) {
  for (const auto& field : data.fields())
    if (field.name == "images" && field.dtype == DType::u8 && element_count(field.sample_shape) > 0)
      return field.sample_shape;
  return {};
}

bool has_labels(const Dataset& data) {
  return std::ranges::any_of(data.fields(), [](const auto& field) {
    return field.name == "labels" && field.dtype == DType::u8 && element_count(field.sample_shape) == 1;
  });
}

/// Returns the shape of one image. Throws UsageError if the dataset lacks u8 images with one u8 label each.
Shape image_shape_of(const Dataset& data, const std::string& name) {
  auto shape = shape_of_images(data);
  if (shape.empty() || !has_labels(data))
    throw UsageError(
        "[data." + name +
        "] lacks images or labels; it must have a u8 field 'images' and a u8 field 'labels' with one label per "
        "sample");
  return shape;
}

/// Throws UsageError if a label is not below class_count.
void require_classes(const std::uint8_t* labels, std::int64_t count, const std::string& name) {
  const auto max_label = count == 0 ? 0 : *std::max_element(labels, labels + count);
  if (max_label >= class_count)
    throw UsageError("[data." + name + "] contains label " + std::to_string(max_label) + "; valid labels are 0 to " +
                     std::to_string(class_count - 1));
}

/// Converts batches to tensors. The tensors that from() returns are valid until its next call.
class Inputs {
 public:
  Inputs(std::string name, std::int64_t batch_size, const Shape& image_shape, torch::Device device)
      : name_(std::move(name)), pixels_(element_count(image_shape)), device_(device) {
    Shape shape{batch_size};
    shape.insert(shape.end(), image_shape.begin(), image_shape.end());
    images_ = torch::empty(shape, device.is_cpu() ? torch::kFloat : torch::kByte);
    labels_ = torch::empty({batch_size}, torch::kLong);
  }

  std::pair<torch::Tensor, torch::Tensor> from(const Batch& batch, std::int64_t first, std::int64_t count) {
    const auto* labels = static_cast<const std::uint8_t*>(batch.field("labels").data) + first;
    require_classes(labels, count, name_);
    std::copy_n(labels, count, labels_.data_ptr<std::int64_t>());
    const auto images = images_from(batch, first, count);
    const auto taken = labels_.narrow(0, 0, count);
    return {images, copy_to_device(device_, taken)};
  }

  torch::Tensor images_from(const Batch& batch, std::int64_t first, std::int64_t count) {
    const auto* pixels = static_cast<const std::uint8_t*>(batch.field("images").data) + first * pixels_;
    auto images = images_.narrow(0, 0, count);
    if (device_.is_cpu()) {
      pixels_to_floats(pixels, static_cast<std::size_t>(count * pixels_), images.data_ptr<float>());
      return images;
    }
    std::copy_n(pixels, count * pixels_, images.data_ptr<std::uint8_t>());
    return copy_to_device(device_, images).to(torch::kFloat).div_(255);
  }

 private:
  std::string name_;  ///< of the dataset
  std::int64_t pixels_;
  torch::Device device_;
  torch::Tensor images_, labels_;
};

/// Returns `test_loss` and `test_accuracy` over this rank's samples of [data.test].
Metrics evaluate(Context& ctx, const Classifier& classifier, const Dataset& data, Inputs& inputs) {
  torch::NoGradGuard no_grad;
  classifier.model.eval();
  double loss = 0, correct = 0, seen = 0;
  const auto batch_size = static_cast<std::size_t>(classifier.eval_batch_size);
  StopPoints stop_points(ctx, data, batch_size);
  for (const auto& batch : data.epoch(0).batches(batch_size, Remainder::uneven)) {
    stop_points.pass();
    const auto [images, labels] = inputs.from(batch, 0, static_cast<std::int64_t>(batch.size()));
    const auto logits = classifier.forward(images);
    loss += torch::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum).item<double>();
    correct += logits.argmax(1).eq(labels).sum().item<double>();
    seen += static_cast<double>(batch.size());
  }
  classifier.model.train();
  return {{"test_loss", ratio(loss, seen)}, {"test_accuracy", ratio(correct, seen)}};
}

}  // namespace

Shape image_shape(Context& ctx) {
  const auto shape = image_shape_of(ctx.dataset("train"), "train");
  if (image_shape_of(ctx.dataset("test"), "test") != shape)
    throw UsageError("the images of [data.train] have shape " + to_string(shape) +
                     ", but those of [data.test] have another shape; both must have the same shape");
  return shape;
}

Shape check_images(Context& ctx) {
  constexpr std::size_t batch_size = 1000;
  auto shape = image_shape(ctx);
  for (const std::string name : {"train", "test"})
    for (const auto& batch : ctx.dataset(name).epoch(0).batches(batch_size, Remainder::whole))
      require_classes(static_cast<const std::uint8_t*>(batch.field("labels").data), static_cast<std::int64_t>(batch.size()),
                      name);
  return shape;
}

Shape image_shape(Predictions& predictions) {
  auto shape = shape_of_images(predictions.dataset());
  if (shape.empty())
    throw UsageError("[data." + predictions.dataset_name() + "] has no images; it must have a u8 field 'images'");
  return shape;
}

void predict_classes(Context& ctx, Predictions& predictions, const Classifier& classifier) {
  load_model(classifier.model, ctx, predictions);
  classifier.model.eval();
  Inputs inputs(predictions.dataset_name(), classifier.eval_batch_size, classifier.image_shape, device_of(ctx));
  predict_batches(predictions, classifier.eval_batch_size, [&](const Batch& batch) -> Predicted {
    const Autocast autocast(precision_of(ctx), device_of(ctx).type());
    const auto logits =
        classifier.forward(inputs.images_from(batch, 0, static_cast<std::int64_t>(batch.size()))).to(torch::kFloat);
    const auto [probability, label] = logits.softmax(1).max(1);
    return {{"logits", logits}, {"label", label}, {"probability", probability}};
  });
}

void train_classifier(Context& ctx, const TrainingSettings& settings, const Classifier& classifier) {
  const auto test_data = ctx.dataset("test");
  Inputs inputs("train", settings.batch_size, classifier.image_shape, device_of(ctx));
  Inputs eval_inputs("test", classifier.eval_batch_size, classifier.image_shape, device_of(ctx));
  const auto loss = [&](const Batch& batch, std::int64_t first, std::int64_t count) {
    const auto [images, labels] = inputs.from(batch, first, count);
    return torch::cross_entropy_loss(classifier.forward(images), labels);
  };
  train(ctx, settings,
        {.model = classifier.model,
         .loss = loss,
         .evaluate = [&] { return evaluate(ctx, classifier, test_data, eval_inputs); },
         .draws_random_numbers = classifier.draws_random_numbers});
}

}  // namespace trainrt::frameworks
