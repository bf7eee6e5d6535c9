// Metrics sink "tensorboard": writes events.out.tfevents.trainrt with the numbers of each report, histograms of tensors,
// and the config.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/output/log.hpp"
#include "core/text/name_patterns.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "metrics/outputs/event_file.hpp"
#include "metrics/outputs/growing_file.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

constexpr const char* file_name = "events.out.tfevents.trainrt";
// Maximum size of the histograms in memory while the file cannot be written.
constexpr std::size_t max_unwritten_bytes = 64 << 20;

std::string lines_of(const std::vector<std::pair<std::string, std::string>>& config) {
  std::string lines;
  for (const auto& [key, value] : config) lines += fmt::format("{} = {}\n", key, value);
  return lines;
}

/// Metrics sink that writes the TensorBoard event file. The numbers in the event file can be restored from result.json.
/// Histograms are stored in the event file only, so rewrite() copies them from the old file.
class TensorBoardSink final : public Sink {
 public:
  explicit TensorBoardSink(const SinkContext& context)
      : config_(lines_of(context.config)),
        path_(context.run_dir.path() + "/" + file_name),
        file_(context.run_dir, file_name),
        patterns_(words_in(context.options.text("histograms"))),
        interval_(patterns_.empty() ? 1 : context.options.integer("histogram_interval")) {}

  void begin(const std::vector<Record>& history) override {
    records_ = history;
    rewrite();
  }
  bool wants_state(std::int64_t iteration) const override { return !patterns_.empty() && iteration % interval_ == 0; }
  void at_state(const State& state, const HostBytes& bytes_of) override {
    histograms_.clear();
    for (const auto& entry : state.tensors())
      if (is_selected_by(patterns_, entry.name) && !histograms_.contains(entry.name))
        histograms_[entry.name] = histogram_of(entry.local.dtype, bytes_of(entry));
    if (histograms_.empty() && !std::exchange(has_warned_, true))
      log::warning(fmt::format("[sink.tensorboard] histograms = {} matches no tensor of the State", join(patterns_)));
  }
  void write(const Record& record) override {
    const auto shown = std::exchange(histograms_, {});
    records_.push_back(record);
    if (!shown.empty()) hold(record.iteration, event_of(record, shown));
    if (!file_.is_complete()) return rewrite();
    file_.append(event_of(record) + (shown.empty() ? "" : unwritten_.at(record.iteration)));
    unwritten_.clear();
  }
  void end() override {
    if (!file_.is_complete()) rewrite();
  }

 private:
  void hold(std::int64_t iteration, std::string event) {
    std::size_t held = event.size();
    for (const auto& [_, earlier] : unwritten_) held += earlier.size();
    if (held > max_unwritten_bytes && !unwritten_.empty()) {
      if (!std::exchange(is_full_, true))
        log::warning(fmt::format("histograms are lost, because {} cannot be written", path_));
      unwritten_.erase(unwritten_.begin());
    }
    unwritten_[iteration] = std::move(event);
  }

  void rewrite() {
    const auto old = io::exists(path_) ? io::read_file(path_) : std::string();
    auto histograms = histogram_events(old);
    for (const auto& [iteration, event] : unwritten_) histograms[iteration] = event;
    auto bytes = event_file_head("```\n" + config_ + "```");  // TensorBoard renders texts as Markdown
    for (const auto& record : records_) {
      bytes += event_of(record);
      if (const auto found = histograms.find(record.iteration); found != histograms.end()) bytes += found->second;
    }
    file_.rewrite(bytes);
    unwritten_.clear();
  }

  std::string config_;
  std::string path_;
  GrowingFile file_;
  std::vector<std::string> patterns_;  ///< name patterns of the tensors to show as histograms
  std::int64_t interval_;              ///< number of reports between two histograms
  bool has_warned_ = false, is_full_ = false;
  std::vector<Record> records_;                    ///< all metric records of the run, for rewrite()
  std::map<std::string, Histogram> histograms_;    ///< histograms of the next report, by tensor name
  std::map<std::int64_t, std::string> unwritten_;  ///< events with histograms that are not in the file yet, by iteration
};

}  // namespace

namespace plugins {

extern const SinkKind tensorboard{
    .name = "tensorboard",
    .help = "events.out.tfevents.trainrt: scalars, histograms and the config for TensorBoard, tensorboard --logdir RUNS",
    .options = {{.key = "histograms",
                 .help = "tensors of the State to show as histograms: names with * and ?, separated by commas; '!NAME' "
                         "excludes a name; only rank 0's part of a sharded tensor is used"},
                {.key = "histogram_interval",
                 .type = OptionType::integer,
                 .default_value = "1",
                 .help = "number of reports from one histogram to the next",
                 .range = {.least = 1, .most = 1e9}}},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<TensorBoardSink>(context); },
    .reads_state = [](const Options& options) { return !options.text("histograms").empty(); }};

}  // namespace plugins

}  // namespace trainrt::metrics
