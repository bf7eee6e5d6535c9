#pragma once
#include <trainrt/predictions.hpp>

#include "training.hpp"

namespace trainrt::frameworks {

constexpr std::int64_t class_count = 10;

/// The shape of one image of [data.train] and [data.test]. UsageError unless both hold u8 images of one shape in a field
/// 'images', with one u8 label each in a field 'labels'.
Shape image_shape(Context& ctx);

/// What a start checks of the data: image_shape(), and the labels of the first samples. Returns the shape.
Shape check_images(Context& ctx);

/// The shape of one image of the dataset to predict over, which needs no labels. UsageError unless it holds u8 images of
/// one shape in a field 'images'.
Shape image_shape(Predictions& predictions);

/// Trains a model that makes logits [n, class_count] of images [n, shape...], f32 in [0, 1], and reports `loss`, and over
/// [data.test] `test_loss` and `test_accuracy`.
struct Classifier {
  torch::nn::Module& model;
  std::function<torch::Tensor(const torch::Tensor& images)> forward;
  Shape image_shape;
  int eval_batch_size = 1000;
  bool draws_random_numbers = false;
};
void train_classifier(Context& ctx, const TrainingSettings& settings, const Classifier& classifier);

/// What such a model says of each image once the checkpoint is loaded into it: `logits` f32 [class_count], `label` i64, the
/// class of the largest, and `probability` f32, that of this class (softmax).
void predict_classes(Context& ctx, Predictions& predictions, const Classifier& classifier);

}  // namespace trainrt::frameworks
