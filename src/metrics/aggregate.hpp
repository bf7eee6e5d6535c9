#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/metrics.hpp>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// The contribution of one rank to an aggregated record. The caller communicates, in three steps:
///   1. Each rank calls encode(). If the schema hashes differ between ranks, the caller gathers describe_keys() and throws
///      first_difference().
///   2. The caller all-reduces `sums` with Op::sum and `maxima` with Op::max. Either may be empty.
///   3. Each rank calls decode(). Texts are not reduced, so only the record of rank 0 is used.
/// The order of the keys may differ between ranks; keys, kinds and reductions must not.
struct Encoded {
  std::uint64_t schema_hash = 0;  ///< hash of all keys, kinds and reductions
  std::vector<double> sums;
  std::vector<double> maxima;
};

/// Returns the contribution of this rank's metrics to the aggregated record. Throws UsageError that names the key if a key
/// is empty, starts with "_", contains control characters or occurs twice, or if a weight is negative or not finite.
Encoded encode(const Metrics& metrics);

/// Returns the aggregated record, with its values in the order of `metrics`. `reduced` is the all-reduced encode(metrics).
///
/// A mean is sum(value * weight) / sum(weight). Values of weight 0 are ignored; if all weights are 0 the mean is NaN. If
/// any rank reports NaN with a weight above 0, the result is NaN, also of a minimum or maximum. A minimum or maximum is an
/// integer if all ranks reported integers with magnitudes below 2^53; a sum if their magnitudes add up to less than 2^53.
Record decode(const Metrics& metrics, const Encoded& reduced, std::int64_t iteration);

/// Returns the record of a single rank's report, without conversion of numbers. Throws UsageError as encode() does.
Record unreduced_record(const Metrics& metrics, std::int64_t iteration);

/// Returns one line per key, sorted by key: its kind ("mean", "sum", "min", "max" or "text"), a blank, the key.
std::string describe_keys(const Metrics& metrics);

/// Returns a message that names the first key that differs between ranks, and a rank; "" if there is no difference.
/// `described` has describe_keys() of each rank.
std::string first_difference(const std::vector<std::string>& described);

}  // namespace trainrt::metrics
