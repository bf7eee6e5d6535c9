#include "tune/record/mirrored_journal.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "tune/record/journal.hpp"

namespace trainrt::tune {

namespace {

using Json = nlohmann::ordered_json;

/// Returns whether trials or clones can have this value: one of a choice, or a number if numbers are drawn. A clone may
/// have a number outside of the interval, because the value of its donor was multiplied.
bool can_produce(const Domain& domain, const std::string& value) {
  const auto* choice = std::get_if<Choice>(&domain);
  if (choice != nullptr && std::ranges::find(choice->values, value) != choice->values.end()) return true;
  if (choice != nullptr && !choice->is_sample) return false;
  const auto number = parse_real(value);
  return number && std::isfinite(*number);
}

bool can_produce(const std::vector<SearchSpace::Dimension>& dimensions, const std::string& key, const std::string& value) {
  return std::ranges::any_of(dimensions,
                             [&](const auto& each) { return each.key == key && can_produce(each.domain, value); });
}

/// Returns what is wrong with the record, or "".
std::string flaw_of(const Sweep& sweep, const Json& record) {
  for (const auto& [key, value] : record.value("params", Params()))
    if (!key.starts_with("loop.") && !can_produce(sweep.space().dimensions(), key, value) &&
        !can_produce(sweep.mutations(), key, value))
      return fmt::format("{} = '{}' is not a value of [tune.space]", key, value);
  const auto start = record.value("checkpoint", std::string());
  if (record.at("record") != "clone" || start.empty()) return "";
  const auto folder = fmt::format("clones/{}/", sweep.name_of(record.at("trial"), record.at("generation")));
  const auto number = start.starts_with(folder) ? checkpoint::number_of(start.substr(folder.size())) : std::nullopt;
  if (number && start == folder + checkpoint::directory_name(*number)) return "";
  return fmt::format("the clone starts from '{}'; it must be {}checkpoint_N", start, folder);
}

}  // namespace

void check_mirrored_journal(const Sweep& sweep, const std::string& folder) {
  std::map<int, std::uint64_t> lines;
  JournalReader(folder).read([&](int writer, const std::string& text) {
    const auto line = ++lines[writer];
    std::string flaw;
    try {
      flaw = flaw_of(sweep, Json::parse(text));
    } catch (const nlohmann::json::exception& error) {
      flaw = error.what();
    }
    if (flaw.empty()) return;
    throw UsageError(fmt::format(
        "{} in the mirror of the sweep, record {}: {}. Remove the sweep from the mirror, or start a new one with "
        "--run.name=NAME",
        std::filesystem::path(journal_file(folder, writer)).filename().string(), line, flaw));
  });
}

}  // namespace trainrt::tune
