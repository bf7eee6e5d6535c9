#include "program/protocol/rank_exits.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "core/host.hpp"
#include "core/output/output_tail.hpp"
#include "core/text/text.hpp"
#include "program/protocol/fields.hpp"

namespace trainrt::program {

namespace {

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

bool has_failed(const RankExit& rank) { return !rank.failure.text.empty() || (rank.has_exited && !rank.status.is_good()); }

bool was_killed(const RankExit& rank) {
  return has_failed(rank) && rank.has_exited && rank.status.is_kill() && !rank.failure.is_reported;
}

std::string exit_text(const RankExit& rank) {
  return nlohmann::json{{"host", rank.host},
                        {"pid", rank.pid},
                        {"has_exited", rank.has_exited},
                        {"exit_code", rank.status.exit_code},
                        {"signal", rank.status.signal},
                        {"failure", rank.failure.text},
                        {"is_reported", rank.failure.is_reported},
                        {"memory", rank.status.memory},
                        {"cause", rank.cause},
                        {"is_permanent", rank.is_permanent},
                        {"age_s", rank.age_s}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankExit exit_from(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {.host = json.at("host"),
          .pid = json.at("pid"),
          .has_exited = json.at("has_exited"),
          .status = {.exit_code = json.at("exit_code"), .signal = json.at("signal"), .memory = json.at("memory")},
          .failure = {.text = json.at("failure"), .is_reported = json.at("is_reported")},
          .cause = json.at("cause"),
          .is_permanent = json.at("is_permanent"),
          .age_s = json.at("age_s")};
}

/// Returns a text that lists the ranks of the programs that exited with 0 before `failed`, since their exit may have
/// caused the failure. Returns "" if there are no such ranks.
std::string left_before(std::span<const RankExit> ranks, const RankExit& failed) {
  std::vector<std::string> left;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].has_exited && !has_failed(ranks[rank]) && ranks[rank].age_s > failed.age_s)
      left.push_back(std::to_string(rank));
  if (left.empty()) return {};
  constexpr std::size_t max_named = 8;
  const auto count = left.size();
  left.resize(std::min(count, max_named));
  return fmt::format("; {} {}{} had already exited with 0", count == 1 ? "rank" : "ranks", join(left),
                     count > max_named ? fmt::format(" and {} more", count - max_named) : "");
}

/// Returns the exception that a program has reported before it exited; "" if it has reported no failure.
std::string reported_exception(const FailureReport& failure) {
  constexpr std::string_view reported = "failed: ";
  return failure.is_reported ? first_line(failure.text).substr(reported.size()) : "";
}

/// Sets the cause of the failure of this rank's program.
void add_cause(RankExit& mine, const Child& child) {
  if (!has_failed(mine)) return;
  auto output = failure_output(child.output_tail());
  if (mine.failure.is_reported) output.exception = reported_exception(mine.failure);
  // The cause is the exception, if there is one. The status and the other output are then not used: numbers in the output
  // may differ between two starts, and a program that has reported an exception may still be running.
  const bool is_explained = !output.exception.empty() || !output.lines.empty();
  mine.cause = output.exception.empty() ? fmt::format("{}: {:x}", mine.status.in_words(), stable_hash(output.lines))
                                        : output.exception;
  if (mine.status.signal != 0 || !is_explained) mine.cause.clear();  // unknown cause: a restart may succeed
  mine.is_permanent = is_permanent(mine.status, output.exception);
}

/// Returns the causes of the failures of all ranks, each once; "" if a rank has no cause.
std::string signature_of(std::span<const RankExit> ranks) {
  if (std::ranges::any_of(ranks, [](const auto& rank) { return rank.cause.empty(); })) return {};
  std::set<std::string> causes;
  for (const auto& rank : ranks) causes.insert(rank.cause);
  return fmt::format("{}", fmt::join(causes, "\n"));
}

}  // namespace

FailureReport failure_reported_by(const Message& failed) {
  const auto traceback = text_field(failed.body, "traceback", "");
  return {"failed: " + text_field(failed.body, "error") + (traceback.empty() ? "" : "\n" + traceback), monotonic_seconds(),
          true};
}

std::vector<RankExit> gather_rank_exits(Communicator& communicator, Child& child, const FailureReport& failure) {
  communicator.barrier(
      "how the programs ended");  // all ranks leave the barrier at about the same moment and then measure the ages
  RankExit mine{.host = this_host(), .pid = child.pid(), .failure = failure, .age_s = child.exit_age_s()};
  if (!failure.text.empty()) mine.age_s = std::max(mine.age_s, monotonic_seconds() - failure.found_at_s);
  if (const auto& status = child.exit_status()) {
    mine.has_exited = true;
    mine.status = *status;
  }
  add_cause(mine, child);
  std::vector<RankExit> ranks;
  for (const auto& text : communicator.all_gather(exit_text(mine))) ranks.push_back(exit_from(text));
  return ranks;
}

int first_failed(std::span<const RankExit> ranks) {
  int first = -1;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const auto& mine = ranks[static_cast<std::size_t>(rank)];
    if (!has_failed(mine)) continue;
    if (first < 0) {
      first = rank;
      continue;
    }
    const auto& other = ranks[static_cast<std::size_t>(first)];
    const bool sooner = was_killed(mine) == was_killed(other) ? mine.age_s > other.age_s : was_killed(mine);
    if (sooner) first = rank;
  }
  return first;
}

