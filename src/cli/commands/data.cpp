// Datasets without a run: for a program that looks at one before it trains, or in a notebook.
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "data/open_dataset.hpp"
#include "frameworks/program/channel.hpp"
#include "frameworks/program/dataset_service.hpp"
#include "frameworks/program/fields.hpp"

namespace trainrt::cli::plugins {

namespace {

using program::Channel;
using program::Json;
using program::Message;

constexpr std::string_view data_usage = "data serve";

/// The datasets that one program has opened, each by the keys of a [data.NAME].
class Server {
 public:
  explicit Server(Channel channel) : channel_(std::move(channel)) {}

  /// Until the program says that it ends, or closes its end.
  void serve() {
    constexpr double look_s = 1;
    while (!has_ended_ && channel_.is_open())
      if (const auto message = channel_.receive(look_s)) channel_.send(answer(*message));
  }

 private:
  Json answer(const Message& message) try {
    if (message.op == "data_open") return {{"ok", open(message.body)}};
    if (message.op == "data_quit") {
      has_ended_ = true;
      return {{"ok", Json::object()}};
    }
    if (auto served = service_.reply(message)) return {{"ok", *std::move(served)}};
    throw UsageError(fmt::format("the message '{}' is unknown", message.op));
  } catch (const Error& error) {
    return {{"error", error.what()}, {"usage", error.code() == ExitCode::usage}};
  }

  Json open(const Json& body) {
    const auto name = program::text_field(body, "name");
    Options options;
    for (const auto& [key, text] : program::field(body, "keys", Json::value_t::object).items())
      options.set(key, {text.get<std::string>(), "trainrt.data"});
    const auto listing = data::list_dataset(name, options);
    const auto seed = static_cast<std::uint64_t>(program::number_field(body, "seed"));
    opened_.insert_or_assign(name, Dataset(data::open_dataset(name, options, listing, Shard{}, seed)));
    return Json::object();
  }

  Channel channel_;
  bool has_ended_ = false;
  std::map<std::string, Dataset> opened_;
  program::DatasetService service_{[this](const std::string& name) {
    const auto found = opened_.find(name);
    return found == opened_.end() ? std::nullopt : std::optional(found->second);
  }};
};

ExitCode data_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(
      words, {.with_value = {}, .switches = {}, .least_operands = 1, .most_operands = 1, .usage = std::string(data_usage)});
  if (arguments.operands.front() != "serve")
    throw UsageError(fmt::format("trainrt data {}: valid is: {}", arguments.operands.front(), data_usage));
  Server(Channel::over(program::Descriptor(dup(STDIN_FILENO)))).serve();
  return ExitCode::finished;
}

}  // namespace

extern const Command data;
const Command data{.name = "data",
                   .usage = data_usage,
                   .help = "gives the Python package trainrt.data its datasets outside of a run",
                   .details =
                       "Reads messages from the socket that is its standard input; the package starts it by itself, and "
                       "it ends with the program that did.\n",
                   .run = data_command};

}  // namespace trainrt::cli::plugins
