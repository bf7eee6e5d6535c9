#include "data/images/probed_sizes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/images/image_decoder.hpp"

namespace trainrt::data {

void ProbedSizes::add(const std::string& what, ImageSize size) {
  if (count_++ == 0) first_ = min_ = max_ = size;
  if (different_.empty() && !(size == first_)) different_ = fmt::format("{} with {}", what, to_text(size));
  min_ = {std::min(min_.height, size.height), std::min(min_.width, size.width)};
  max_ = {std::max(max_.height, size.height), std::max(max_.width, size.width)};
}

void ProbedSizes::require_equal() const {
  if (different_.empty()) return;
  throw UsageError(
      fmt::format("the images have different sizes, such as {} and others with {} pixels (height x width). "
                  "Of {} images, the heights are {} to {} and the widths {} to {}. {}",
                  different_, to_text(first_), count_, min_.height, max_.height, min_.width, max_.width, resize_advice));
}

}  // namespace trainrt::data
