#include "frameworks/trees/lightgbm/score_areas.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace trainrt::frameworks::trees {

namespace {

template <class T>
std::vector<T> gathered_of_ranks(Communicator& communicator, std::span<const T> mine, std::span<const std::size_t> counts) {
  std::vector<T> all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  communicator.all_gather(mine.data(), counts, Buffer{all.data(), all.size(), dtype_of<T>::value}, "scores");
  return all;
}

/// Returns the weight of each row, negated for a row of the negative class.
std::vector<float> signed_weights(std::span<const float> labels, std::span<const float> weights) {
  std::vector<float> all(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto weight = weights.empty() ? 1.0F : weights[i];
    all[i] = labels[i] > 0 ? weight : -weight;
  }
  return all;
}

/// Computes the areas from the rows in descending order of their scores. close_score() ends a group of equal scores.
class AreaSum {
 public:
  void take(double weight) { (weight > 0 ? positive_ : negative_) += weight > 0 ? weight : -weight; }
  void close_score() {
    auc_ += negative_ * (positive_ * 0.5 + positives_);
    positives_ += positive_;
    all_ += positive_ + negative_;
    if (all_ > 0) precision_ += positive_ * (positives_ / all_);
    positive_ = negative_ = 0;
  }
  ScoreAreas areas() const {
    if (positives_ == 0 || positives_ == all_) return {};
    return {auc_ / (positives_ * (all_ - positives_)), precision_ / positives_};
  }

 private:
  double positive_ = 0, negative_ = 0, positives_ = 0, all_ = 0, auc_ = 0, precision_ = 0;
};

}  // namespace

ScoreAreas score_areas(Communicator& communicator, std::span<const double> scores, std::span<const float> labels,
                       std::span<const float> weights) {
  const std::vector<std::size_t> one(static_cast<std::size_t>(communicator.size()), 1);
  const auto mine = static_cast<std::int64_t>(scores.size());
  std::vector<std::int64_t> found(one.size());
  communicator.all_gather(&mine, one, Buffer{found.data(), found.size(), DType::i64}, "rows");
  const std::vector<std::size_t> counts(found.begin(), found.end());
  const auto all_scores = gathered_of_ranks<double>(communicator, scores, counts);
  const auto all_weights = gathered_of_ranks<float>(communicator, signed_weights(labels, weights), counts);
  std::vector<std::pair<double, float>> rows(all_scores.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {all_scores[i], all_weights[i]};
  std::ranges::sort(rows, std::greater<>());
  AreaSum sum;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i].first != rows[i - 1].first) sum.close_score();
    sum.take(static_cast<double>(rows[i].second));
  }
  sum.close_score();
  return sum.areas();
}

}  // namespace trainrt::frameworks::trees
