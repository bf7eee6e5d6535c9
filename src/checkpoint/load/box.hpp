#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <trainrt/tensor.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// A box of a tensor: [offset, offset + shape).
struct Box {
  Shape offset;
  Shape shape;
};

/// Copies what two boxes of one tensor share, from where the one lies contiguous and row-major to where the other does.
/// Whatever is contiguous in both is copied at once. Both boxes have as many axes.
class BoxCopy {
 public:
  BoxCopy(const Box& from, const Box& to, std::size_t element_bytes);

  std::uint64_t bytes() const { return runs_ * run_bytes_; }  ///< that they share
  /// What is needed of the source's bytes: [begin, end).
  std::uint64_t begin() const { return from_; }
  std::uint64_t end() const { return runs_ == 0 ? from_ : source_of(runs_ - 1) + run_bytes_; }

  /// Copies what lies in `window`, the source's bytes from `first` on; `to` is where the other box begins.
  void copy(std::uint64_t first, std::span<const std::byte> window, std::byte* to) const;
  /// The same for memory that only others can write: calls `put` with each run, and how far from where the other box begins
  /// it goes.
  using Put = std::function<void(std::uint64_t at, std::span<const std::byte> run)>;
  void each_run(std::uint64_t first, std::span<const std::byte> window, const Put& put) const;

 private:
  /// Runs are numbered in row-major order over these axes.
  struct Axis {
    std::uint64_t count;
    std::uint64_t from_step;
    std::uint64_t to_step;
  };
  class Walk;
  template <class Action>
  void walk(std::uint64_t first, std::span<const std::byte> window, Action&& action) const;
  void add_axis(Axis axis);
  std::uint64_t source_of(std::uint64_t run) const;
  std::uint64_t first_run_behind(std::uint64_t byte) const;

  std::vector<Axis> axes_;  // outermost first
  std::uint64_t from_ = 0;  // where the first run lies in the one
  std::uint64_t to_ = 0;    // and in the other
  std::uint64_t run_bytes_ = 0;
  std::uint64_t runs_ = 0;
};

}  // namespace trainrt::checkpoint
