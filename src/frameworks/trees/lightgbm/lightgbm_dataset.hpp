#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <trainrt/context.hpp>

#include "frameworks/trees/lightgbm/leaf_scores.hpp"
#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/lightgbm/lightgbm_network.hpp"
#include "frameworks/trees/lightgbm/lightgbm_parameters.hpp"
#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// References to everything that is needed to read a dataset of a run, and the model to resume from.
struct LightgbmRun {
  Context& ctx;
  const LightgbmLibrary& library;
  const LightgbmNetwork& network;
  const TableLayout& layout;
  const LightgbmParameters& parameters;
  LightgbmLibrary::Handle model = nullptr;  ///< model from which training resumes; nullptr for a new model
  int trees_per_round = 1;                  ///< of `model`
  int rounds = 0;                           ///< of `model`
};

/// This rank's rows of [data.NAME] as LightGBM's Dataset, which stores features as bins. The rows are read in blocks, and
/// are never completely in memory.
class LightgbmDataset {
 public:
  /// `reference`: the training dataset; this dataset uses its bins. It is nullptr for the training dataset itself; all
  /// ranks then compute the bins together, from a sample of their rows that is drawn as LightGBM draws it. Collective.
  LightgbmDataset(const LightgbmRun& run, const std::string& name, const LightgbmDataset* reference);

  const std::string& name() const { return name_; }
  LightgbmLibrary::Handle handle() const { return handle_.get(); }  ///< nullptr if this rank has no rows
  std::int32_t rows() const { return rows_; }

  // The weights with which this rank's values of metrics are combined with those of other ranks.
  double row_weight() const { return row_weight_; }  ///< sum of the rows' weights
  double query_weight() const {
    return query_weight_;
  }  ///< sum of the queries' weights; in LightGBM a query has the mean weight of its rows
  const std::vector<float>& labels() const { return labels_; }
  const std::vector<float>& weights() const { return weights_; }  ///< empty if every row has weight 1

 private:
  void make_bins(const LightgbmRun& run, TableRows& rows);
  void read_rows(const LightgbmRun& run, TableRows& rows);
  void push(const LightgbmRun& run, const RowBlock& block, std::int32_t first);
  void keep_scores(const LightgbmRun& run, const RowBlock& block, std::size_t first);
  void predict(const LightgbmRun& run, const RowBlock& block);
  void set_fields(const LightgbmRun& run, TableRows& rows);
  void set_field(const LightgbmRun& run, const char* name, const void* values, std::size_t count,
                 LightgbmLibrary::Type type);

  std::string name_;
  LightgbmHandle handle_;
  std::int32_t rows_ = 0;
  double row_weight_ = 0, query_weight_ = 0;
  std::vector<float> labels_, weights_;
  std::vector<double> scores_;        ///< initial scores for training: all rows of class 0, then of class 1, ...
  std::vector<double> block_scores_;  ///< of a block: all classes of row 0, then of row 1, ...
  std::optional<LeafScores> leaf_scores_;
};

}  // namespace trainrt::frameworks::trees
