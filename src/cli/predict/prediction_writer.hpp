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

/// The description of a table of predictions.
struct PredictedTable {
  std::vector<trainer::PredictedField> fields;
  std::uint64_t samples = 0;
  std::string checkpoint;  ///< path of its directory
  std::string function;
  std::string dataset;
  /// For .csv: whether texts that a spreadsheet would evaluate as a formula are prefixed with an apostrophe.
  bool for_spreadsheets = false;
};

/// The rows that the ranks have written, stored field by field in one file.
class PredictedValues {
 public:
  PredictedValues(const PredictedTable& table, trainer::PredictedRows rows);

  using Take = std::function<void(std::span<const std::byte> values)>;
  /// Passes the values of field number `field` of `count` samples, from sample `first` on, to `take` in pieces of up to 4
  /// MiB, which contain complete values.
  void stream(std::size_t field, std::uint64_t first, std::uint64_t count, const Take& take);
  /// Returns the values that stream() would pass to `take`.
  std::vector<std::byte> read(std::size_t field, std::uint64_t first, std::uint64_t count);

 private:
  const PredictedTable& table_;
  trainer::PredictedRows rows_;
  io::PositionalFile file_;
  io::BlockPool pool_;
};

/// A plug-in that writes predictions in one file format. Each plug-in is one file in cli/predict/writers. It has either
/// `lay_out` or `write`.
struct PredictionWriter {
  std::string_view name;       ///< "csv"
  std::string_view extension;  ///< extension of the files in this format: ".csv"
  std::string_view help;
  /// Throws UsageError if the format cannot store the table; called before the prediction. nullptr: no restriction.
  void (*require)(const PredictedTable& table) = nullptr;
  /// Writes everything except the rows. Returns the offset of the rows of each field. All ranks then write their rows
  /// at these offsets.
  std::vector<std::uint64_t> (*lay_out)(const PredictedTable& table, AtomicFile& file) = nullptr;
  /// Writes the complete file. `values` are the rows, which the ranks have written to another file.
  void (*write)(const PredictedTable& table, PredictedValues& values, AtomicFile& file) = nullptr;
};

namespace predictions {
PluginTable<PredictionWriter> writer_table();
}

/// Returns the writer for the extension of `path`. Throws UsageError that lists the valid extensions for an unknown one.
const PredictionWriter& prediction_writer_for(const std::string& path);

}  // namespace trainrt::cli
