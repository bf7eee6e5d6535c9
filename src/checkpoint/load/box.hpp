#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <trainrt/tensor.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// A rectangular part of a tensor: [offset, offset + shape).
struct Box {
  Shape offset;
  Shape shape;
};

/// Copies the intersection of two boxes of one tensor from the memory of the source box to that of the target box. Each
/// box is contiguous and row-major in its own memory, and both have the same number of axes. A run is a range of bytes that
/// is contiguous in both; it is copied at once.
class BoxCopy {
 public:
  BoxCopy(const Box& from, const Box& to, std::size_t element_bytes);

  std::uint64_t bytes() const { return runs_ * run_bytes_; }  ///< size of the intersection
  /// The needed source bytes are in [begin(), end()), relative to the source box.
  std::uint64_t begin() const { return from_; }
  std::uint64_t end() const { return runs_ == 0 ? from_ : source_of(runs_ - 1) + run_bytes_; }

  /// Copies the part of the intersection that `window` contains: the source bytes from position `first` on. `to` is the
  /// beginning of the target box.
  void copy(std::uint64_t first, std::span<const std::byte> window, std::byte* to) const;
  /// Calls `put` with each run in `window` and its position relative to the target box, for memory that cannot be written
  /// directly.
  using Put = std::function<void(std::uint64_t at, std::span<const std::byte> run)>;
  void each_run(std::uint64_t first, std::span<const std::byte> window, const Put& put) const;

 private:
  /// An axis over runs, with the distance in bytes of neighbours in source and target. Runs are numbered in row-major
  /// order.
  struct Axis {
    std::uint64_t count;
    std::uint64_t from_step;
    std::uint64_t to_step;
  };
  class RunCursor;
  template <class Action>
  void walk(std::uint64_t first, std::span<const std::byte> window, Action&& action) const;
  void add_axis(Axis axis);
  std::uint64_t source_of(std::uint64_t run) const;
  std::uint64_t first_run_after(std::uint64_t byte) const;

  std::vector<Axis> axes_;  // outermost first
  std::uint64_t from_ = 0;  // position of the first run in the source
  std::uint64_t to_ = 0;    // position of the first run in the target
  std::uint64_t run_bytes_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace trainrt::checkpoint
