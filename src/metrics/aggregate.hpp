#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <trainrt/metrics.hpp>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// From the ranks' reports to one record, in three parts, because metrics do not communicate:
///   1. every rank: encode(); if the ranks' schema hashes differ, gather describe_keys() and throw first_difference();
///   2. the caller all-reduces `sums` with Op::sum and `maxima` with Op::max (either may be empty);
///   3. every rank: decode(). Texts are this rank's own: rank 0's record is the one that counts.
/// The order of the keys may differ between ranks; keys, kinds and reductions may not.
struct Encoded {
  std::uint64_t schema_hash = 0;  ///< of keys, kinds and reductions
  std::vector<double> sums;
  std::vector<double> maxima;
};

/// Keys that are empty, start with "_", hold control characters or occur twice, and weights that are negative or not finite
/// throw UsageError that names the key.
Encoded encode(const Metrics& metrics);

/// `reduced` is what became of encode(metrics). Values keep the order of `metrics`.
///
/// mean is sum(value * weight) / sum(weight); a value of weight 0 does not count, and if all weights are 0 it is NaN.
/// A NaN on any rank (of a weight above 0) makes the result NaN, of min and max too. A sum, minimum or maximum is a whole
/// number if all ranks gave such, and a double holds them (of a sum: all of them together) exactly.
Record decode(const Metrics& metrics, const Encoded& reduced, std::int64_t iteration);

/// The record of a report of one rank alone: texts, and numbers with every bit. Keys as encode() wants them.
Record taken_as_is(const Metrics& metrics, std::int64_t iteration);

/// One line a key, sorted by key: its kind ("mean", "sum", "min", "max", "text"), a blank, the key.
std::string describe_keys(const Metrics& metrics);

/// What differs first, in words that name key and rank; "" if nothing does. `described` is describe_keys() of every
/// rank.
std::string first_difference(const std::vector<std::string>& described);

}  // namespace trainrt::metrics
