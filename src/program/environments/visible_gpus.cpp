#include "program/environments/visible_gpus.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainrt::program {

namespace {

using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) { return std::ranges::find(names, name) != names.end(); }

/// Adds a GPU name unless `names` already contains it. CUDA does not accept duplicates, which would occur if ranks
/// share a GPU.
void add_once(Names& names, const std::string& name) {
  if (!has(names, name)) names.push_back(name);
}

Names union_of(std::span<const Names> of_node) {
  Names all;
  for (const auto& gpus : of_node)
    if (!gpus.empty()) add_once(all, gpus.front());
  for (const auto& gpus : of_node)
    for (const auto& gpu : gpus) add_once(all, gpu);
  return all;
}

}  // namespace

std::optional<Names> names_of_gpus(const char* variable) {
  if (variable == nullptr) return std::nullopt;
  Names names;
  std::istringstream words(variable);
  for (std::string word; std::getline(words, word, ',');) names.push_back(word);
  return names;
}

Names names_of_own_gpus(std::span<const int> gpus, const std::optional<Names>& names) {
  Names own;
  for (const int gpu : gpus) {
    const auto at = static_cast<std::size_t>(gpu);
    own.push_back(names && at < names->size() ? (*names)[at] : std::to_string(gpu));
  }
  return own;
}

std::string visible_gpus(std::span<const Names> of_node, std::size_t local_rank, const std::optional<Names>& names,
                         bool own_only) {
  const auto& own = of_node[local_rank];
  if (own.empty()) return {};
  const auto all = union_of(of_node);
  const bool sees_all = !names || std::ranges::all_of(all, [&](const auto& name) { return has(*names, name); });
  return fmt::format("{}", fmt::join(own_only || !sees_all ? own : all, ","));
}

}  // namespace trainrt::program
