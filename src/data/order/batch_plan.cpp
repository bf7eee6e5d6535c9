#include "data/order/batch_plan.hpp"

#include <algorithm>
#include <limits>

namespace trainrt::data {

namespace {

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

/// Returns the number of positions that the rest of an epoch visits if `left` samples remain. Remainder::pad rounds
/// this number up to a multiple of `workers`, and some samples are repeated. Remainder::drop rounds it down to a
/// multiple of `global_batch`, and some samples are left out.
std::uint64_t visited(std::uint64_t left, std::uint64_t global_batch, std::uint64_t workers, Remainder remainder) {
  switch (remainder) {
    case Remainder::pad:
      return (left + workers - 1) / workers * workers;
    case Remainder::drop:
      return left / global_batch * global_batch;
    case Remainder::uneven:
    case Remainder::whole:
      return left;
  }
  return left;
}

}  // namespace

BatchPlan::BatchPlan(std::uint64_t samples, std::uint64_t start, Split split, Remainder remainder)
    : start_(start), ranks_(split.ranks), whole_batch_(remainder == Remainder::whole ? split.batch_size : 0) {
  const bool is_elastic = split.workers > 0 && whole_batch_ == 0;
  const auto workers = static_cast<std::uint64_t>(is_elastic ? split.workers : ranks_);
  global_batch_ = saturating_product(split.batch_size, workers);
  const auto left = samples > start ? samples - start : 0;
  end_ = start_ + visited(left, global_batch_, workers, remainder);
}

std::uint64_t BatchPlan::batch_count() const {
  const auto positions = end_ - start_;
  return positions / global_batch_ + (positions % global_batch_ != 0 ? 1 : 0);
}

Slice BatchPlan::global_batch(std::uint64_t k) const {
  if (k >= batch_count()) return {end_, 0};
  const auto first = start_ + k * global_batch_;
  return {first, std::min(global_batch_, end_ - first)};
}

Slice BatchPlan::rank_part(std::uint64_t k, int rank) const {
  const auto whole = global_batch(k);
  if (whole_batch_ > 0) {
    const auto before = std::min(saturating_product(static_cast<std::uint64_t>(rank), whole_batch_), whole.count);
    return {whole.first + before, std::min(whole_batch_, whole.count - before)};
  }
  const auto [first, end] = share_of(whole.count, rank, ranks_);
  return {whole.first + first, end - first};
}

}  // namespace trainrt::data
