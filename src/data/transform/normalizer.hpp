#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// (x - mean) / deviation as f32, of x itself or, of u8 and as torchvision's ToTensor does, of x / 255. Pure.
class Normalizer {
 public:
  /// `arguments`: mean and deviation of all values, or of an image the means of its channels, then their deviations.
  /// UsageError that says what is wrong.
  Normalizer(const Dataset::Field& from, std::span<const std::string> arguments);
  const Dataset::Field& field() const { return field_; }  ///< as it becomes
  /// Of any number of samples.
  void apply(std::span<const std::byte> from, std::span<std::byte> to) const;

 private:
  struct Channel {
    float mean, deviation;
    std::vector<float> of_byte;
  };
  void apply_run(const Channel& channel, std::span<const std::byte> from, std::size_t first, std::size_t count,
                 std::size_t step, float* out) const;

  DType from_;
  Dataset::Field field_;
  std::vector<Channel> channels_;
  bool are_side_by_side_ = false;
  std::size_t plane_ = 0;  ///< values of a channel that follow one another, if there are several
};

}  // namespace trainrt::data
