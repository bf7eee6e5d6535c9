#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/export.hpp>
#include <trainrt/tensor.hpp>

namespace trainrt {

/// One collective, as data. What it refers to (memory, counts, name) must live, and the memory be left alone, until it is
/// complete.
struct Collective {
  enum class Kind : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, barrier };
  Kind kind = Kind::barrier;
  Buffer buffer;         ///< all_reduce, broadcast: in and out; reduce_scatter: in, every rank's part; all_gather: out
  void* part = nullptr;  ///< reduce_scatter: out; all_gather: in; this rank's part, counts[rank] elements of buffer.dtype
  std::span<const std::size_t> counts;  ///< elements of each rank's part, in rank order: together buffer.count
  Op op = Op::sum;
  int root = 0;
  std::string_view name;  ///< of the tensor or the bucket, for messages
};

TRAINRT_API std::string_view name_of(Collective::Kind kind);

/// Collectives over the ranks of a run. Every call is collective: all ranks make it, in the same order, with the same
/// sizes.
///
/// Order of sums: every sum follows one binary tree over the rank numbers, (((0+1)+(2+3))+((4+5)+...)), so that the
/// bits of a result depend on the number of ranks only, never on the backend, the size or the layout over nodes. f16 and
/// bf16 are summed in f32 and rounded once, to nearest even. (NCCL does so on request only: scaling.deterministic.)
///
/// Waits are limited: a call that a rank does not join within the collective timeout throws an Error that names the
/// operation, the tensor, the missing ranks, and the step they were last seen at. Only the train thread may call. Waits on
/// several communicators are made in the same order on all ranks: each advances in calls of its own only.
class TRAINRT_API Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  virtual std::string_view name() const = 0;  ///< of the backend, as in `trainrt list`

  /// Reduces in place. Types: f64, f32, f16, bf16, i64, i32; others throw UsageError. mean of integers rounds toward zero;
  /// min and max of numbers with a NaN among them are NaN.
  void all_reduce(Buffer buffer, Op op, std::string_view name = {});
  template <std::ranges::contiguous_range Range>
  void all_reduce(Range&& values, Op op, std::string_view name = {}) {
    using T = std::ranges::range_value_t<Range>;
    all_reduce(Buffer{std::ranges::data(values), std::ranges::size(values), dtype_of<T>::value}, op, name);
  }
  template <class T>
  requires std::integral<T> || std::floating_point<T> T all_reduced(T value, Op op) {
    all_reduce(Buffer{&value, 1, dtype_of<T>::value}, op);
    return value;
  }

  /// `input` holds a part for every rank, counts[r] elements for rank r; this rank's, reduced, goes to `part`.
  void reduce_scatter(Buffer input, std::span<const std::size_t> counts, void* part, Op op, std::string_view name = {});

  /// Puts every rank's part, counts[r] elements of rank r, into `output`, in rank order. Any type.
  void all_gather(const void* part, std::span<const std::size_t> counts, Buffer output, std::string_view name = {});
  /// Every rank's bytes, in rank order; the lengths may differ.
  std::vector<std::string> all_gather(std::string_view bytes);

  /// Copies the root's elements to every rank. Any type.
  void broadcast(Buffer buffer, int root, std::string_view name = {});
  /// The root's text on every rank.
  std::string broadcast_text(std::string text, int root);

  void barrier(std::string_view name = {});

  /// The same without waiting: several may be in flight, and complete in the order of their start. They advance in test(),
  /// wait() and start() (and on the device by themselves). Tickets grow from one start to the next.
  using Ticket = std::uint64_t;
  virtual Ticket start(const Collective& collective) = 0;
  virtual bool test(Ticket ticket) = 0;
  virtual void wait(Ticket ticket) = 0;

  /// An element-wise maximum over all ranks that overlaps with work: at most one in flight, finish_maximum() waits for it.
  /// `name` is what messages call it.
  using Maximum = std::array<std::int64_t, 6>;
  virtual void start_maximum(const Maximum& mine) = 0;
  virtual Maximum finish_maximum(std::string_view name = "maximum") = 0;

  /// The ranks with the same color, numbered by key, then by rank here. A negative color belongs to none: nullptr.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  /// Whether it takes memory of that device, and allocate() has some: every communicator reaches the host. The same on all
  /// ranks; not collective.
  virtual bool reaches(Device device) const { return device == Device::host; }

  /// 64-byte aligned, zeroed memory that this backend reduces best: in place, without a copy. Collective; giving it back is
  /// not. To one collective either all ranks pass such memory, or none. UsageError for a device that it does not reach.
  virtual Memory allocate(std::size_t bytes, Device device = Device::host);

  /// This rank begins that step: if others wait for it they can say so. Not collective.
  virtual void at_step(std::int64_t) {}

 private:
  void run(const Collective& collective);

  int rank_;
  int size_;
};

}  // namespace trainrt
