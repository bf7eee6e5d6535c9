#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/metrics.hpp>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The contribution of one rank to an aggregated metric record. The caller does the communication, in three steps:
/// - Each rank calls encode(). If the schema hashes differ between ranks, the caller gathers the results of describe_keys()
///   and throws first_difference().
/// - The caller all-reduces `sums` with Op::sum and `maxima` with Op::max. Either list may be empty.
/// - Each rank calls decode(). Strings are not reduced, so only the record of rank 0 is used.
///
/// The order of the keys may differ between ranks; keys, kinds and reductions must not.
struct Encoded {
  std::uint64_t schema_hash = 0;  ///< hash of the keys, kinds and reductions of all metrics
  std::vector<double> sums;
  std::vector<double> maxima;
};

/// Returns the contribution of this rank's metrics to the aggregated record. Throws UsageError that names the key if a key
/// is empty, starts with "_", contains control characters or occurs twice, or if a weight is negative or not finite.
Encoded encode(const Metrics& metrics);

/// Returns the aggregated metric record, with its values in the order of `metrics`. `reduced` is the result of
/// encode(metrics), all-reduced over the ranks.
///
/// - A mean is sum(value * weight) / sum(weight). Values with weight 0 are ignored; if all weights are 0, the mean is NaN.
/// - If any rank reports NaN with a weight above 0, the result is NaN, also for a minimum or maximum.
/// - A minimum or maximum is an integer if all ranks reported integers with magnitudes below 2^53. A sum is an integer if
///   all ranks reported integers and their magnitudes add up to less than 2^53.
Record decode(const Metrics& metrics, const Encoded& reduced, std::int64_t iteration);

/// Returns the metric record of one rank's report without aggregation and without conversion of numbers. Ignores weights.
/// Throws UsageError if a key is invalid, as encode() does.
Record unreduced_record(const Metrics& metrics, std::int64_t iteration);

/// Returns a text with one line per metric, sorted by key. A line has the kind ("mean", "sum", "min", "max" or "text"), a
/// blank, and the key.
std::string describe_keys(const Metrics& metrics);

/// Compares the metric keys of all ranks. Returns a message with the first key that differs between ranks; the message
/// names a rank that lacks the key or reports it differently. Returns "" if all keys are equal. `described` has the result
/// of describe_keys() of each rank.
std::string first_difference(const std::vector<std::string>& described);

}  // namespace trainrt::metrics
