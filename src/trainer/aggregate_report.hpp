#pragma once
#include <cstdint>

#include <trainrt/communicator.hpp>
#include <trainrt/metrics.hpp>

#include "metrics/record.hpp"

namespace trainrt::trainer {

/// The record of one report: its numbers over all ranks (metrics/aggregate.hpp has the rules). Collective. AgreedError that
/// names key and rank where the ranks' keys differ.
metrics::Record aggregate_report(const Metrics& metrics, std::int64_t iteration, Communicator& communicator);

}  // namespace trainrt::trainer
