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

// Communicator combines and exchanges data between the ranks of a run. A complete example:
//
// ```cpp
// #include <trainrt/context.hpp>
//
// #include <vector>
//
// void average(trainrt::Context& ctx, std::vector<float>& gradient, double loss) {
//   trainrt::Communicator& communicator = ctx.communicator();
//   communicator.all_reduce(gradient, trainrt::Op::mean, "gradient");             // in place, the same bits on every rank
//   const double total = communicator.all_reduced(loss, trainrt::Op::sum);        // of one number
//   const std::string settings = communicator.broadcast_text("of this rank", 0);  // rank 0's text on every rank
//
//   std::vector<double> statistics(1000, total);
//   trainrt::Collective reduction;
//   reduction.kind = trainrt::Collective::Kind::all_reduce;
//   reduction.buffer = {statistics.data(), statistics.size(), trainrt::DType::f64};
//   const auto ticket = communicator.start(reduction);
//   // ... work that overlaps with the reduction; it must not touch `statistics` ...
//   communicator.wait(ticket);
// }
// ```

namespace trainrt {

/// The description of one collective operation, for Communicator::start(). The memory, counts and name that it refers to
/// must live, and the memory must not be read or changed, until the operation is complete.
struct Collective {
  enum class Kind : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, barrier };
  Kind kind = Kind::barrier;
  Buffer buffer;  ///< all_reduce, broadcast: input and output; reduce_scatter: input for all ranks; all_gather: output
  void* part =
      nullptr;  ///< this rank's counts[rank] elements of buffer.dtype: output of reduce_scatter, input of all_gather
  std::span<const std::size_t>
      counts;             ///< elements per rank, in rank order, for reduce_scatter and all_gather; sum: buffer.count
  Op op = Op::sum;        ///< of all_reduce and reduce_scatter
  int root = 0;           ///< the rank that broadcast copies from
  std::string_view name;  ///< name of the tensor or bucket, for messages
};

/// Returns the name of a kind of collective: "all_reduce".
TRAINRT_API std::string_view name_of(Collective::Kind kind);

