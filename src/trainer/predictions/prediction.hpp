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

/// A field of the output of a prediction. The field is predicted, or copied from the dataset. All samples have the same
/// number of values.
struct PredictedField {
  std::string name;
  DType dtype = DType::f32;
  Shape sample_shape;
  std::string kept_of;  ///< name of the dataset's field that is copied; "": the field is predicted
  /// Whether the field has UTF-8 texts. Its values are u8 of shape [bytes of the longest text]; shorter texts are padded
  /// with NULs.
  bool is_text = false;

  std::uint64_t row_bytes() const { return static_cast<std::uint64_t>(element_count(sample_shape)) * size_of(dtype); }
};

/// A field of the dataset that is copied to the output, and the name of the copy in the output.
struct KeptField {
  std::string field;
  std::string name;
};

/// The file to which all ranks write rows of a prediction. Row i of field f begins at byte offsets[f] + i * row_bytes of f.
struct PredictedRows {
  std::string path;  ///< path of an existing file on a file system that all ranks share
  std::vector<std::uint64_t> offsets;
};

/// The task of predict(): the dataset, the checkpoint, the output, and the functions that rank 0 calls.
struct PredictionJob {
  std::string function;  ///< name of the train function, for messages
  std::function<void(Context&, Predictions&)> predict;
  CheckpointPlace checkpoint;
  std::string dataset;  ///< NAME of a section [data.NAME] of the config
  std::vector<KeptField> kept;
  // Functions that are called on rank 0 only:
  std::function<PredictedRows(const std::vector<PredictedField>&, std::uint64_t samples)>
      make_rows;                   ///< creates the output file
  std::function<void()> complete;  ///< called when all rows are durable
  /// Reports progress. `done` is the estimated number of samples that all ranks have predicted, computed from rank 0's
  /// number. `samples` is the number of samples in the dataset.
  std::function<void(std::uint64_t done, std::uint64_t samples)> progress;
};

/// Calls the predict function of a train function on all ranks. Does not create or change a run directory. Each rank writes
/// the rows of a batch when Predictions::add() is called, so a rank keeps one batch in memory. Collective. Throws
/// AgreedError if all ranks fail together. After any other exception, other ranks may wait for this rank, and the caller
/// must call abort_step().
void predict(const config::RunSpec& spec, const PredictionJob& job, launch::Launch& launch, Communicator& communicator);

}  // namespace trainrt::trainer
