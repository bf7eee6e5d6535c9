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

/// What `trainrt predict` hands to TrainFunction::predict beside a Context: which checkpoint, over which dataset, and where
/// the predicted values go. It lives as long as that call; only its thread may use it.
///
///   void predict(trainrt::Context& ctx, trainrt::Predictions& predictions) {
///     Model model(ctx.config<int>("hidden"));                       // [loop] is that of the run that was trained
///     trainrt::State state;
///     state.tensor("model/w", model.w());                           // only what the prediction needs
///     ctx.load(state, predictions.checkpoint().path);
///     predictions.begin({{"score", trainrt::DType::f32, {}}});
///     auto data = predictions.dataset();
///     for (const auto& batch : data.epoch(0).batches(256, trainrt::Remainder::whole)) {
///       std::vector<float> scores = model.forward(batch.field("x"));
///       predictions.add(batch, {{scores.data(), trainrt::DType::f32, {std::ssize(scores)}}});
///     }
///   }
///
/// Of the Context it may call what reads: config(), dataset(), load(), communicator(), gpus(), log(), stop_point() and the
/// like. What belongs to training (restore(), step(), report(), save(), observe()) throws UsageError: no run is under way.
class TRAINRT_API Predictions final {
 public:
  explicit Predictions(struct PredictionsImpl& impl) : impl_(impl) {}
  Predictions(const Predictions&) = delete;

  /// The checkpoint to predict with, the same on all ranks. Context::load() takes its path; what report() was given a
  /// directory of lies in PATH/files/ (has_files), and was found undamaged.
  const CheckpointPlace& checkpoint() const;

  /// The dataset to predict over: [data.NAME] as the user has chosen it. It need not have the fields that training needs
  /// besides the inputs (labels). It is not shuffled.
  Dataset dataset();
  const std::string& dataset_name() const;  ///< NAME, for messages

  /// Declares what is predicted for each sample: names as those of a State (paths of UTF-8), types, shapes of one sample,
  /// which may not vary. Once, before add(), after the checkpoint was loaded. Collective; rank 0's count, others may give
  /// none: so a rank that has no batch need not know what a model would have returned. UsageError on all ranks for names
  /// that cannot be, or that a field has that is kept (--keep).
  void begin(const std::vector<Dataset::Field>& fields);

  /// The values for the samples of a batch of dataset(): one view for each declared field, in their order, in memory of the
  /// host, of shape [batch.size(), sample shape...]. They are written before it returns. Every sample of the dataset must
  /// be given once, by any rank, in any order. Not collective. UsageError for other types and shapes, and if begin() was
  /// not called; Error if a stop signal came.
  void add(const Batch& batch, const std::vector<TensorView>& values);

 private:
  struct PredictionsImpl& impl_;
};

}  // namespace trainrt
