#pragma once
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/predictions.hpp>

#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// Names and values of the metrics of all datasets, as the library names them: {"valid-logloss", 0.48}.
using Evaluation = std::vector<std::pair<std::string, double>>;

/// The training of one model by one library. Each rank holds a part of [data.train]. Used by the train thread only. Methods
/// throw UsageError for parameters that the library refuses, and Error for its other errors.
class Booster {
 public:
  virtual ~Booster() = default;
  /// Creates the library's booster, from the checkpoint's model if there is one. Called once, after the data are read.
  /// Collective.
  virtual void start() = 0;
  /// Adds the trees of one round to the model. Collective.
  virtual void update(int round) = 0;
  /// Returns all metrics of all datasets, train first, after the last round. The same on all ranks. Collective.
  virtual Evaluation evaluate(int round) = 0;
  /// Returns the model in the library's own format, for files/NAME of a checkpoint. `best_round`: the best round so far; -1
  /// if unknown. The same bytes on all ranks. Not collective.
  virtual std::string model(int best_round, double best_score) = 0;
  /// Returns whether a higher value of `metric` is better, for early stopping.
  virtual bool is_better_if_greater(std::string_view metric) const = 0;
};

/// A model for predictions.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;
  virtual std::size_t outputs() const = 0;  ///< number of values per row
  /// Fills `values` (rows x outputs, row-major) with the results of the library's own predict(). Not collective.
  virtual void predict(const RowBlock& block, std::vector<double>& values) = 0;
};

/// A key of [loop] that this library lacks but the other library of boosted trees has, and the key to use instead.
struct ForeignKey {
  std::string_view key, advice;
};

/// A library of boosted trees.
struct Library {
  std::string_view name;        ///< name of the train function
  std::string_view model_file;  ///< file name in files/ of a checkpoint: "model.ubj"
  std::array<ForeignKey, 3> foreign_keys;
  /// Reads all datasets. `model`: the model of the last checkpoint, with `rounds` rounds, from which training resumes; ""
  /// to begin a new model. Collective.
  std::unique_ptr<Booster> (*open)(Context& ctx, const TableLayout& layout, const Parameters& parameters,
                                   const std::string& model, int rounds);
  /// Loads the model of a checkpoint for predictions. `rounds`: number of rounds to use; 0 uses all. Collective.
  std::unique_ptr<TrainedModel> (*load)(Context& ctx, const TableLayout& layout, const std::string& model,
                                        int rounds) = nullptr;
};

/// Returns the names of the datasets, train first, then sorted.
std::vector<std::string> dataset_names(const Context& ctx);

/// Trains a model with the settings of [loop], reports each round, stops early if [loop] asks for it, and saves the model
/// in the checkpoints. A run that was killed or requeued ends with the same bytes as a run that never stopped.
void train(Context& ctx, const Library& library);

/// Performs the steps of train() before its first round on the samples that `trainrt check` provides: loads the library,
/// checks keys and fields, and creates a booster, unless the config asks for a GPU, which a login node may not have.
void check(Context& ctx, const Library& library);

/// Predicts with a checkpoint of a run of train(), like the library's own predict(): with all rounds, or up to the best
/// round if early stopping was used.
void predict(Context& ctx, Predictions& predictions, const Library& library);

}  // namespace trainrt::frameworks::trees
