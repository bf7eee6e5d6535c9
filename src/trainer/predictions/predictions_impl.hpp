#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/predictions.hpp>

#include "io/files/positional_file.hpp"
#include "trainer/predictions/prediction.hpp"

namespace trainrt {

/// The implementation of class Predictions, which writes the rows of one rank to the output file.
struct PredictionsImpl {
  PredictionsImpl(const trainer::PredictionJob& job, Context& context, double visible_timeout_s);

  void begin(const std::vector<Dataset::Field>& fields);
  void add(const Batch& batch, const std::vector<TensorView>& values);
  /// Syncs the output file and checks that the ranks together have added all samples. Called after the predict function
  /// returned. Collective.
  void end();

  const trainer::PredictionJob& job;
  Dataset dataset;

 private:
  std::vector<trainer::PredictedField> with_kept(const std::vector<Dataset::Field>& declared,
                                                 const std::map<std::string, std::int64_t>& text_sizes) const;
  void open_rows(const trainer::PredictedRows& rows);
  void write_kept(std::size_t field, const Batch& batch);
  void write(std::size_t field, const TensorView& values, std::span<const std::uint64_t> samples);

  Context& context_;
  double visible_timeout_s_;  // maximum time to wait until this node sees the output file
  std::vector<trainer::PredictedField> fields_;
  trainer::PredictedRows rows_;
  std::optional<io::PositionalFile> file_;
  std::uint64_t added_ = 0;  // number of samples that this rank has added
};

}  // namespace trainrt
