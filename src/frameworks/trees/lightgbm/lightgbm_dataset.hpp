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

/// What reading a set needs, of a run.
struct LightgbmRun {
  Context& ctx;
  const LightgbmLibrary& library;
  const LightgbmNetwork& network;
  const TableLayout& layout;
  const LightgbmParameters& parameters;
  LightgbmLibrary::Handle model = nullptr;  ///< that training goes on from; nullptr: none
  int trees_per_round = 1;                  ///< of it
  int rounds = 0;                           ///< of it
};

/// This rank's rows of [data.NAME] as LightGBM's Dataset, which holds the features in bins: the rows themselves are read in
/// blocks, and never there as a whole.
class LightgbmDataset {
 public:
  /// `reference`: whose bins it gets, the training set's; nullptr: it gets its own, which all ranks make together from a
  /// sample of their rows, as LightGBM draws it. Collective.
  LightgbmDataset(const LightgbmRun& run, const std::string& name, const LightgbmDataset* reference);

  const std::string& name() const { return name_; }
  LightgbmLibrary::Handle handle() const { return handle_.get(); }  ///< nullptr: this rank has no rows of it
  std::int32_t rows() const { return rows_; }

  // What metrics of this rank's rows weigh.
  double row_weight() const { return row_weight_; }      ///< the sum of the rows' weights
  double query_weight() const { return query_weight_; }  ///< the sum of the queries' weights, LightGBM's: the rows' means
  const std::vector<float>& labels() const { return labels_; }
  const std::vector<float>& weights() const { return weights_; }  ///< empty: every row counts 1

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
  std::vector<double> scores_;        ///< that training begins or goes on with: all rows of the first class, ...
  std::vector<double> block_scores_;  ///< of some rows: all classes of the first row, ...
  std::optional<LeafScores> leaf_scores_;
};

}  // namespace trainrt::frameworks::trees
