#include "watch/hang_report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::watch {

namespace {

// Headlines in the file of a rank's report.
constexpr std::string_view thread_headline = "stack of the train thread\n";
constexpr std::string_view other_headline = "\nother threads\n";
constexpr std::string_view program_headline = "\nstacks of the program\n";

constexpr std::size_t max_named = 8;  // maximum number of ranks (or groups of ranks) in one sentence of the message

/// Parses lines of the form "key: value" up to the first empty line, and returns the values by key.
std::map<std::string, std::string> fields_of(const std::string& text) {
  std::map<std::string, std::string> fields;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line) && !line.empty();)
    if (const auto colon = line.find(": "); colon != std::string::npos)
      fields[line.substr(0, colon)] = line.substr(colon + 2);
  return fields;
}

std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string joined(const std::vector<std::string>& parts) {
  if (parts.size() <= max_named) return join(parts, "; ");
  return join(std::span(parts).first(max_named), "; ") + fmt::format("; and {} more", parts.size() - max_named);
}

/// Implements judge_hang(): finds the late ranks in the reports of all ranks and describes them.
class Judge {
 public:
  Judge(std::span<const std::optional<RankReport>> reports, std::span<const std::string> hosts)
      : reports_(reports), hosts_(hosts) {
    for (const auto& report : reports)
      if (report) newest_step_ = std::max(newest_step_, report->step);
  }

  std::int64_t newest_step() const { return newest_step_; }

  /// Returns the late ranks. Ranks without a report are late. If all ranks have reported, those that compute are late. If
  /// all ranks wait, those at an earlier step than others are late.
  std::vector<int> late() const {
    std::vector<int> ranks;
    for (const auto is_late : {&Judge::is_silent, &Judge::is_busy, &Judge::is_behind}) {
      for (std::size_t rank = 0; rank < reports_.size(); ++rank)
        if ((this->*is_late)(rank)) ranks.push_back(static_cast<int>(rank));
      if (!ranks.empty()) break;
    }
    return ranks;
  }

  /// Returns the node of all late ranks; "" if they are on several nodes.
  std::string node() const {
    std::set<std::string> nodes;
    for (const int rank : late())
      if (static_cast<std::size_t>(rank) < hosts_.size()) nodes.insert(hosts_[static_cast<std::size_t>(rank)]);
    return nodes.size() == 1 ? *nodes.begin() : "";
  }

  std::string text() const {
    std::vector<std::string> parts;
    for (const auto& part : {silent(), busy(), behind(), waiting()})
      if (!part.empty()) parts.push_back(part);
    return join(parts, "; ");
  }

 private:
  bool is_silent(std::size_t rank) const { return !reports_[rank]; }
  bool is_busy(std::size_t rank) const { return reports_[rank] && reports_[rank]->waits_in.empty(); }
  bool is_behind(std::size_t rank) const {
    return reports_[rank] && !reports_[rank]->waits_in.empty() && reports_[rank]->step < newest_step_;
  }

  /// Returns describe(rank) of all ranks for which `is_late` is true, joined to one text.
  template <class Describe>
  std::string late_ranks(bool (Judge::*is_late)(std::size_t) const, Describe describe) const {
    std::vector<std::string> parts;
    for (std::size_t rank = 0; rank < reports_.size(); ++rank)
      if ((this->*is_late)(rank)) parts.push_back(describe(rank));
    return joined(parts);
  }

  std::string silent() const {
    return late_ranks(&Judge::is_silent, [this](std::size_t rank) {
      return fmt::format("rank {}{} did not answer (stopped, dead, or its node is gone) while others are at step {}", rank,
                         rank < hosts_.size() ? " on " + hosts_[rank] : "", newest_step_);
    });
  }

