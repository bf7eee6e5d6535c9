#pragma once
#include <cstdint>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/metrics.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// Returns the record of a report with the metrics of all ranks combined by the rules in metrics/aggregate.hpp. Collective.
/// Throws AgreedError that names a key and a rank if the ranks report different keys.
metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

/// Returns, on all ranks, the record of a report with the unchanged metrics of rank 0. Collective. Throws AgreedError if a
/// key of rank 0 is invalid.
metrics::Record first_rank_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

/// Returns one record per rank, in rank order, with the unchanged metrics of that rank. A rank with invalid metrics has an
/// empty record. Collective.
std::vector<metrics::Record> reports_of_ranks(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

}  // namespace trainrt::trainer
