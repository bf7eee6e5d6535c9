#pragma once
#include <trainrt/predictions.hpp>

#include "training.hpp"

namespace trainrt::frameworks {

constexpr std::int64_t class_count = 10;

/// Returns the shape of one image of [data.train] and [data.test]. Throws UsageError unless both have a u8 field 'images'
/// with images of the same shape, and a u8 field 'labels' with one label per image.
Shape image_shape(Context& ctx);

/// Checks image_shape() and the labels of the few samples that a check provides. Returns the shape of one image.
Shape check_images(Context& ctx);

/// Returns the shape of one image of the dataset to predict, which needs no labels. Throws UsageError unless it has a u8
/// field 'images' with images of one shape.
Shape image_shape(Predictions& predictions);

/// A model that computes logits [n, class_count] from f32 images [n, image_shape...] with values from 0 to 1.
struct Classifier {
  torch::nn::Module& model;
  std::function<torch::Tensor(const torch::Tensor& images)> forward;
  Shape image_shape;
  int eval_batch_size = 1000;
  bool draws_random_numbers = false;
};

/// Trains `classifier` on [data.train]. Reports `loss`, and `test_loss` and `test_accuracy` over [data.test].
/// Collective.
void train_classifier(Context& ctx, const TrainingSettings& settings, const Classifier& classifier);

/// Loads the checkpoint into `classifier` and predicts three fields per image: `logits` f32 [class_count]; `label` i64, the
/// class with the highest logit; `probability` f32, the softmax probability of that class. Collective.
void predict_classes(Context& ctx, Predictions& predictions, const Classifier& classifier);

}  // namespace trainrt::frameworks
