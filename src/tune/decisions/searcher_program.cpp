#include "tune/decisions/searcher_program.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/process/child_process.hpp"
#include "core/text/json_number.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::tune {

namespace {

using Json = nlohmann::ordered_json;

constexpr double max_seconds = 600;

bool is_grid(const Domain& domain) {
  const auto* choice = std::get_if<Choice>(&domain);
  return choice != nullptr && choice->is_grid;
}

Json described(const Domain& domain) {
  if (const auto* choice = std::get_if<Choice>(&domain)) return {{"type", "choice"}, {"values", choice->values}};
  const auto& interval = std::get<Interval>(domain);
  return {{"type", interval.is_whole ? "whole" : "real"},
          {"low", interval.low},
          {"high", interval.high},
          {"step", interval.step},
          {"log", interval.is_log}};
}

/// Returns the value as text; nullopt if it is outside of the domain.
std::optional<std::string> value_in(const Json& json, const Domain& domain) {
  const auto text = json.is_string() ? json.get<std::string>() : json.dump();
  if (const auto* choice = std::get_if<Choice>(&domain))
    return std::ranges::count(choice->values, text) > 0 ? std::optional(text) : std::nullopt;
  const auto& interval = std::get<Interval>(domain);
  const auto number = parse_real(text);
  if (!number || *number < interval.low || *number > interval.high) return std::nullopt;
  if (interval.is_whole && (!parse_integer(text) || *number >= interval.high)) return std::nullopt;
  if (interval.is_whole && interval.step > 1 && std::fmod(*number, interval.step) != 0) return std::nullopt;
  return text;
}

/// A file that contains a question for the searcher program. The destructor removes the file.
class Question {
 public:
  Question(const std::string& folder, std::uint64_t trial, const std::string& text)
      : path_(io::temporary_beside(fmt::format("{}/ask-{}", folder, trial))) {
    unlink_guarded(path_);
    io::write_file(path_, text);
  }
  ~Question() { unlink_guarded(path_); }
  Question(const Question&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string question_of(const Sweep& sweep, std::uint64_t trial, const History& history) {
  Json question{{"metric", sweep.metric()}, {"mode", sweep.minimize() ? "min" : "max"},
                {"seed", sweep.seed()},     {"trial", trial},
                {"space", Json::object()},  {"trials", Json::array()}};
  for (const auto& dimension : sweep.space().dimensions()) {
    if (is_grid(dimension.domain)) continue;
    auto& described_one = question["space"][dimension.key] = described(dimension.domain);
    if (const auto& condition = dimension.condition)
      described_one["if"] = {{"key", condition->key}, {"values", condition->values}};
  }
  for (const auto& [number, known] : history.trials())
    if (!known.params.empty())
      question["trials"].push_back({{"trial", number},
                                    {"state", rundir::word_of(state_of(known.state))},
                                    {"params", known.params},
                                    {"value", known.best ? json_of_number(*known.best) : Json(nullptr)},
                                    {"reports", known.iterations}});
  return question.dump() + "\n";
}

Params params_in(const std::string& answer, const Sweep& sweep, std::uint64_t trial) {
  const auto json = Json::parse(answer, nullptr, false);
  if (!json.is_object()) throw Error("it did not print a JSON object");
  auto params = sweep.params_of(trial);  // for the values of the grids
  for (const auto& dimension : sweep.space().dimensions()) {
    if (is_grid(dimension.domain)) continue;
    if (!json.contains(dimension.key) && dimension.condition) continue;
    if (!json.contains(dimension.key)) throw Error(fmt::format("its answer lacks {}", dimension.key));
    const auto value = value_in(json.at(dimension.key), dimension.domain);
    if (!value) throw Error(fmt::format("{} = {} is outside of the space", dimension.key, json.at(dimension.key).dump()));
    params[dimension.key] = *value;
  }
  sweep.space().leave_out_unmet(params);
  return params;
}

Params ask_searcher_program(const Sweep& sweep, std::uint64_t trial, const History& history) {
  const Question question(sweep.directory(), trial, question_of(sweep, trial, history));
  const auto command = fmt::format("({}) < {}", sweep.searcher_program(), shell_quoted(question.path()));
  const auto done = run_child({"/bin/sh", "-c", command}, max_seconds);
  try {
    if (!done) throw Error(fmt::format("it took longer than {} s", max_seconds));
    if (done->exit_code != 0) throw Error(fmt::format("it exited with {}", done->exit_code));
    return params_in(done->text, sweep, trial);
  } catch (const Error& error) {
    throw Error(fmt::format("tune.searcher_program = {}: {}; its output: {}", sweep.searcher_program(), error.what(),
                            done ? excerpt(done->text) : ""));
  }
}

}  // namespace trainrt::tune
