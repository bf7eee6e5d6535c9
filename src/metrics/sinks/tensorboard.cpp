// events.out.tfevents.trainrt: what TensorBoard shows, written as it goes.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/output/log.hpp"
#include "core/text/name_patterns.hpp"
#include "core/text/text.hpp"
#include "io/file.hpp"
#include "metrics/event_file.hpp"
#include "metrics/growing_file.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

constexpr const char* file_name = "events.out.tfevents.trainrt";
constexpr std::size_t most_unwritten = 64 << 20;  // bytes of histograms that are held while the file cannot be written

std::string lines_of(const std::vector<std::pair<std::string, std::string>>& config) {
  std::string lines;
  for (const auto& [key, value] : config) lines += fmt::format("{} = {}\n", key, value);
  return lines;
}

/// The numbers can be had again from result.json. Histograms are in this file alone: when it is written anew they are taken
/// over from what is there.
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
    write_anew();
  }
  bool wants_state(std::int64_t iteration) const override { return !patterns_.empty() && iteration % interval_ == 0; }
  void at_state(const State& state, const HostBytes& bytes_of) override {
    histograms_.clear();
    for (const auto& entry : state.tensors())
      if (is_selected_by(patterns_, entry.name) && !histograms_.contains(entry.name))
        histograms_[entry.name] = histogram_of(entry.local.dtype, bytes_of(entry));
    if (histograms_.empty() && !std::exchange(is_said_, true))
      log::warning(
          fmt::format("no tensor of the State has a name that [sink.tensorboard] histograms = {} means", join(patterns_)));
  }
  void write(const Record& record) override {
    const auto shown = std::exchange(histograms_, {});
    records_.push_back(record);
    if (!shown.empty()) hold(record.iteration, event_of(record, shown));
    if (!file_.is_whole()) return write_anew();
    file_.append(event_of(record) + (shown.empty() ? "" : unwritten_.at(record.iteration)));
    unwritten_.clear();
  }
  void end() override {
    if (!file_.is_whole()) write_anew();
  }

 private:
  void hold(std::int64_t iteration, std::string event) {
    std::size_t held = event.size();
    for (const auto& [_, earlier] : unwritten_) held += earlier.size();
    if (held > most_unwritten && !unwritten_.empty()) {
      if (!std::exchange(is_full_, true))
        log::warning(fmt::format("histograms are lost, since {} cannot be written", path_));
      unwritten_.erase(unwritten_.begin());
    }
    unwritten_[iteration] = std::move(event);
  }

  void write_anew() {
    const auto there = io::exists(path_) ? io::read_file(path_) : std::string();
    auto histograms = histogram_events(there);
    for (const auto& [iteration, event] : unwritten_) histograms[iteration] = event;
    auto bytes = event_file_head("```\n" + config_ + "```");  // a text is Markdown
    for (const auto& record : records_) {
      bytes += event_of(record);
      if (const auto found = histograms.find(record.iteration); found != histograms.end()) bytes += found->second;
    }
    file_.write_anew(bytes);
    unwritten_.clear();
  }

  std::string config_;
  std::string path_;
  GrowingFile file_;
  std::vector<std::string> patterns_;  ///< of tensors that histograms are made of
  std::int64_t interval_;              ///< reports
  bool is_said_ = false, is_full_ = false;
  std::vector<Record> records_;                    ///< for the day when the file has to be written anew
  std::map<std::string, Histogram> histograms_;    ///< of the report that is written next
  std::map<std::int64_t, std::string> unwritten_;  ///< events of histograms, by iteration
};

}  // namespace

namespace plugins {

extern const SinkKind tensorboard{
    .name = "tensorboard",
    .help = "events.out.tfevents.trainrt: scalars, histograms and the config for TensorBoard, tensorboard --logdir RUNS",
    .options = {{.key = "histograms",
                 .help = "tensors of the State whose values are shown as histograms: names with * and ?, separated by "
                         "commas, '!NAME' keeps out; of a sharded tensor rank 0's part"},
                {.key = "histogram_interval",
                 .type = OptionType::integer,
                 .default_value = "1",
                 .help = "at every so manieth report",
                 .range = {.least = 1, .most = 1e9}}},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<TensorBoardSink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
