#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "launch/rank_group.hpp"

namespace trainrt::launch {

/// The key-value store and the barrier that the ranks of a RankGroup share, for their PMI servers. Thread-safe.
class RankExchange {
 public:
  RankExchange(int size, const GroupLimits& limits);

  void put(int rank, const std::string& key, const std::string& value);
  std::string get(int rank, const std::string& key);
  /// Blocks until all ranks have called fence(), and returns an empty text. After a timeout, returns the missing ranks,
  /// such as "rank 1". Throws Error if close() was called.
  std::string fence(int rank);
  void wait_until_closed();
  /// Makes all running and later calls of fence() throw Error with the message `why`. A call still succeeds if all ranks
  /// have already reached its fence.
  void close(const std::string& why);

 private:
  std::string missing(int barrier) const;

  const GroupLimits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, std::string>, std::string> values_;
  std::vector<int> barriers_;  ///< number of barriers that each rank has reached, by rank
  std::string broken_;         ///< error message that fence() throws after close(); "" before close()
};

}  // namespace trainrt::launch
