// Metrics sink "csv": writes progress.csv with one row per report and one column per metric key, in the order in which the
// keys first appeared.
#include <algorithm>

#include "metrics/csv.hpp"
#include "metrics/outputs/growing_file.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

class CsvSink final : public Sink {
 public:
  explicit CsvSink(const SinkContext& context) : file_(context.run_dir, "progress.csv") {}

  void begin(const std::vector<Record>& history) override {
    records_ = history;
    columns_.clear();
    for (const auto& record : history) add_columns(record);
    rewrite();
  }

  void write(const Record& record) override {
    records_.push_back(record);
    if (add_columns(record) || !file_.is_complete())
      rewrite();
    else
      file_.append(csv_row(columns_, record));
  }

  void end() override {
    if (!file_.is_complete()) rewrite();
  }

 private:
  /// Adds a column for each new key of `record`, and returns whether there was a new key.
  bool add_columns(const Record& record) {
    const auto before = columns_.size();
    for (const auto& [key, value] : record.values)
      if (std::ranges::find(columns_, key) == columns_.end()) columns_.push_back(key);
    return columns_.size() > before;
  }

  void rewrite() {
    auto text = csv_header(columns_);
    for (const auto& record : records_) text += csv_row(columns_, record);
    file_.rewrite(text);
  }

  GrowingFile file_;
  std::vector<std::string> columns_;
  std::vector<Record> records_;  ///< all metric records of the run, for rewrite()
};

}  // namespace

namespace plugins {

extern const SinkKind csv{
    .name = "csv",
    .help = "progress.csv: one row per report",
    .options = {},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<CsvSink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