  std::string busy() const {
    return late_ranks(&Judge::is_busy, [this](std::size_t rank) {
      const auto& report = *reports_[rank];
      return fmt::format("rank {} on {} has been in its own code for {:.0f} s at step {} ({}){}{}", report.rank,
                         report.host, report.quiet_s, report.step, report.phase,
                         report.program.empty() ? "" : ": its program is in " + report.program,
                         report.last_call.empty() ? "" : ", its last call was " + report.last_call);
    });
  }

  std::string behind() const {
    return late_ranks(&Judge::is_behind, [this](std::size_t rank) {
      const auto& report = *reports_[rank];
      return fmt::format("rank {} on {} is only at step {}, others at {}", report.rank, report.host, report.step,
                         newest_step_);
    });
  }

  std::string waiting() const {
    std::map<std::string, std::vector<int>> ranks_in;
    for (const auto& report : reports_)
      if (report && !report->waits_in.empty()) ranks_in[report->waits_in].push_back(report->rank);
    std::vector<std::string> parts;
    for (const auto& [operation, ranks] : ranks_in)
      parts.push_back(fmt::format("{} {} in {}", ranks_text(ranks), ranks.size() == 1 ? "waits" : "wait", operation));
    return joined(parts);
  }

  std::span<const std::optional<RankReport>> reports_;
  std::span<const std::string> hosts_;
  std::int64_t newest_step_ = 0;
};

}  // namespace

std::string to_text(const RankReport& report) {
  return fmt::format(
      "rank: {}\nhost: {}\npid: {}\nstep: {}\nphase: {}\nquiet_s: {:.1f}\nexcused: {}\nwaits_in: {}\nprogram: "
      "{}\nlast_call: {}\n\n",
      report.rank, report.host, report.pid, report.step, report.phase, report.quiet_s, report.excused,
      on_one_line(report.waits_in), on_one_line(report.program), on_one_line(report.last_call));
}

std::optional<RankReport> parse_rank_report(const std::string& text) {
  auto fields = fields_of(text);
  const auto rank = parse_integer(fields["rank"]);
  const auto pid = parse_integer(fields["pid"]);
  const auto step = parse_integer(fields["step"]);
  const auto quiet = parse_real(fields["quiet_s"]);
  if (!rank || !pid || !step || !quiet || !fields.contains("waits_in")) return std::nullopt;
  return RankReport{static_cast<int>(*rank),
                    fields["host"],
                    static_cast<int>(*pid),
                    *step,
                    fields["phase"],
                    *quiet,
                    fields["excused"] == "true",
                    fields["waits_in"],
                    fields["program"],
                    fields["last_call"]};
}

HangVerdict judge_hang(std::span<const std::optional<RankReport>> reports, std::span<const std::string> hosts) {
  const Judge judge(reports, hosts);
  const bool all_answered = std::ranges::all_of(reports, [](const auto& report) { return report.has_value(); });
  const bool one_excused = std::ranges::any_of(reports, [](const auto& report) { return report && report->excused; });
  const auto late = judge.late();
  return {.text = judge.text(),
          .step = judge.newest_step(),
          .node = judge.node(),
          .late_rank = late.empty() ? std::nullopt : std::optional(late.front()),
          .hangs = !(all_answered && one_excused)};
}

std::string report_file(const RankReport& report, const RankStacks& stacks) {
  auto text = fmt::format("{}{}{}{}{}", to_text(report), thread_headline, stacks.train_thread, other_headline,
                          stacks.other_threads);
  if (!stacks.program.empty()) text += std::string(program_headline) + stacks.program;
  return text;
}

std::string stacks_in(std::string_view file) {
  for (const auto headline : {program_headline, thread_headline})
    if (const auto begin = file.find(headline); begin != std::string_view::npos) {
      const auto text = file.substr(begin + headline.size());
      return std::string(headline == thread_headline ? text.substr(0, text.find(other_headline)) : text);
    }
  return {};
}

std::string ranks_text(std::span<const int> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t first = 0; first < ranks.size();) {
    auto last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", first == 0 ? "" : ",", ranks[first]);
    if (last > first) text += fmt::format("-{}", ranks[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace trainrt::watch
