// events.out.tfevents.trainrt: what TensorBoard shows, written as it goes.
#include <fmt/format.h>

#include "metrics/event_file.hpp"
#include "metrics/growing_file.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

std::string lines_of(const std::vector<std::pair<std::string, std::string>>& config) {
  std::string lines;
  for (const auto& [key, value] : config) lines += fmt::format("{} = {}\n", key, value);
  return lines;
}

class TensorBoardSink final : public Sink {
 public:
  explicit TensorBoardSink(const SinkContext& context)
      : config_(lines_of(context.config)), file_(context.run_dir, "events.out.tfevents.trainrt") {}

  void begin(const std::vector<Record>& history) override {
    records_ = history;
    write_anew();
  }
  void write(const Record& record) override {
    records_.push_back(record);
    file_.is_whole() ? file_.append(event_of(record)) : write_anew();
  }
  void end() override {
    if (!file_.is_whole()) write_anew();
  }

 private:
  void write_anew() {
    auto bytes = event_file_head("```\n" + config_ + "```");  // a text is Markdown
    for (const auto& record : records_) bytes += event_of(record);
    file_.write_anew(bytes);
  }

  std::string config_;
  GrowingFile file_;
  std::vector<Record> records_;  ///< for the day when the file has to be written anew
};

}  // namespace

namespace plugins {

extern const SinkKind tensorboard{
    .name = "tensorboard",
    .help = "events.out.tfevents.trainrt: scalars and the config for TensorBoard, tensorboard --logdir RUNS",
    .options = {},
    .open = [](const SinkContext& context) -> std::unique_ptr<Sink> { return std::make_unique<TensorBoardSink>(context); }};

}  // namespace plugins

}  // namespace trainrt::metrics
