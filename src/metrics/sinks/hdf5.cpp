// Metrics sink "hdf5": writes metrics.h5 with the layout of hdf5_schemas/metrics.json. The file is built in memory and
// replaced by a rename, so readers always see a complete file.
#include "core/host.hpp"
#include "metrics/sink.hpp"
#include "metrics/typed_columns.hpp"

namespace trainrt::metrics {

namespace {

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(const SinkContext& context)
      : run_dir_(context.run_dir), interval_s_(context.options.real("interval")) {}

  void begin(const std::vector<Record>& history) override {
    records_ = history;
    changed_ = true;
    write_file();
  }
  void write(const Record& record) override {
    records_.push_back(record);
    changed_ = true;
  }
  void sync() override {
    if (changed_ && monotonic_seconds() - written_s_ >= interval_s_) write_file();
  }
  void end() override {
    if (changed_) write_file();
  }

 private:
  void write_file() {
    run_dir_.replace("metrics.h5", metrics_image(records_));
    written_s_ = monotonic_seconds();
    changed_ = false;
  }

  io::FencedDirectory run_dir_;
  double interval_s_;
  std::vector<Record> records_;
  bool changed_ = false;
  double written_s_ = 0;
};

}  // namespace

namespace plugins {

extern const SinkKind hdf5{
    .name = "hdf5",
    .help = "metrics.h5: /iteration and one dataset per key under /metrics",
    .options = {{.key = "interval",
                 .type = OptionType::real,
                 .default_value = "30",
                 .help = "minimum time between two writes of the file during the run",
                 .range = any_time,
                 .unit = "seconds"}},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<Hdf5Sink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
