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

/// A metric of an evaluation set as its library names it: {"valid-logloss", 0.48}.
using Evaluation = std::vector<std::pair<std::string, double>>;

/// One library's training on this rank, on the ranks' parts of [data.train] together. The train thread uses it. What the
/// library reports as an error is thrown: UsageError for parameters that it refuses, else Error.
class Booster {
 public:
  virtual ~Booster() = default;
  /// Once, after the data are read: makes the library's booster, which goes on from the checkpoint's model. Collective.
  virtual void start() = 0;
  /// Grows the trees of a round. Collective.
  virtual void update(int round) = 0;
  /// All sets, train first, each with all metrics, after the last round: the same on all ranks. Collective.
  virtual Evaluation evaluate(int round) = 0;
  /// The model in the library's own format, as files/NAME of a checkpoint holds it. `best_round` < 0: not known. The same
  /// bytes on all ranks; not collective.
  virtual std::string model(int best_round, double best_score) = 0;
  /// Whether more of that metric is better, which early stopping asks.
  virtual bool is_better_if_greater(std::string_view metric) const = 0;
};

/// A model that is only used.
class TrainedModel {
 public:
  virtual ~TrainedModel() = default;
  virtual std::size_t outputs() const = 0;  ///< numbers that it gives for a row
  /// Fills `values`, rows x outputs, row-major, with what the library's own predict() gives. Not collective.
  virtual void predict(const RowBlock& block, std::vector<double>& values) = 0;
};

/// A key of [loop] that is another library's, and why it is none of this one.
struct NotItsKey {
  std::string_view key, why;
};

/// A library of boosted trees.
struct Library {
  std::string_view name;        ///< the train function's
  std::string_view model_file;  ///< in files/ of a checkpoint: "model.ubj"
  std::array<NotItsKey, 3> not_its_keys;
  /// Reads the data of all sets. `model`: what the last checkpoint holds, which training goes on from after `rounds`
  /// rounds; "": a new one. Collective.
  std::unique_ptr<Booster> (*open)(Context& ctx, const TableLayout& layout, const Parameters& parameters,
                                   const std::string& model, int rounds);
  /// The model of a checkpoint for predictions. `rounds`: so many of it count; 0: all. Collective.
  std::unique_ptr<TrainedModel> (*load)(Context& ctx, const TableLayout& layout, const std::string& model,
                                        int rounds) = nullptr;
};

/// Trains as [loop] and the library say, reports each round, stops early if that is asked for, and keeps the model in the
/// checkpoints. Killed, stopped and requeued it ends with the bytes of a run that never stopped.
void train(Context& ctx, const Library& library);

/// Does what train() does before its first round, over the samples that `trainrt check` gives: loads the library, requires
/// its keys and fields, and makes a booster. Of a config that asks for a GPU no booster is made: a login node may have
/// none.
void check(Context& ctx, const Library& library);

/// Predicts with a checkpoint of such a run, as the library's own predict() does: with all rounds, or after early stopping
/// up to the best one.
void predict(Context& ctx, Predictions& predictions, const Library& library);

}  // namespace trainrt::frameworks::trees
