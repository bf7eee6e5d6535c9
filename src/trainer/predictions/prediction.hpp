#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/predictions.hpp>

#include "config/run_spec.hpp"
#include "launch/launcher.hpp"

namespace trainrt::trainer {

/// A field of what is predicted, or of the dataset that is kept beside it: as many values for each sample.
struct PredictedField {
  std::string name;
  DType dtype = DType::f32;
  Shape sample_shape;
  std::string kept_of;  ///< the dataset's field that it is a copy of; "": it is predicted
  /// Texts, UTF-8: u8 of the shape [bytes of the longest], shorter ones filled up with NULs.
  bool is_text = false;

  std::uint64_t row_bytes() const { return static_cast<std::uint64_t>(element_count(sample_shape)) * size_of(dtype); }
};

/// A field of the dataset that goes into the output too, and how it is called there.
struct KeptField {
  std::string field;
  std::string name;
};

/// Where all ranks write their rows: row i of field f lies at places[f] + i * row_bytes.
struct PredictedRows {
  std::string path;  ///< of a file that is there, which every rank sees
  std::vector<std::uint64_t> places;
};

/// What is predicted, with what, and who takes it.
struct PredictionJob {
  std::string function;
  std::function<void(Context&, Predictions&)> predict;
  CheckpointPlace checkpoint;
  std::string dataset;  ///< NAME of [data.NAME], which the spec has
  std::vector<KeptField> kept;
  // Rank 0's are called.
  std::function<PredictedRows(const std::vector<PredictedField>&, std::uint64_t samples)> make_rows;
  std::function<void()> complete;                                           ///< all rows are there and durable
  std::function<void(std::uint64_t done, std::uint64_t samples)> progress;  ///< about: as if all ranks were as far
};

/// Lets the train function predict, on all ranks; makes no run directory, and changes none. A rank writes its rows as they
/// come: nobody holds more than a batch. Collective. AgreedError for what all ranks have found together; anything else is
/// this rank's own, and the others wait for it somewhere (end_step()).
void predict(const config::RunSpec& spec, const PredictionJob& job, launch::Launch& launch, Communicator& communicator);

}  // namespace trainrt::trainer
