// Serves datasets to a Python program outside of a run, for example in a notebook.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/command_line/arguments.hpp"
#include "cli/data/data_tool.hpp"
#include "cli/data/source_choice.hpp"
#include "core/output/log.hpp"
#include "data/section/open_dataset.hpp"
#include "data/section/prepare.hpp"
#include "program/protocol/channel.hpp"
#include "program/protocol/dataset_service.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

using program::Channel;
using program::Json;
using program::Message;

constexpr std::string_view serve_usage = "data serve";

void replace_all(std::string& text, const std::string& part, std::string_view by) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
}

/// Returns an error message without the name of a dataset, which the Python package has generated.
std::string without_name(std::string text, const std::string& name) {
  replace_all(text, fmt::format("[data.{}]: ", name), "");
  replace_all(text, fmt::format("[data.{}]", name), "the dataset");
  replace_all(text, fmt::format("dataset '{}': ", name), "");
  replace_all(text, fmt::format("dataset '{}'", name), "the dataset");
  replace_all(text, fmt::format("data.{}.", name), "");
  return text;
}

/// The generated names of datasets, and a label for each: the dataset as Python prints it, "Dataset(in memory: x)". Log
/// messages show the label instead of the name. Thread-safe.
class Labels {
 public:
  void set(const std::string& name, const std::string& label) {
    const std::lock_guard lock(mutex_);
    label_of_[name] = label;
  }
  /// Returns the log message `text`, with the generated name of each dataset replaced by its label.
  std::string shown(std::string text) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, label] : label_of_) {
      if (text.find(name) == std::string::npos) continue;
      replace_all(text, fmt::format("dataset '{}'", name), label);
      replace_all(text, fmt::format("[data.{}]", name), label);
      text = without_name(std::move(text), name);
    }
    return text;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> label_of_;
};

/// Serves the datasets that one program has opened. The keys of a [data.NAME] define each dataset.
class Server {
 public:
  explicit Server(Channel channel) : channel_(std::move(channel)) {
    log::set_edit([labels = labels_](std::string text) { return labels->shown(std::move(text)); });
  }

  /// Answers messages until the program sends data_quit or closes the channel.
  void serve() {
    constexpr double timeout_s = 1;
    while (!has_ended_ && channel_.is_open())
      if (const auto message = channel_.receive(timeout_s)) channel_.send(answer(*message));
  }

 private:
  Json answer(const Message& message) try {
    if (message.op == "data_open") return {{"ok", open(message.body)}};
    if (message.op == "data_quit") {
      has_ended_ = true;
      return {{"ok", Json::object()}};
    }
    if (auto served = service_.reply(message)) return {{"ok", *std::move(served)}};
    throw UsageError(fmt::format("unknown message '{}'", message.op));
  } catch (const Error& error) {
    return {{"error", without_names(error.what(), message.body)}, {"usage", error.code() == ExitCode::usage}};
  }

  /// Returns an error message without the generated names: those of the opened datasets, and the name in the request
  /// `body`.
  std::string without_names(std::string text, const Json& body) const {
    if (const auto name = body.find("name"); name != body.end() && name->is_string())
      text = without_name(std::move(text), name->get<std::string>());
    for (const auto& [name, dataset] : opened_) text = without_name(std::move(text), name);
    return text;
  }

  Json open(const Json& body) {
    const auto name = program::text_field(body, "name");
    labels_->set(name, program::text_field(body, "label", "the dataset"));
    Options options;
    for (const auto& [key, text] : program::field(body, "keys", Json::value_t::object).items())
      options.set(key, {text.get<std::string>(), "trainrt.data"});
    require_current_keys(options);
    const auto listing = data::list_dataset(name, options);
    const auto seed = static_cast<std::uint64_t>(program::number_field(body, "seed"));
    const auto dataset = data::open_dataset(name, options, listing, Shard{}, seed);
    data::prepare(*dataset, options, listing);
    opened_.insert_or_assign(name, dataset);
    return Json::object();
  }

  Channel channel_;
  bool has_ended_ = false;
  std::shared_ptr<Labels> labels_ = std::make_shared<Labels>();
  std::map<std::string, std::shared_ptr<DatasetImpl>> opened_;
  program::DatasetService service_{[this](const std::string& name) {
    const auto found = opened_.find(name);
    return found == opened_.end() ? std::nullopt : std::optional(Dataset(found->second));
  }};
};

ExitCode serve_datasets(std::span<const std::string> words) {
  parse_arguments(words, {.usage = serve_usage});
  Server(Channel::over(Descriptor(dup(STDIN_FILENO)))).serve();
  return ExitCode::finished;
}

}  // namespace

extern const DataTool serve;
const DataTool serve{.name = "serve",
                     .group = CommandGroup::data,
                     .order = 4,
                     .usage = serve_usage,
                     .help = "serve datasets to the Python package trainrt.data outside of a run",
                     .notes = "The Python package starts this tool itself, and sends it messages over standard input.\n",
                     .run = serve_datasets};

}  // namespace trainrt::cli::datasets::plugins
