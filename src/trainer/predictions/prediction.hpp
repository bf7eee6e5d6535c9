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

/// A field of the output: predicted, or copied from the dataset. All samples have the same number of values.
struct PredictedField {
  std::string name;
  DType dtype = DType::f32;
  Shape sample_shape;
  std::string kept_of;  ///< field of the dataset of which this is a copy; "": predicted
  /// The field has UTF-8 texts: u8 of shape [bytes of the longest text], shorter texts padded with NULs.
  bool is_text = false;

  std::uint64_t row_bytes() const { return static_cast<std::uint64_t>(element_count(sample_shape)) * size_of(dtype); }
};

/// A field of the dataset that is copied to the output, and its name there.
struct KeptField {
  std::string field;
  std::string name;
};

/// The file to which all ranks write their rows. Row i of field f is written at byte offsets[f] + i * row_bytes.
struct PredictedRows {
  std::string path;  ///< of an existing file on a file system that all ranks share
  std::vector<std::uint64_t> offsets;
};

/// The task of predict().
struct PredictionJob {
  std::string function;  ///< name of the train function, for messages
  std::function<void(Context&, Predictions&)> predict;
  CheckpointPlace checkpoint;
  std::string dataset;  ///< NAME of a section [data.NAME] of the config
  std::vector<KeptField> kept;
  // Functions that are called on rank 0 only:
  std::function<PredictedRows(const std::vector<PredictedField>&, std::uint64_t samples)> make_rows;  ///< creates the file
  std::function<void()> complete;  ///< called when all rows are durable
  /// `done`: estimated number of predicted samples of all ranks, from the progress of rank 0.
  std::function<void(std::uint64_t done, std::uint64_t samples)> progress;
};

/// Calls the predict function of a train function on all ranks. Creates and changes no run directory. Each rank writes its
/// rows when add() is called, so that a rank keeps one batch in memory. Collective. Throws AgreedError for errors on which
/// all ranks agree. After any other exception, other ranks may wait for this one: the caller must call abort_step().
void predict(const config::RunSpec& spec, const PredictionJob& job, launch::Launch& launch, Communicator& communicator);

}  // namespace trainrt::trainer
