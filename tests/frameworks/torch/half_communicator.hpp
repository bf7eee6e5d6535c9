#pragma once
#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include <trainrt/communicator.hpp>

namespace trainrt::test {

/// Acts as two ranks, where the second one's gradients are all zero: each mean is half of this rank's value, and completes
/// at once.
class HalfCommunicator : public trainrt::Communicator {
 public:
  HalfCommunicator() : Communicator(0, 2) {}
  std::string_view name() const override { return "half"; }

  Ticket start(const trainrt::Collective& collective) override {
    using trainrt::Collective;
    if (collective.kind == Collective::Kind::broadcast) broadcast_bytes += collective.buffer.bytes();
    if (collective.kind == Collective::Kind::all_reduce) halve(collective.buffer), started.emplace_back(collective.name);
    return ++tickets_;
  }
  bool test(Ticket) override { return true; }
  void wait(Ticket) override {}
  void start_maximum(const Maximum& mine) override { maximum_ = mine; }
  Maximum finish_maximum(std::string_view) override { return maximum_; }
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }

  std::vector<std::string> started;  ///< names of the started reductions
  std::size_t broadcast_bytes = 0;

 private:
  static void halve(const trainrt::Buffer& buffer) {
    const auto type = buffer.dtype == trainrt::DType::f64   ? torch::kDouble
                      : buffer.dtype == trainrt::DType::f32 ? torch::kFloat
                      : buffer.dtype == trainrt::DType::f16 ? torch::kHalf
                                                            : torch::kBFloat16;
    torch::from_blob(buffer.data, {static_cast<std::int64_t>(buffer.count)}, type).div_(2);
  }

  Ticket tickets_ = 0;
  Maximum maximum_{};
};

}  // namespace trainrt::test
