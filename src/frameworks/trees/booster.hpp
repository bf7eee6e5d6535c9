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

/// The values of the metrics of all datasets, by the name that the library gives to the metric: {"valid-logloss", 0.48}.
using Evaluation = std::vector<std::pair<std::string, double>>;

/// Trains one model with one library. Each rank holds a subset of the rows of [data.train]. Only the train thread may use a
/// Booster. Methods throw UsageError for parameters that the library refuses, and Error for other errors of the library.
class Booster {
 public:
  virtual ~Booster() = default;
  /// Creates the library's booster. If training resumes, the booster begins with the checkpoint's model. train() calls
  /// start() once, after the data were read. Collective.
  virtual void start() = 0;
  /// Adds the trees of one round to the model. Collective.
  virtual void update(int round) = 0;
  /// Returns all metrics of all datasets after the last round; the metrics of [data.train] come first. All ranks return
  /// equal values. Collective.
  virtual Evaluation evaluate(int round) = 0;
  /// Returns the model in the library's own format, for files/NAME of a checkpoint. `best_round`: the best round so far; -1
  /// if unknown. All ranks return the same bytes. Not collective.
  virtual std::string model(int best_round, double best_score) = 0;
  /// Returns whether a higher value of `metric` is better, for early stopping.
  virtual bool is_better_if_greater(std::string_view metric) const = 0;
};

/// A model that was loaded from a checkpoint for predictions.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;
  virtual std::size_t outputs() const = 0;  ///< number of values per row
  /// Predicts the rows of `block` with the library's own predict() and stores the results in `values` (rows x outputs,
  /// row-major). Not collective.
  virtual void predict(const RowBlock& block, std::vector<double>& values) = 0;
};

/// A key of [loop] that this library does not have: a key of LightGBM for XGBoost, and the reverse. `advice` states
/// which key to use instead, or why there is none.
struct ForeignKey {
  std::string_view key, advice;
};

/// A library of boosted trees (XGBoost or LightGBM) and the functions that use the library.
struct Library {
  std::string_view name;        ///< name of the train function
  std::string_view model_file;  ///< file name in files/ of a checkpoint: "model.ubj"
  std::array<ForeignKey, 3> foreign_keys;
  /// Reads all datasets and returns a Booster. `model`: the model of the last checkpoint, from which training resumes; ""
  /// to begin a new model. `rounds`: number of rounds of `model`. Collective.
  std::unique_ptr<Booster> (*open)(Context& ctx, const TableLayout& layout, const Parameters& parameters,
                                   const std::string& model, int rounds);
  /// Loads the model of a checkpoint for predictions. `rounds`: number of rounds to use; 0 uses all. Collective.
  std::unique_ptr<TrainedModel> (*load)(Context& ctx, const TableLayout& layout, const std::string& model,
                                        int rounds) = nullptr;
};

/// Returns the names of all datasets: "train", then the other names in alphabetical order.
std::vector<std::string> dataset_names(const Context& ctx);

/// Trains a model with the settings of [loop], reports each round, and saves the model in the checkpoints. Stops early if
/// [loop] sets early_stopping_rounds. A run that was killed and resumed ends with the same model, byte for byte, as an
/// uninterrupted run.
void train(Context& ctx, const Library& library);

/// Performs the steps of train() that precede the first round, on the samples that `trainrt check` provides: loads the
/// library, checks keys and fields, and creates a booster. Creates no booster if the config requests a GPU, since a login
/// node may not have a GPU.
void check(Context& ctx, const Library& library);

/// Predicts with the model of a checkpoint that train() has saved. The results equal those of the library's own predict():
/// all rounds are used, or the rounds up to the best round if early_stopping_rounds is set.
void predict(Context& ctx, Predictions& predictions, const Library& library);

}  // namespace trainrt::frameworks::trees