/// Collective operations over the ranks of a run: reductions, gathers, broadcasts and barriers.
///
/// Collective: all ranks must call all functions, in the same order and with the same sizes, except where a function is
/// documented as not collective.
///
/// Threads: only the thread that runs the train function may call. With several communicators, all ranks must wait on them
/// in the same order, because each advances only in its own calls.
///
/// Errors: if a rank does not join a call within failure.collective_timeout, the call throws an Error that names the
/// operation, the tensor, the missing ranks, and their last known step. The communicator cannot be used after that.
/// Not all backends detect that ranks call different functions or pass different sizes; scaling.check = true always does.
///
/// Order of sums: a sum is computed along one binary tree over the rank numbers, (((0+1)+(2+3))+((4+5)+...)). Its bits
/// depend on the number of ranks only, not on the backend, the size of the buffer or the layout over nodes. f16 and bf16
/// are summed in f32 and rounded once, to nearest even. NCCL does this only with scaling.deterministic.
class TRAINRT_API Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }          ///< number of this rank, 0 to size() - 1. Not collective
  int size() const { return size_; }          ///< number of ranks. Not collective
  virtual std::string_view name() const = 0;  ///< name of the backend, as in `trainrt list`. Not collective

  /// Combines the elements of `buffer` over the ranks, in place, so that all ranks have the result.
  ///
  /// Types: f64, f32, f16, bf16, i64 and i32; others throw UsageError. A mean of integers is rounded toward zero. The
  /// minimum or maximum of numbers that include a NaN is NaN. `name` is used in messages.
  void all_reduce(Buffer buffer, Op op, std::string_view name = {});
  /// Combines the elements of a contiguous range in host memory, such as a std::vector<float>, in place.
  template <std::ranges::contiguous_range Range>
  void all_reduce(Range&& values, Op op, std::string_view name = {}) {
    using T = std::ranges::range_value_t<Range>;
    all_reduce(Buffer{std::ranges::data(values), std::ranges::size(values), dtype_of<T>::value}, op, name);
  }
  /// Returns the combination of one number per rank.
  template <class T>
  requires std::integral<T> || std::floating_point<T> T all_reduced(T value, Op op) {
    all_reduce(Buffer{&value, 1, dtype_of<T>::value}, op);
    return value;
  }

  /// Combines `input` over the ranks and writes this rank's part of the result to `part`.
  ///
  /// `counts` has the number of elements of each rank's part, in rank order; their sum is input.count. `part` has room for
  /// counts[rank()] elements. Types as for all_reduce(). Throws UsageError if the counts do not fit.
  void reduce_scatter(Buffer input, std::span<const std::size_t> counts, void* part, Op op, std::string_view name = {});

  /// Copies the parts of all ranks, in rank order, into `output`. `part` holds this rank's counts[rank()] elements; the sum
  /// of `counts` is output.count. Elements of any type. Throws UsageError if the counts do not fit.
  void all_gather(const void* part, std::span<const std::size_t> counts, Buffer output, std::string_view name = {});
  /// Returns the `bytes` of every rank, in rank order; their lengths may differ.
  std::vector<std::string> all_gather(std::string_view bytes);

  /// Copies the elements of rank `root` to all ranks. Elements of any type. Throws UsageError for an invalid `root`.
  void broadcast(Buffer buffer, int root, std::string_view name = {});
  /// Returns the `text` of rank `root`; the text of other ranks is ignored.
  std::string broadcast_text(std::string text, int root);

  /// Waits until all ranks have called it.
  void barrier(std::string_view name = {});

  /// A number of a started operation; later operations have greater numbers.
  using Ticket = std::uint64_t;
  /// Starts an operation and returns without waiting for it. Several may be in flight; they complete in the order in which
  /// they were started. Operations advance in calls of start(), test() and wait(), and on a GPU independently of these.
  /// Throws UsageError for an invalid `collective` and for memory of a device that the backend does not reach.
  virtual Ticket start(const Collective& collective) = 0;
  /// Returns whether the operation is complete, without waiting. Not collective.
  virtual bool test(Ticket ticket) = 0;
  /// Waits until the operation is complete. For memory of a GPU it returns earlier: work that is then submitted to the
  /// default stream runs after the operation.
  virtual void wait(Ticket ticket) = 0;

  /// Six integers, of which the element-wise maximum over the ranks is computed.
  using Maximum = std::array<std::int64_t, 6>;
  /// Starts the maximum over all ranks' `mine` without waiting. At most one may be in flight.
  virtual void start_maximum(const Maximum& mine) = 0;
  /// Waits for the maximum that start_maximum() has started, and returns it. `name` is used in messages.
  virtual Maximum finish_maximum(std::string_view name = "maximum") = 0;

  /// Returns a communicator over the ranks that pass the same `color`. They are numbered by `key`, then by rank() in this
  /// communicator. Returns null on ranks that pass a negative `color`. Collective over all ranks of this communicator.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  /// Returns whether operations accept memory of `device`, and allocate() returns some. All communicators reach the host.
  /// The result is the same on all ranks. Not collective.
  virtual bool reaches(Device device) const { return device == Device::host; }

  /// Returns `bytes` of zeroed memory, aligned to 64 bytes, that this backend can reduce without a copy.
  ///
  /// For one operation either all ranks or no rank must pass such memory. Throws UsageError for a device that the backend
  /// does not reach. Collective; releasing the memory is not.
  virtual Memory allocate(std::size_t bytes, Device device = Device::host);

  /// Records that this rank begins step `step`, for messages about ranks that others wait for. Not collective.
  virtual void at_step(std::int64_t /*step*/) {}

 private:
  void run(const Collective& collective);

  int rank_;
  int size_;
};

}  // namespace trainrt
