#include "program/protocol/endings.hpp"

#include <algorithm>
#include <array>
#include <csignal>

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

bool fell(const RankEnding& rank) { return !rank.fault.text.empty() || (rank.has_ended && !rank.ending.is_good()); }

bool was_killed(const RankEnding& rank) {
  return fell(rank) && rank.has_ended && rank.ending.is_kill() && !rank.fault.is_told;
}

std::string ending_text(const RankEnding& rank) {
  return nlohmann::json{{"host", rank.host},
                        {"pid", rank.pid},
                        {"has_ended", rank.has_ended},
                        {"exit_code", rank.ending.exit_code},
                        {"signal", rank.ending.signal},
                        {"fault", rank.fault.text},
                        {"is_told", rank.fault.is_told},
                        {"memory", rank.ending.memory},
                        {"age_s", rank.age_s}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankEnding ending_from(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  return {.host = json.at("host"),
          .pid = json.at("pid"),
          .has_ended = json.at("has_ended"),
          .ending = {.exit_code = json.at("exit_code"), .signal = json.at("signal"), .memory = json.at("memory")},
          .fault = {.text = json.at("fault"), .is_told = json.at("is_told")},
          .age_s = json.at("age_s")};
}

/// Ranks that had left the program before another failed may be why it did.
std::string left_before(std::span<const RankEnding> ranks, const RankEnding& fallen) {
  std::vector<std::string> left;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    if (ranks[rank].has_ended && !fell(ranks[rank]) && ranks[rank].age_s > fallen.age_s)
      left.push_back(std::to_string(rank));
  if (left.empty()) return {};
  constexpr std::size_t max_named = 8;
  const auto count = left.size();
  left.resize(std::min(count, max_named));
  return fmt::format("; {} {}{} had left the program with exit code 0 before", count == 1 ? "rank" : "ranks", join(left),
                     count > max_named ? fmt::format(" and {} more", count - max_named) : "");
}

}  // namespace

Fault told_by(const Message& failed) {
  const auto traceback = text_field(failed.body, "traceback", "");
  return {"failed: " + text_field(failed.body, "error") + (traceback.empty() ? "" : "\n" + traceback), monotonic_seconds(),
          true};
}

std::vector<RankEnding> gather_endings(Communicator& communicator, Child& child, const Fault& fault) {
  communicator.barrier("how the programs ended");  // which all ranks leave at about the same moment
  RankEnding mine{.host = this_host(), .pid = child.pid(), .fault = fault, .age_s = child.end_age_s()};
  if (!fault.text.empty()) mine.age_s = std::max(mine.age_s, monotonic_seconds() - fault.found_at_s);
  if (const auto& ending = child.ending()) {
    mine.has_ended = true;
    mine.ending = *ending;
  }
  std::vector<RankEnding> ranks;
  for (const auto& text : communicator.all_gather(ending_text(mine))) ranks.push_back(ending_from(text));
  return ranks;
}

int first_to_fall(std::span<const RankEnding> ranks) {
  int first = -1;
  for (int rank = 0; rank < static_cast<int>(ranks.size()); ++rank) {
    const auto& mine = ranks[static_cast<std::size_t>(rank)];
    if (!fell(mine)) continue;
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

LastOutput share_output(Communicator& communicator, const Child& child, int first) {
  const auto mine = communicator.rank() == first ? last_output(child.output_tail()) : LastOutput{};
  const auto of_first = static_cast<std::size_t>(first);
  return {communicator.all_gather(mine.exception).at(of_first), communicator.all_gather(mine.lines).at(of_first)};
}

std::string fall_in_words(std::span<const RankEnding> ranks, int first, const LastOutput& output) {
  const auto& fallen = ranks[static_cast<std::size_t>(first)];
  const auto& fault = fallen.fault.text;
  auto text = fmt::format("the program of rank {} on {} (train.program, process {}) {}", first, fallen.host, fallen.pid,
                          fault.empty() ? ending_in_words(fallen.ending, output) : first_line(fault));
  const auto others = std::ranges::count_if(ranks, fell) - 1;
  if (others == 1) text += "; that of 1 other rank ended after it";
  if (others > 1) text += fmt::format("; those of {} other ranks ended after it", others);
  if (!fallen.ending.is_kill()) text += left_before(ranks, fallen);
  if (const auto end = fault.find('\n'); end != std::string::npos) text += fault.substr(end);
  return text + lines_in_words(first, output.lines);
}

ProgramFell fall_of(std::span<const RankEnding> ranks, int first, const LastOutput& output) {
  const bool is_known = first >= 0 && ranks[static_cast<std::size_t>(first)].has_ended;
  const auto ending = is_known ? ranks[static_cast<std::size_t>(first)].ending : Ending{};
  const bool is_usage = ending.signal == 0 && ending.exit_code == static_cast<int>(ExitCode::usage);
  return ProgramFell(fall_in_words(ranks, first, output), is_usage ? ExitCode::usage : ExitCode::failed);
}

}  // namespace trainrt::program
