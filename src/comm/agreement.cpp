#include "comm/agreement.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/rank_zero.hpp"

namespace trainrt::comm {

namespace {

/// Runs `work`. Returns an empty text if it succeeds. If it throws, returns "CODE HOST\nMESSAGE": the exit code, the name
/// of this host and the message of the error.
std::string outcome_of(const std::function<void()>& work, const Explain& explain) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return fmt::format("{} {}\n{}", static_cast<int>(error.code()), host_name(), explain(error));
  } catch (const std::exception& error) {
    return fmt::format("{} {}\n{}", static_cast<int>(ExitCode::failed), host_name(), explain(error));
  }
}

std::string text_in(const std::string& outcome) { return outcome.substr(std::min(outcome.size(), outcome.find('\n') + 1)); }

}  // namespace

void collectively(Communicator& communicator, const std::function<void()>& work, const Explain& explain) {
  const auto mine = outcome_of(work, explain);
  // The messages of the ranks are gathered only if a rank failed.
  if (communicator.all_reduced(std::int64_t{!mine.empty()}, Op::max) == 0) return;
  const auto outcomes = communicator.all_gather(mine);
  const auto first = std::ranges::find_if(outcomes, [](const auto& outcome) { return !outcome.empty(); });
  const auto code = static_cast<ExitCode>(std::stoi(*first));
  const auto message = text_in(*first);
  const bool same_everywhere =
      std::ranges::all_of(outcomes, [&](const auto& outcome) { return !outcome.empty() && text_in(outcome) == message; });
  const bool only_first = std::ranges::all_of(outcomes | std::views::drop(1), &std::string::empty);
  if (same_everywhere || only_first) throw AgreedError(message, code);  // rank 0 logs the error, with its rank
  std::string where;
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const auto& outcome = outcomes[rank];
    if (outcome.empty()) continue;
    const auto host_at = outcome.find(' ') + 1;
    where += fmt::format("{}rank {} on {}", where.empty() ? "" : ", ", rank,
                         outcome.substr(host_at, outcome.find('\n') - host_at));
  }
  throw AgreedError(message + " (seen by " + where + ")", code);
}

void collectively_on_first(Communicator& communicator, const std::function<void()>& work, const Explain& explain) {
  const auto mine = [&, first = RankZero(communicator.rank())] { first.run(work); };
  collectively(communicator, mine, explain);
}

std::vector<MinMax> agree_min_max(Communicator& communicator, std::span<const std::int64_t> values, std::string_view name) {
  std::vector<std::int64_t> maxima;
  for (const auto value : values) {
    maxima.push_back(value);
    maxima.push_back(~value);  // its maximum gives the minimum of `value`; unlike -value, ~value cannot overflow
  }
  communicator.all_reduce(maxima, Op::max, name);
  std::vector<MinMax> over_ranks;
  for (std::size_t i = 0; i < maxima.size(); i += 2) over_ranks.push_back({.min = ~maxima[i + 1], .max = maxima[i]});
  return over_ranks;
}

MinMax agree_min_max(Communicator& communicator, std::int64_t value, std::string_view name) {
  return agree_min_max(communicator, std::span(&value, 1), name).front();
}

}  // namespace trainrt::comm
