#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace trainrt::test {

/// The model of a simulated rank, with tensors of each placement and values of each kind. Each step changes all of them.
class SimulatedModel {
 public:
  SimulatedModel(int rank, int size, bool grows)
      : grows_(grows), weights_(257), table_(static_cast<std::size_t>(3 + rank)), own_(7, 10 * rank) {
    state_.tensor("model/weights", weights_);
    state_.tensor("table", table_).sharded(0, 3 * rank + rank * (rank - 1) / 2, 3 * size + size * (size - 1) / 2);
    state_.tensor("own", own_).per_rank();
    state_.value("epoch", epoch_);
    state_.value("loss", loss_);
    state_.value("text", text_);
  }
  SimulatedModel(const SimulatedModel&) = delete;

  const State& state() const { return state_; }

  /// Completes step number `step`. Collective.
  void train(Communicator& communicator, std::int64_t step) {
    std::mt19937 random(static_cast<unsigned>(100 * step + communicator.rank()));
    std::vector<float> gradient(weights_.size());
    for (auto& each : gradient) each = static_cast<float>(random()) * 1e-9F - 2;
    communicator.all_reduce(gradient, Op::sum, "gradient");
    for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i] = weights_[i] * 0.9F + gradient[i];
    for (auto& each : table_) each = each / 3 + random();
    for (auto& each : own_) each = 31 * each + static_cast<std::int64_t>(random());
    epoch_ = static_cast<int>(step);
    loss_ = weights_[static_cast<std::size_t>(step) % weights_.size()] / 3.0;
    text_ = grows_ ? text_ + std::string(900, 'x') : "step " + std::to_string(step);
  }
  double loss() const { return loss_; }

  /// Returns all bytes of the model.
  std::string bytes() const {
    std::string all = std::to_string(epoch_) + " " + text_;
    const auto add = [&](const void* data, std::size_t size) { all.append(static_cast<const char*>(data), size); };
    add(&loss_, sizeof loss_);
    add(weights_.data(), weights_.size() * sizeof(float));
    add(table_.data(), table_.size() * sizeof(double));
    add(own_.data(), own_.size() * sizeof(std::int64_t));
    return all;
  }

 private:
  bool grows_;
  std::vector<float> weights_;
  std::vector<double> table_;
  std::vector<std::int64_t> own_;
  int epoch_ = 0;
  double loss_ = 0;
  std::string text_;
  State state_;
};

}  // namespace trainrt::test
