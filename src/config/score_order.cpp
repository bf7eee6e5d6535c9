#include "config/score_order.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace trainrt::config {

namespace {

/// Returns whether `name` contains `word` as a word of its own: "mse" in "val/mse_1", but not in "amsed".
bool has_part(std::string_view name, std::string_view word) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  for (auto at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1)) {
    const auto end = at + word.size();
    if ((at == 0 || !is_letter(name[at - 1])) && (end == name.size() || !is_letter(name[end]))) return true;
  }
  return false;
}

}  // namespace

Better better_by_name(std::string_view metric) {
  static constexpr std::array<std::string_view, 13> lower{"error", "err",     "rmse",       "mse", "mae", "mape", "rmsle",
                                                          "nll",   "logloss", "perplexity", "ppl", "wer", "cer"};
  static constexpr std::array<std::string_view, 9> higher{"accuracy", "acc",       "auc",  "auroc", "f1",
                                                          "recall",   "precision", "bleu", "reward"};
  std::string name(metric);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto in_name = [&](std::string_view word) { return has_part(name, word); };
  if (name.find("loss") != std::string::npos || std::ranges::any_of(lower, in_name)) return Better::lower;
  return std::ranges::any_of(higher, in_name) ? Better::higher : Better::unknown;
}

std::string score_order_warning(const RunSpec& spec) {
  const auto& attribute = spec.checkpoint.score_attribute;
  if (better_by_name(attribute) != Better::lower || spec.given.find("checkpoint.score_order") != nullptr) return {};
  return fmt::format(
      "checkpoint.score_attribute = {} with the default score_order = max keeps the checkpoints with the highest {}; set "
      "score_order = min if lower is better",
      attribute, attribute);
}

}  // namespace trainrt::config
