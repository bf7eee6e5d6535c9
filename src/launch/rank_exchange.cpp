#include "launch/rank_exchange.hpp"

#include <algorithm>
#include <chrono>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::launch {

RankExchange::RankExchange(int size, const GroupLimits& limits)
    : limits_(limits), barriers_(static_cast<std::size_t>(size)) {}

void RankExchange::put(int rank, const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  values_[{rank, key}] = value;
}

std::string RankExchange::get(int rank, const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = values_.find({rank, key});
  return found == values_.end() ? "" : found->second;
}

std::string RankExchange::fence(int rank) {
  std::unique_lock lock(mutex_);
  const int mine = ++barriers_[static_cast<std::size_t>(rank)];
  changed_.notify_all();
  const auto all_came = [&] { return std::ranges::all_of(barriers_, [&](int count) { return count >= mine; }); };
  const std::chrono::duration<double> limit(mine == 1 ? limits_.start_s : limits_.later_s);
  if (!changed_.wait_for(lock, limit, [&] { return all_came() || !broken_.empty(); })) return missing(mine);
  if (!all_came()) throw Error(broken_);
  return {};
}

void RankExchange::wait_until_closed() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !broken_.empty(); });
}

void RankExchange::close(const std::string& why) {
  const std::lock_guard lock(mutex_);
  broken_ = why;
  changed_.notify_all();
}

std::string RankExchange::missing(int barrier) const {
  std::vector<std::string> ranks;
  for (std::size_t rank = 0; rank < barriers_.size(); ++rank)
    if (barriers_[rank] < barrier) ranks.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + join(ranks);
}

}  // namespace trainrt::launch
