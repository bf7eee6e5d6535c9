// metrics.h5: what hdf5_schemas/metrics.json says. Built in memory, written aside and renamed: readers see a whole file.
#include "core/host.hpp"
#include "io/file.hpp"
#include "metrics/columns.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

constexpr double min_seconds_between_writes = 30;

class Hdf5Sink final : public Sink {
 public:
  explicit Hdf5Sink(const SinkContext& context) : path_(context.run_dir + "/metrics.h5") {}

  void begin(const std::vector<Record>& history) override {
    records_ = history;
    write_file();
  }
  void write(const Record& record) override {
    records_.push_back(record);
    changed_ = true;
  }
  void sync() override {
    if (changed_ && monotonic_seconds() - written_s_ >= min_seconds_between_writes) write_file();
  }
  void end() override {
    if (changed_) write_file();
  }

 private:
  void write_file() {
    io::replace_file(path_, metrics_image(records_));
    written_s_ = monotonic_seconds();
    changed_ = false;
  }

  std::string path_;
  std::vector<Record> records_;
  bool changed_ = false;
  double written_s_ = 0;
};

}  // namespace

namespace plugins {

extern const SinkKind hdf5{
    .name = "hdf5",
    .help = "metrics.h5: /iteration and one dataset a key under /metrics",
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<Hdf5Sink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
