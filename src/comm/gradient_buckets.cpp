#include <trainrt/gradient_buckets.hpp>

#include <algorithm>
#include <cstring>

namespace trainrt {

GradientBuckets::GradientBuckets(Communicator& communicator, std::span<const std::size_t> counts, DType dtype,
                                 std::size_t bucket_bytes)
    : communicator_(communicator), dtype_(dtype), bucket_count_(std::max<std::size_t>(1, bucket_bytes / size_of(dtype))) {
  const std::size_t grain = 64 / size_of(dtype);
  for (const auto count : counts) {
    offsets_.push_back(total_count_);
    total_count_ += (count + grain - 1) / grain * grain;
  }
  memory_ = communicator.allocate(total_count_ * size_of(dtype));
}

void* GradientBuckets::gradient(std::size_t parameter) const {
  return memory_.get() + offsets_.at(parameter) * size_of(dtype_);
}

void GradientBuckets::zero() { std::memset(memory_.get(), 0, total_count_ * size_of(dtype_)); }

void GradientBuckets::average() {
  for (std::size_t first = 0; first < total_count_; first += bucket_count_) {
    const auto count = std::min(bucket_count_, total_count_ - first);
    communicator_.all_reduce(Buffer{memory_.get() + first * size_of(dtype_), count, dtype_}, Op::mean);
  }
}

}  // namespace trainrt
