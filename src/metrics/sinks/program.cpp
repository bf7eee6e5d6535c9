// Metrics sink "program": sends each report as a line of JSON to the standard input of a program, which the user or the
// Python package trainrt.sinks provides (protocol: src/metrics/programs.md).
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/process/child_environment.hpp"
#include "io/files/file.hpp"
#include "metrics/outputs/program_feed.hpp"
#include "metrics/record_json.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& message) { return message.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n'; }

ProgramFeed::ReportLine line_of(const Record& record) {
  const auto text = fmt::format(R"({{"type":"report","iteration":{},"metrics":{}}})", record.iteration, to_json(record));
  return {record.iteration, text + '\n'};
}

Variables environment_of_program() {
  auto variables = without_launcher(inherited_environment());
  variables["PYTHONPATH"] = python_path(client_folder(), variables["PYTHONPATH"]);
  return variables;
}

/// Reads and writes the file sink_NAME.json, which stores for later attempts of the run the number of the last report that
/// the sink's program has confirmed.
class KeptReports {
 public:
  explicit KeptReports(const SinkContext& context)
      : run_dir_(context.run_dir), name_(fmt::format("sink_{}.json", context.name)), run_id_(context.run_id) {
    const auto path = run_dir_.path() + '/' + name_;
    if (!std::filesystem::exists(path)) return;
    const auto note = Json::parse(io::read_file(path), nullptr, false);
    // Ignores a file that is corrupt, or that was copied from another run.
    if (!note.is_object() || note.value("run_id", Json()) != run_id_) return;
    if (const auto kept = note.value("kept", Json()); kept.is_number_unsigned()) kept_ = kept.get<std::int64_t>();
    if (const auto dropped = note.value("dropped", Json()); dropped.is_number_unsigned())
      dropped_ = dropped.get<std::int64_t>();
  }

  std::int64_t kept() const { return kept_; }
  void write(std::int64_t kept, std::int64_t dropped) const {
    run_dir_.replace(name_, line_of(Json{{"run_id", run_id_}, {"kept", kept}, {"dropped", dropped_ + dropped}}));
  }

 private:
  io::FencedDirectory run_dir_;
  std::string name_, run_id_;
  std::int64_t kept_ = 0, dropped_ = 0;
};

class ProgramSink final : public Sink {
 public:
  explicit ProgramSink(SinkContext context) : context_(std::move(context)), kept_reports_(context_) {}

  void begin(const std::vector<Record>& history) override {
    io::make_directories(context_.run_dir.path() + "/logs");
    std::vector<ProgramFeed::ReportLine> backlog;
    for (const auto& record : history)
      if (record.iteration > kept_reports_.kept()) backlog.push_back(line_of(record));
    const auto& options = context_.options;
    feed_ = std::make_unique<ProgramFeed>(
        ProgramFeed::Setup{.name = "sink." + context_.name,
                           .command = options.text("program"),
                           .environment = environment_of_program(),
                           .log = fmt::format("{}/logs/sink.{}.log", context_.run_dir.path(), context_.name),
                           .kept = kept_reports_.kept(),
                           .queue = static_cast<std::size_t>(options.integer("queue")),
                           .wait_s = options.real("wait"),
                           .greeting = [this](std::int64_t kept) { return greeting(kept); },
                           .note = [this](std::int64_t kept, std::int64_t dropped) { kept_reports_.write(kept, dropped); }},
        std::move(backlog));
  }
  void write(const Record& record) override {
    if (feed_) feed_->add(line_of(record));
  }
  void end() override {
    if (feed_) feed_->end(line_of(Json{{"type", "end"}}));
  }

 private:
  std::string greeting(std::int64_t kept) const {
    auto config = Json::object();
    for (const auto& [key, value] : context_.config) config[key] = value;
    return line_of(Json{{"type", "begin"},
                        {"run", context_.run_name},
                        {"run_id", context_.run_id},
                        {"run_dir", context_.run_dir.path()},
                        {"after", kept},
                        {"config", std::move(config)}});
  }

  SinkContext context_;
  KeptReports kept_reports_;
  std::unique_ptr<ProgramFeed> feed_;
};

}  // namespace

namespace plugins {

extern const SinkKind program{
    .name = "program",
    .help =
        "sink_*.json: number of the last report that a program of your own has kept. The program receives each report as a "
        "line of JSON. A section [sink.NAME] of any other name defines a program, too",
    .options = {{.key = "program", .help = "command for /bin/sh, which runs on the node of rank 0", .required = true},
                {.key = "queue",
                 .type = OptionType::integer,
                 .default_value = "1000",
                 .help = "maximum number of reports that wait for a slow program; later reports are dropped and counted",
                 .range = {.least = 1, .most = 1e9}},
                {.key = "wait",
                 .type = OptionType::real,
                 .default_value = "10",
                 .help = "maximum time that the end of the run waits for the program",
                 .range = any_time,
                 .unit = "seconds"}},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<ProgramSink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
