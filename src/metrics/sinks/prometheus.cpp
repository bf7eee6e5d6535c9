// Metrics sink "prometheus": writes metrics.prom with the last report, in the text format that node exporter's textfile
// collector reads.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "io/files/file.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

std::string label(std::string_view text) {
  std::string escaped;
  for (const char each : text) {
    if (each == '\\' || each == '"') escaped += '\\';
    escaped += each == '\n' ? std::string("\\n") : std::string(1, each);
  }
  return '"' + escaped + '"';
}

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", number);
}

class PrometheusSink final : public Sink {
 public:
  explicit PrometheusSink(const SinkContext& context)
      : run_dir_(context.run_dir), run_(context.run_name), folder_(context.options.text("folder")) {}

  void begin(const std::vector<Record>& history) override {
    if (!history.empty()) last_ = history.back();
    put();
  }
  void expect_iterations(std::int64_t iterations) override { expected_ = iterations; }
  void at_step(std::int64_t step) override { step_ = step; }
  void write(const Record& record) override {
    last_ = record;
    put();
  }
  void end() override {
    is_running_ = false;
    put();
  }

 private:
  void put() const {
    if (folder_.empty()) return run_dir_.replace("metrics.prom", text());
    const auto path = fmt::format("{}/trainrt_{}.prom", folder_, run_);
    io::replace_file_unsynced(path, fmt::format("{}.{}", path, getpid()), text());
  }

  std::string text() const {
    std::string text;
    const auto add = [&](std::string_view name, std::string_view help, double value) {
      text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n{0}{{run={2}}} {3}\n", name, help, label(run_),
                          number_text(value));
    };
    add("trainrt_running", "1 while the run trains, 0 after its attempt has ended normally.", is_running_ ? 1 : 0);
    add("trainrt_step", "Number of completed steps of the run.", static_cast<double>(step_));
    add("trainrt_iteration", "Number of reports of the run so far.", static_cast<double>(last_.iteration));
    if (expected_ > 0)
      add("trainrt_iterations_expected", "Expected total number of reports of the run.", static_cast<double>(expected_));
    text += "# HELP trainrt_metric A metric of the last report, by key.\n# TYPE trainrt_metric gauge\n";
    for (const auto& [key, value] : last_.values)
      if (const auto number = Record::real_of(value))
        text += fmt::format("trainrt_metric{{run={},key={}}} {}\n", label(run_), label(key), number_text(*number));
    return text;
  }

  io::FencedDirectory run_dir_;
  std::string run_, folder_;
  Record last_;
  std::int64_t step_ = 0, expected_ = 0;
  bool is_running_ = true;
};

}  // namespace

namespace plugins {

extern const SinkKind prometheus{
    .name = "prometheus",
    .help = "metrics.prom: the last report, for the textfile collector of Prometheus' node exporter",
    .options = {{.key = "folder",
                 .type = OptionType::path,
                 .help = "directory of the collector on the node of rank 0, into which trainrt_RUN.prom is written; "
                         "default: the file is metrics.prom in the run directory"}},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<PrometheusSink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
