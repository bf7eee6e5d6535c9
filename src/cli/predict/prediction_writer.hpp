#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/atomic_file.hpp"
#include "core/plugin.hpp"
#include "io/files/block_pool.hpp"
#include "io/files/positional_file.hpp"
#include "trainer/predictions/prediction.hpp"

namespace trainrt::cli {

/// What is written of predictions.
struct PredictedTable {
  std::vector<trainer::PredictedField> fields;
  std::uint64_t samples = 0;
  std::string checkpoint;  ///< its directory
  std::string function;
  std::string dataset;
  bool for_spreadsheets = false;  ///< in .csv: texts that a spreadsheet would take for a formula get an apostrophe
};

/// The rows that the ranks have written, field by field.
class PredictedValues {
 public:
  PredictedValues(const PredictedTable& table, trainer::PredictedRows rows);

  using Take = std::function<void(std::span<const std::byte> values)>;
  /// The values of a field for `count` samples from `first` on, in pieces of some MiB that hold whole values.
  void stream(std::size_t field, std::uint64_t first, std::uint64_t count, const Take& take);
  /// The same in one piece.
  std::vector<std::byte> of(std::size_t field, std::uint64_t first, std::uint64_t count);

 private:
  const PredictedTable& table_;
  trainer::PredictedRows rows_;
  io::PositionalFile file_;
  io::BlockPool pool_;
};

/// A plug-in: one file in cli/predict/writers. What predictions become.
struct PredictionWriter {
  std::string_view name;       ///< "csv"
  std::string_view extension;  ///< ".csv": chooses it
  std::string_view help;
  /// UsageError that says what cannot be written, before anything is predicted. nullptr if all can.
  void (*require)(const PredictedTable& table) = nullptr;
  /// Either: makes the whole file but for the rows, which all ranks then write where this says.
  std::vector<std::uint64_t> (*lay_out)(const PredictedTable& table, AtomicFile& file) = nullptr;
  /// or: writes the whole file from rows that lie in another one.
  void (*write)(const PredictedTable& table, PredictedValues& values, AtomicFile& file) = nullptr;
};

namespace predictions {
PluginTable<PredictionWriter> writer_table();
}

/// The writer for a file's name; UsageError that lists the extensions if there is none.
const PredictionWriter& prediction_writer_for(const std::string& path);

}  // namespace trainrt::cli