bool all_failed(std::span<const RankExit> ranks) { return std::ranges::all_of(ranks, has_failed); }

std::string interpreter_in_words(std::string_view exception, const std::string& executable) {
  const auto name = executable.substr(executable.rfind('/') + 1);
  if (!exception.starts_with("ModuleNotFoundError") || !name.starts_with("python")) return "";
  return fmt::format(" (the interpreter is '{}')", excerpt(executable));
}

FailureOutput share_output(Communicator& communicator, const Child& child, int first) {
  auto mine = communicator.rank() == first ? failure_output(child.output_tail()) : FailureOutput{};
  mine.exception += interpreter_in_words(mine.exception, child.executable());
  const auto of_first = static_cast<std::size_t>(first);
  return {communicator.all_gather(mine.exception).at(of_first), communicator.all_gather(mine.lines).at(of_first)};
}

std::string failure_in_words(std::span<const RankExit> ranks, int first, const FailureOutput& output) {
  const auto& failed = ranks[static_cast<std::size_t>(first)];
  const auto& failure = failed.failure.text;
  auto text = fmt::format("the program of rank {} on {} (train.program, process {}) {}", first, failed.host, failed.pid,
                          failure.empty() ? exit_in_words(failed.status, output) : first_line(failure));
  const auto others = std::ranges::count_if(ranks, has_failed) - 1;
  if (others == 1) text += "; the program of 1 other rank failed afterwards";
  if (others > 1) text += fmt::format("; the programs of {} other ranks failed afterwards", others);
  if (!failed.status.is_kill()) text += left_before(ranks, failed);
  if (const auto end = failure.find('\n'); end != std::string::npos) text += failure.substr(end);
  return text + lines_in_words(first, output.lines);
}

ProgramFailed failure_of(std::span<const RankExit> ranks, int first, const FailureOutput& output) {
  const bool is_known = first >= 0 && ranks[static_cast<std::size_t>(first)].has_exited;
  const auto status = is_known ? ranks[static_cast<std::size_t>(first)].status : ExitStatus{};
  const bool is_usage = status.signal == 0 && status.exit_code == static_cast<int>(ExitCode::usage);
  ProgramFailed error(failure_in_words(ranks, first, output), is_usage ? ExitCode::usage : ExitCode::failed);
  const auto cause_of = [&](int rank) { return ranks[static_cast<std::size_t>(rank)].cause; };
  const bool is_shown = first == 0 || (first > 0 && !cause_of(first).empty() && cause_of(first) == cause_of(0));
  error.signature = signature_of(ranks);
  // Only programs that report their failure also report steps, by which a repeated mistake is recognized.
  if (first >= 0) error.mistake = mistake_of(reported_exception(ranks[static_cast<std::size_t>(first)].failure));
  error.is_permanent = all_failed(ranks) && std::ranges::all_of(ranks, &RankExit::is_permanent);
  error.brief = is_shown ? failure_in_words(ranks, first, {output.exception, ""}) : error.what();
  return error;
}

}  // namespace trainrt::program
