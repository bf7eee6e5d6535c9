#include "checkpoint/load/box.hpp"

#include <algorithm>
#include <cstring>

namespace trainrt::checkpoint {

/// Iterates over the runs of a box copy (the byte ranges that are contiguous in source and target) and returns the offset
/// of each run in both memories. A step to the next run usually costs one addition per offset.
class BoxCopy::RunCursor {
 public:
  RunCursor(const BoxCopy& copy, std::uint64_t run)
      : copy_(copy), at_(copy.axes_.size()), from_(copy.from_), to_(copy.to_) {
    for (auto axis = at_.size(); axis-- > 0;) {
      const auto& [count, from_step, to_step] = copy.axes_[axis];
      at_[axis] = run % count;
      run /= count;
      from_ += at_[axis] * from_step;
      to_ += at_[axis] * to_step;
    }
  }
  std::uint64_t from() const { return from_; }
  std::uint64_t to() const { return to_; }

  void next() {
    for (auto axis = at_.size(); axis-- > 0;) {
      const auto& [count, from_step, to_step] = copy_.axes_[axis];
      from_ += from_step;
      to_ += to_step;
      if (++at_[axis] < count) return;
      at_[axis] = 0;
      from_ -= count * from_step;
      to_ -= count * to_step;
    }
  }

 private:
  const BoxCopy& copy_;
  std::vector<std::uint64_t> at_;
  std::uint64_t from_;
  std::uint64_t to_;
};

BoxCopy::BoxCopy(const Box& from, const Box& to, std::size_t element_bytes) {
  std::uint64_t from_step = element_bytes;
  std::uint64_t to_step = element_bytes;
  run_bytes_ = element_bytes;
  runs_ = 1;
  bool contiguous = true;  // true while both boxes cover the inner axes completely
  for (auto axis = from.shape.size(); axis-- > 0;) {
    const auto first = std::max(from.offset[axis], to.offset[axis]);
    const auto last = std::min(from.offset[axis] + from.shape[axis], to.offset[axis] + to.shape[axis]);
    if (first >= last) {
      *this = BoxCopy({}, {}, 0);
      runs_ = 0;
      return;
    }
    const auto count = static_cast<std::uint64_t>(last - first);
    from_ += static_cast<std::uint64_t>(first - from.offset[axis]) * from_step;
    to_ += static_cast<std::uint64_t>(first - to.offset[axis]) * to_step;
    if (contiguous)
      run_bytes_ *= count;
    else
      add_axis({count, from_step, to_step});
    contiguous = contiguous && last - first == from.shape[axis] && last - first == to.shape[axis];
    from_step *= static_cast<std::uint64_t>(from.shape[axis]);
    to_step *= static_cast<std::uint64_t>(to.shape[axis]);
  }
  std::reverse(axes_.begin(), axes_.end());
}

/// Adds the next outer axis along which the runs of the copy repeat. Merges it with the previous axis if the runs have a
/// constant distance along both.
void BoxCopy::add_axis(Axis axis) {
  runs_ *= axis.count;
  if (axis.count == 1) return;
  if (!axes_.empty()) {
    auto& inner = axes_.back();
    if (axis.from_step == inner.count * inner.from_step && axis.to_step == inner.count * inner.to_step) {
      inner.count *= axis.count;
      return;
    }
  }
  axes_.push_back(axis);
}

std::uint64_t BoxCopy::source_of(std::uint64_t run) const { return RunCursor(*this, run).from(); }

/// Returns the number of the first run (contiguous byte range) that ends after offset `byte` of the source memory, by a
/// binary search: in the source, the runs are in ascending order.
std::uint64_t BoxCopy::first_run_after(std::uint64_t byte) const {
  std::uint64_t low = 0;
  for (auto high = runs_; low < high;) {
    const auto middle = low + (high - low) / 2;
    if (source_of(middle) + run_bytes_ <= byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <class Action>
void BoxCopy::walk(std::uint64_t first, std::span<const std::byte> window, Action&& action) const {
  const auto last = first + window.size();
  auto run = first_run_after(first);
  if (run == runs_) return;
  for (RunCursor walk(*this, run); run < runs_ && walk.from() < last; ++run, walk.next()) {
    const auto begin = std::max(walk.from(), first);
    const auto end = std::min(walk.from() + run_bytes_, last);
    action(walk.to() + (begin - walk.from()), window.subspan(begin - first, end - begin));
  }
}

void BoxCopy::copy(std::uint64_t first, std::span<const std::byte> window, std::byte* to) const {
  walk(first, window,
       [&](std::uint64_t at, std::span<const std::byte> run) { std::memcpy(to + at, run.data(), run.size()); });
}

void BoxCopy::each_run(std::uint64_t first, std::span<const std::byte> window, const Put& put) const {
  walk(first, window, put);
}

}  // namespace trainrt::checkpoint
