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

/// The input and output of TrainFunction::predict, which the command `trainrt predict` calls: the checkpoint, the dataset,
/// and the predicted values.
///
/// A Predictions object lives as long as that call; only the thread of the call may use the object. Example:
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
/// its Context. The functions for training (restore(), step(), report(), save() and observe()) throw UsageError.
class TRAINRT_API Predictions final {
 public:
  explicit Predictions(struct PredictionsImpl& impl) : impl_(impl) {}
  Predictions(const Predictions&) = delete;

  /// Returns the checkpoint of the model, the same on all ranks. Pass its path to Context::load(). If the checkpoint has
  /// files (has_files), they are in PATH/files/ and have been verified. Not collective.
  const CheckpointPlace& checkpoint() const;

  /// Returns the dataset of the samples for which the model predicts values, in the order of its data source. The dataset
  /// may lack fields that only training needs, such as labels. Not collective.
  Dataset dataset();
  const std::string& dataset_name() const;  ///< name of the dataset, NAME of config section [data.NAME], for messages

  /// Declares the predicted fields of a sample: their names (UTF-8 paths, as in a State), types, and shapes per sample,
  /// which may not vary.
  ///
  /// Must be called once, after the checkpoint was loaded and before add(). Rank 0's `fields` are used. Other ranks may
  /// pass an empty list, because they may have no batch from which to derive the fields. Throws Error on all ranks for an
  /// invalid name, for the name of a field of the dataset that --keep copies to the output, and for a second call.
  /// Collective.
  void begin(const std::vector<Dataset::Field>& fields);

  /// Writes the predicted values of all samples of `batch`, which must be a batch of dataset().
  ///
  /// `values` has one view of host memory per declared field, in the order of the declaration, of shape [batch.size(),
  /// sample shape...]. The values are written before add() returns. Every sample must be added exactly once, by any rank,
  /// in any order. Throws UsageError for other types or shapes, and if begin() was not called; throws Error after a stop
  /// signal. Not collective.
  void add(const Batch& batch, const std::vector<TensorView>& values);

 private:
  struct PredictionsImpl& impl_;
};

}  // namespace trainrt
