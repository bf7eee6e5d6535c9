#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <trainrt/tensor.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// A rectangular part of a tensor: the elements with indices in [offset, offset + shape) on each axis.
struct Box {
  Shape offset;
  Shape shape;
};

/// Copies the intersection of two boxes of one tensor from the source box's memory to the target box's memory. Each box is
/// contiguous and row-major in its own memory, and both have the same number of axes. The copy consists of runs: a run is a
/// byte range of the intersection that is contiguous in both memories.
class BoxCopy {
 public:
  BoxCopy(const Box& from, const Box& to, std::size_t element_bytes);

  std::uint64_t bytes() const { return runs_ * run_bytes_; }  ///< Returns the size of the intersection in bytes.
  /// Returns the bounds [begin(), end()) of the byte range of the source box's memory that contains the intersection, as
  /// offsets from the first byte of the source box.
  std::uint64_t begin() const { return from_; }
  std::uint64_t end() const { return runs_ == 0 ? from_ : source_of(runs_ - 1) + run_bytes_; }

  /// Copies the part of the intersection that is in `window`, a buffer with the source box's bytes from offset `first` on.
  /// `to` is the first byte of the target box's memory.
  void copy(std::uint64_t first, std::span<const std::byte> window, std::byte* to) const;
  /// Calls `put` with each contiguous byte range of the intersection that is in `window` (as in copy()), and with its
  /// offset in the target box's memory. Used for memory that the CPU cannot write directly, such as GPU memory.
  using Put = std::function<void(std::uint64_t at, std::span<const std::byte> run)>;
  void each_run(std::uint64_t first, std::span<const std::byte> window, const Put& put) const;

 private:
  /// One axis along which the runs (contiguous byte ranges) of the copy repeat: the number of runs, and the distance in
  /// bytes between neighbouring runs in the source and in the target. Runs are numbered in row-major order.
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

  std::vector<Axis> axes_;  // axes along which the runs repeat, outermost first
  std::uint64_t from_ = 0;  // offset of the first run in the source box's memory
  std::uint64_t to_ = 0;    // offset of the first run in the target box's memory
  std::uint64_t run_bytes_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace trainrt::checkpoint
