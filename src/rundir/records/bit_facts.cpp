#include "rundir/records/bit_facts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::rundir {

namespace {

constexpr std::int64_t max_recorded_ranks = 1'000'000'000;

/// Appends to `clauses` the first difference between two texts per rank. `fact` is what they describe.
void add_difference(std::vector<std::string>& clauses, const std::string& fact, const RankTexts& before,
                    const RankTexts& now) {
  if (before.empty() || now.empty()) return;
  const auto rank = before.first_difference(now);
  if (rank >= 0)
    clauses.push_back(fmt::format("{} of rank {} was {} and is {}", fact, rank, before.of(rank), now.of(rank)));
}

}  // namespace

RankTexts::RankTexts(const std::vector<std::string>& of_ranks) {
  for (const auto& text : of_ranks)
    if (!runs_.empty() && runs_.back().second == text)
      ++runs_.back().first;
    else
      runs_.emplace_back(1, text);
}

const std::string& RankTexts::of(std::int64_t rank) const {
  static const std::string missing;
  for (const auto& [count, text] : runs_)
    if (rank < count)
      return text;
    else
      rank -= count;
  return missing;
}

std::int64_t RankTexts::first_difference(const RankTexts& other) const {
  std::int64_t rank = 0;
  auto theirs = other.runs_.begin();
  std::int64_t theirs_left = theirs == other.runs_.end() ? 0 : theirs->first;
  for (const auto& [count, text] : runs_)
    for (std::int64_t left = count; left > 0;) {
      if (theirs == other.runs_.end() || theirs->second != text) return rank;
      const auto same = std::min(left, theirs_left);
      rank += same;
      left -= same;
      theirs_left -= same;
      if (theirs_left == 0 && ++theirs != other.runs_.end()) theirs_left = theirs->first;
    }
  return theirs == other.runs_.end() ? -1 : rank;
}

nlohmann::ordered_json RankTexts::to_json() const {
  auto json = nlohmann::ordered_json::array();
  for (const auto& [count, text] : runs_) json.push_back({count, text});
  return json;
}

RankTexts RankTexts::from_json(const nlohmann::ordered_json& json) {
  RankTexts texts;
  for (const auto& run : json) {
    const auto count = run.at(0).get<std::int64_t>();
    if (count < 1 || count > max_recorded_ranks) throw Error(fmt::format("invalid number of ranks: {}", count));
    texts.runs_.emplace_back(count, run.at(1).get<std::string>());
  }
  return texts;
}

std::vector<std::string> differences(const BitFacts& before, const BitFacts& now) {
  std::vector<std::string> clauses;
  add_difference(clauses, "the number of threads", before.threads, now.threads);
  add_difference(clauses, "the CPU", before.cpus, now.cpus);
  for (const auto& [name, version] : before.versions)
    if (const auto found = now.versions.find(name); found != now.versions.end() && found->second != version)
      clauses.push_back(fmt::format("the version of the {} was {} and is {}", name, version, found->second));
  return clauses;
}

nlohmann::ordered_json to_json(const BitFacts& facts) {
  return {{"threads", facts.threads.to_json()}, {"cpus", facts.cpus.to_json()}, {"versions", facts.versions}};
}

BitFacts bit_facts_from(const nlohmann::ordered_json& json) {
  return {.threads = RankTexts::from_json(json.at("threads")),
          .cpus = RankTexts::from_json(json.at("cpus")),
          .versions = json.at("versions").get<std::map<std::string, std::string>>()};
}

}  // namespace trainrt::rundir
