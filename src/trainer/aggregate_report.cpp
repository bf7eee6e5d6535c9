#include "trainer/aggregate_report.hpp"

#include <array>

#include "comm/agreement.hpp"
#include "metrics/aggregate.hpp"

namespace trainrt::trainer {

metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator) {
  auto encoded = metrics::encode(metrics);
  const auto hash = static_cast<std::int64_t>(encoded.schema_hash >> 1);
  std::array<std::int64_t, 2> range = {hash, -hash};  // maximum, and minus the minimum
  communicator.all_reduce(range, Op::max);
  if (range[0] != -range[1])
    throw comm::AgreedError("report(): " +
                            metrics::first_difference(communicator.all_gather(metrics::describe_keys(metrics))));
  communicator.all_reduce(encoded.sums, Op::sum);
  communicator.all_reduce(encoded.maxima, Op::max);
  return metrics::decode(metrics, encoded, iteration);
}

}  // namespace trainrt::trainer
