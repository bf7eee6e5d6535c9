#include "rundir/records/bit_facts.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::rundir {

namespace {

constexpr std::int64_t max_recorded_ranks = 1'000'000'000;

std::string or_not_set(const std::string& text) { return text.empty() ? "not set" : text; }

/// Compares the text of each rank in `before` and `now`, and appends the first difference to `clauses`. `fact` names what
/// the texts describe: "the number of threads".
void add_difference(std::vector<std::string>& clauses, const std::string& fact, const RankTexts& before,
                    const RankTexts& now) {
  if (before.empty() || now.empty()) return;
  const auto rank = before.first_difference(now);
  if (rank >= 0)
    clauses.push_back(
        fmt::format("{} of rank {} was {} and is {}", fact, rank, or_not_set(before.of(rank)), or_not_set(now.of(rank))));
}

void add_variables(std::vector<std::string>& clauses, const BitFacts& before, const BitFacts& now) {
  if (!before.variables || !now.variables) return;
  std::set<std::string> names;
  for (const auto* variables : {&*before.variables, &*now.variables})
    for (const auto& [name, texts] : *variables) names.insert(name);
  const auto texts = [](const std::map<std::string, RankTexts>& variables, const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? RankTexts() : found->second;
  };
  for (const auto& name : names) {
    const auto old_texts = texts(*before.variables, name), new_texts = texts(*now.variables, name);
    const auto ranks = std::max(old_texts.count(), new_texts.count());
    std::int64_t rank = 0;
    while (rank < ranks && old_texts.of(rank) == new_texts.of(rank)) ++rank;
    if (rank < ranks)
      clauses.push_back(fmt::format("{} of rank {} was {} and is {}", name, rank, or_not_set(old_texts.of(rank)),
                                    or_not_set(new_texts.of(rank))));
  }
}

/// Parses a text of BitFacts::libraries, and returns the builds by file name without version. Example: the text
/// "libopenblasp-r0.3.21.so (build 0b35d7e1c0ad)" has the build 0b35d7e1c0ad of "libopenblasp".
std::map<std::string, std::set<std::string>> builds_in(std::string_view text) {
  constexpr std::string_view separator = ", ";
  std::map<std::string, std::set<std::string>> builds;
  while (!text.empty()) {
    const auto build = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(build.size() + separator.size(), text.size()));
    builds[std::string(build.substr(0, build.find_first_of("-.0123456789 ")))].emplace(build);
  }
  return builds;
}

/// Compares the files of the library `name` that the ranks have loaded with those of an earlier attempt. Appends the first
/// file with other builds than before to `clauses`. Additional files or builds are no difference, because libraries load
/// files when they need them.
void add_library_difference(std::vector<std::string>& clauses, const std::string& name, const RankTexts& before,
                            const RankTexts& now) {
  const auto ranks = std::min(before.count(), now.count());
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    if (before.of(rank) == now.of(rank)) continue;
    const auto new_builds = builds_in(now.of(rank));
    for (const auto& [file, old] : builds_in(before.of(rank))) {
      const auto found = new_builds.find(file);
      if (found == new_builds.end() || std::ranges::includes(old, found->second) ||
          std::ranges::includes(found->second, old))
        continue;
      clauses.push_back(
          fmt::format("{} of rank {} was {} and is {}", name, rank, fmt::join(old, ", "), fmt::join(found->second, ", ")));
      return;
    }
  }
}

/// Parses a JSON object whose values have one text per rank, and returns these values by key.
std::map<std::string, RankTexts> texts_by_name(const nlohmann::ordered_json& json) {
  std::map<std::string, RankTexts> texts;
  for (const auto& [name, of_ranks] : json.items()) texts[name] = RankTexts::from_json(of_ranks);
  return texts;
}

nlohmann::ordered_json to_json(const std::map<std::string, RankTexts>& texts) {
  auto json = nlohmann::ordered_json::object();
  for (const auto& [name, of_ranks] : texts) json[name] = of_ranks.to_json();
  return json;
}

}  // namespace

RankTexts::RankTexts(const std::vector<std::string>& of_ranks) {
  for (const auto& text : of_ranks)
    if (!runs_.empty() && runs_.back().second == text)
      ++runs_.back().first;
    else
      runs_.emplace_back(1, text);
}

std::int64_t RankTexts::count() const {
  std::int64_t ranks = 0;
  for (const auto& [count, text] : runs_) ranks += count;
  return ranks;
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
  add_difference(clauses, "the kind of GPU", before.gpus, now.gpus);
  add_variables(clauses, before, now);
  for (const auto& [name, builds] : before.libraries)
    if (const auto found = now.libraries.find(name); found != now.libraries.end())
      add_library_difference(clauses, name, builds, found->second);
  return clauses;
}

nlohmann::ordered_json to_json(const BitFacts& facts) {
  nlohmann::ordered_json json = {
      {"threads", facts.threads.to_json()}, {"cpus", facts.cpus.to_json()}, {"versions", facts.versions}};
  if (!facts.gpus.empty()) json["gpus"] = facts.gpus.to_json();
  if (facts.variables) json["variables"] = to_json(*facts.variables);
  if (!facts.libraries.empty()) json["libraries"] = to_json(facts.libraries);
  return json;
}

BitFacts bit_facts_from(const nlohmann::ordered_json& json) {
  BitFacts facts{.threads = RankTexts::from_json(json.at("threads")),
                 .cpus = RankTexts::from_json(json.at("cpus")),
                 .versions = json.at("versions").get<std::map<std::string, std::string>>()};
  if (const auto gpus = json.find("gpus"); gpus != json.end()) facts.gpus = RankTexts::from_json(*gpus);
  if (const auto variables = json.find("variables"); variables != json.end()) facts.variables = texts_by_name(*variables);
  if (const auto libraries = json.find("libraries"); libraries != json.end()) facts.libraries = texts_by_name(*libraries);
  return facts;
}

}  // namespace trainrt::rundir
