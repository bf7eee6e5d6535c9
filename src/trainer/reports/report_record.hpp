#pragma once
#include <cstdint>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/metrics.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// Returns the record of a report with the metrics of all ranks combined (metrics/aggregate.hpp has the rules). Collective.
/// Throws AgreedError that names key and rank if the ranks report different keys.
metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

/// Returns the record of a report with rank 0's metrics, unchanged. Collective. Throws AgreedError if a key of rank 0 is
/// invalid.
metrics::Record first_rank_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

/// Returns the metrics of each rank, unchanged, in rank order. A rank with invalid metrics has an empty record.
/// Collective.
std::vector<metrics::Record> reports_of_ranks(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

}  // namespace trainrt::trainer
