#pragma once
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/export.hpp>
#include <trainrt/tensor.hpp>

namespace trainrt {

/// The task of TrainFunction::predict, which `trainrt predict` calls: the checkpoint, the dataset, and the output.
///
/// A Predictions object lives as long as that call; only the thread of the call may use it. Example:
///
///   void predict(trainrt::Context& ctx, trainrt::Predictions& predictions) {
///     Model model(ctx.config<int>("hidden"));                       // [loop] of the run that was trained
///     trainrt::State state;
///     state.tensor("model/w", model.w());                           // only the tensors that the prediction needs
///     ctx.load(state, predictions.checkpoint().path);
///     predictions.begin({{"score", trainrt::DType::f32, {}}});
///     auto data = predictions.dataset();
///     for (const auto& batch : data.epoch(0).batches(256, trainrt::Remainder::whole)) {
///       std::vector<float> scores = model.forward(batch.field("x"));
///       predictions.add(batch, {{scores.data(), trainrt::DType::f32, {std::ssize(scores)}}});
///     }
///   }
///
/// The function may call config(), dataset(), load(), communicator(), gpus(), log(), stop_point() and similar functions of
/// its Context. Functions of training, which are restore(), step(), report(), save() and observe(), throw UsageError.
class TRAINRT_API Predictions final {
 public:
  explicit Predictions(struct PredictionsImpl& impl) : impl_(impl) {}
  Predictions(const Predictions&) = delete;

  /// Returns the checkpoint to predict with, the same on all ranks. Pass its path to Context::load(). If it has files
  /// (has_files), they are in PATH/files/ and have been verified. Not collective.
  const CheckpointPlace& checkpoint() const;

  /// Returns the dataset to predict over, in the order of its source. It may lack fields that only training needs, such as
  /// labels. Not collective.
  Dataset dataset();
  const std::string& dataset_name() const;  ///< NAME of [data.NAME], for messages

  /// Declares the predicted fields of a sample: names (UTF-8 paths, as in a State), types, and shapes of one sample, which
  /// may not vary.
  ///
  /// Must be called once, after the checkpoint was loaded and before add(). Rank 0's `fields` are used; other ranks, which
  /// may have no batch to learn them from, may pass an empty list. Throws Error on all ranks for invalid names, for a name
  /// that a kept field (--keep) has, and for a second call. Collective.
  void begin(const std::vector<Dataset::Field>& fields);

  /// Writes the predicted values of the samples of `batch`, a batch of dataset().
  ///
  /// `values` has one view per declared field, in that order, in host memory, of shape [batch.size(), sample shape...].
  /// The values are written before add() returns. Every sample must be added exactly once, by any rank, in any order.
  /// Throws UsageError for other types or shapes, and before begin(); Error after a stop signal. Not collective.
  void add(const Batch& batch, const std::vector<TensorView>& values);

 private:
  struct PredictionsImpl& impl_;
};

}  // namespace trainrt
