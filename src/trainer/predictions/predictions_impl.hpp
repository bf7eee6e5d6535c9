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

/// Behind the public Predictions: the rows of one rank.
struct PredictionsImpl {
  PredictionsImpl(const trainer::PredictionJob& job, Context& context, double visible_s);

  void begin(const std::vector<Dataset::Field>& fields);
  void add(const Batch& batch, const std::vector<TensorView>& values);
  /// The function has returned: the rows of all ranks are durable, and complete. Collective.
  void end();

  const trainer::PredictionJob& job;
  Dataset dataset;

 private:
  std::vector<trainer::PredictedField> with_kept(const std::vector<Dataset::Field>& declared,
                                                 const std::map<std::string, std::int64_t>& widths) const;
  void open_rows(const trainer::PredictedRows& rows);
  void write_kept(std::size_t field, const Batch& batch);
  void write(std::size_t field, const TensorView& values, std::span<const std::uint64_t> samples);

  Context& context_;
  double visible_s_;  // so long a file may take to be seen by all nodes
  std::vector<trainer::PredictedField> fields_;
  trainer::PredictedRows rows_;
  std::optional<io::PositionalFile> file_;
  std::uint64_t added_ = 0;
};

}  // namespace trainrt
