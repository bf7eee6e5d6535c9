#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/export.hpp>
#include <trainrt/tensor.hpp>

namespace trainrt {

enum class Op : std::uint8_t { sum, mean, min, max };

TRAINRT_API std::string_view name_of(Op op);

/// Memory that a backend can reduce in place. It is given back when the last owner goes, the communicator before it or not.
using Memory = std::shared_ptr<std::byte[]>;

/// Collectives over the ranks of a run. Every call is collective: all ranks make it, in the same order, with the same
/// sizes.
///
/// Order of sums: every sum follows one binary tree over the rank numbers, (((0+1)+(2+3))+((4+5)+...)), so that the
/// bits of a result depend on the number of ranks only, never on the backend, the size or the layout over nodes.
///
/// Waits are limited: a call that a rank does not join within the collective timeout throws an Error that names the
/// operation, and where the backend can tell, the missing ranks. Only the train thread may call.
class TRAINRT_API Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  virtual std::string_view name() const = 0;  ///< of the backend, as in `trainrt list`

  /// Reduces in place. Types: f64, f32, i64, i32; others throw UsageError. mean of integers rounds toward zero.
  virtual void all_reduce(Buffer buffer, Op op) = 0;
  template <std::ranges::contiguous_range Range>
  void all_reduce(Range&& values, Op op) {
    using T = std::ranges::range_value_t<Range>;
    all_reduce(Buffer{std::ranges::data(values), std::ranges::size(values), dtype_of<T>::value}, op);
  }
  template <class T>
  requires std::integral<T> || std::floating_point<T> T all_reduced(T value, Op op) {
    all_reduce(Buffer{&value, 1, dtype_of<T>::value}, op);
    return value;
  }

  /// Copies the root's elements to every rank.
  virtual void broadcast(Buffer buffer, int root) = 0;

  /// Every rank's bytes, in rank order; the lengths may differ.
  virtual std::vector<std::string> all_gather(std::string_view bytes) = 0;

  /// The root's text on every rank.
  std::string broadcast_text(std::string text, int root);

  virtual void barrier() = 0;

  /// An element-wise maximum that overlaps with work: at most one in flight, finish_vote() waits for it.
  using Vote = std::array<std::int64_t, 6>;
  virtual void start_vote(const Vote& mine) = 0;
  virtual Vote finish_vote() = 0;

  /// 64-byte aligned, zeroed memory that this backend reduces best.
  virtual Memory allocate(std::size_t bytes);

 private:
  int rank_;
  int size_;
};

}  // namespace trainrt
