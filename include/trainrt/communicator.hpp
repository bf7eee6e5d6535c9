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

// Communicator reduces and exchanges data between the ranks of a run. A complete example:
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

/// The description of one collective operation, for Communicator::start(). The memory, counts and name to which its fields
/// refer must exist until the operation is complete; until then the memory must not be read or changed.
struct Collective {
  enum class Kind : std::uint8_t { all_reduce, reduce_scatter, all_gather, broadcast, barrier };
  Kind kind = Kind::barrier;
  /// the data of full size: input and output of all_reduce and broadcast, input of reduce_scatter, output of all_gather
  Buffer buffer;
  /// this rank's part of the data, counts[rank] elements of buffer.dtype: output of reduce_scatter, input of all_gather
  void* part = nullptr;
  /// for reduce_scatter and all_gather: number of elements of each rank's part, in rank order; their sum is buffer.count
  std::span<const std::size_t> counts;
  Op op = Op::sum;        ///< the reduction of all_reduce and reduce_scatter
  int root = 0;           ///< the rank that broadcast copies from
  std::string_view name;  ///< name of the tensor or bucket, for error messages
};

/// Returns the name of a kind of collective operation: "all_reduce".
TRAINRT_API std::string_view name_of(Collective::Kind kind);

/// Collective operations over the ranks of a run: reductions, gathers, broadcasts and barriers.
///
/// Collective: all ranks must call all functions, in the same order and with the same sizes, except where a function is
/// documented as not collective.
///
/// Threads: only the thread that runs the train function may call functions of a Communicator. An operation advances only
/// in calls of functions of its own communicator. If a rank uses several communicators, all ranks must therefore wait on
/// them in the same order.
///
/// Errors: if a rank does not join a call within failure.collective_timeout, the call throws an Error that names the
/// operation, the tensor, the missing ranks, and their last known step. The communicator cannot be used after that error.
/// Not all backends detect that ranks call different functions or pass different sizes. With
/// scaling.check_collectives = true, such calls are always detected.
///
/// Order of sums: a sum is computed along one binary tree over the rank numbers, (((0+1)+(2+3))+((4+5)+...)). The bits of
/// the result depend only on the number of ranks, not on the backend, the size of the buffer or the layout over nodes.
/// Values of type f16 and bf16 are summed in f32 and rounded once, to nearest even. The NCCL backend keeps this order only
/// with scaling.deterministic.
class TRAINRT_API Communicator {
 public:
  Communicator(int rank, int size) : rank_(rank), size_(size) {}
  virtual ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return rank_; }          ///< number of this rank, 0 to size() - 1. Not collective
  int size() const { return size_; }          ///< number of ranks. Not collective
  virtual std::string_view name() const = 0;  ///< name of the communication backend, as in `trainrt list`. Not collective

  /// All-reduces the elements of `buffer` in place, so that all ranks have the result.
  ///
  /// Types: f64, f32, f16, bf16, i64 and i32; others throw UsageError. A mean of integers is rounded toward zero. The
  /// minimum or maximum of numbers that include a NaN is NaN. Error messages show `name`.
  void all_reduce(Buffer buffer, Op op, std::string_view name = {});
  /// All-reduces the elements of a contiguous range in host memory, such as a std::vector<float>, in place.
  template <std::ranges::contiguous_range Range>
  void all_reduce(Range&& values, Op op, std::string_view name = {}) {
    using T = std::ranges::range_value_t<Range>;
    all_reduce(Buffer{std::ranges::data(values), std::ranges::size(values), dtype_of<T>::value}, op, name);
  }
  /// All-reduces one number per rank and returns the result.
  template <class T>
  requires std::integral<T> || std::floating_point<T> T all_reduced(T value, Op op) {
    all_reduce(Buffer{&value, 1, dtype_of<T>::value}, op);
    return value;
  }

  /// Reduces the elements of `input` over the ranks and writes this rank's part of the result to `part`.
  ///
  /// `counts` has the number of elements of each rank's part, in rank order. `part` has room for counts[rank()] elements.
  /// The types of all_reduce() are supported. Throws UsageError unless the sum of `counts` is input.count.
  void reduce_scatter(Buffer input, std::span<const std::size_t> counts, void* part, Op op, std::string_view name = {});

  /// Copies the parts of all ranks, in rank order, into `output`. `part` holds this rank's counts[rank()] elements, which
  /// may have any type. Throws UsageError unless the sum of `counts` is output.count.
  void all_gather(const void* part, std::span<const std::size_t> counts, Buffer output, std::string_view name = {});
  /// Gathers the `bytes` of every rank and returns them in rank order. The lengths may differ between ranks.
  std::vector<std::string> all_gather(std::string_view bytes);

  /// Copies the elements of rank `root`'s buffer, of any type, into the buffers of all ranks. Throws UsageError for an
  /// invalid `root`.
  void broadcast(Buffer buffer, int root, std::string_view name = {});
  /// Returns the `text` of rank `root`; the text of other ranks is ignored.
  std::string broadcast_text(std::string text, int root);

  /// Waits until all ranks have called barrier().
  void barrier(std::string_view name = {});

  /// The number of an operation that start() has started; later operations have greater numbers.
  using Ticket = std::uint64_t;
  /// Starts a collective operation and returns without waiting for its completion. Several operations may be in flight;
  /// they complete in the order in which they were started. Operations advance in calls of start(), test() and wait(); on a
  /// GPU they also advance between these calls. Throws UsageError for an invalid `collective`, and for memory of a device
  /// that the backend does not support (reaches()).
  virtual Ticket start(const Collective& collective) = 0;
  /// Returns whether a started operation is complete, without waiting. Not collective.
  virtual bool test(Ticket ticket) = 0;
  /// Waits until a started operation is complete. For GPU memory, wait() may return earlier: work that is submitted to the
  /// default stream afterwards runs after the operation.
  virtual void wait(Ticket ticket) = 0;

  /// Six integers: the argument of start_maximum() and the result of finish_maximum().
  using Maximum = std::array<std::int64_t, 6>;
  /// Starts to compute the element-wise maximum of the `mine` of all ranks, and returns without waiting. At most one such
  /// operation may be in flight.
  virtual void start_maximum(const Maximum& mine) = 0;
  /// Waits for the operation that start_maximum() has started, and returns the maximum. Error messages show `name`.
  virtual Maximum finish_maximum(std::string_view name = "maximum") = 0;

  /// Returns a communicator over the ranks that pass the same `color`. The ranks of the new communicator are ordered by
  /// `key`, then by rank() in this communicator, as in MPI_Comm_split. Returns null on ranks that pass a negative `color`.
  /// Collective over all ranks of this communicator.
  virtual std::unique_ptr<Communicator> split(int color, int key) = 0;

  /// Returns whether the backend supports memory of `device`: operations accept such memory, and allocate() can return it.
  /// All communicators support host memory. The result is the same on all ranks. Not collective.
  virtual bool reaches(Device device) const { return device == Device::host; }

  /// Returns `bytes` of zeroed memory, aligned to 64 bytes, that this backend can reduce without a copy.
  ///
  /// In one operation, either all ranks or no rank must pass memory from allocate(). Throws UsageError for a device that
  /// the backend does not support (reaches()). Collective; releasing the memory is not collective.
  virtual Memory allocate(std::size_t bytes, Device device = Device::host);

  /// Records that this rank begins training step `step`, for error messages about ranks that did not join an operation. Not
  /// collective.
  virtual void at_step(std::int64_t /*step*/) {}

  /// Returns `bytes` of zeroed host memory that all ranks share, aligned to 64 bytes: after a barrier(), each rank reads
  /// what the others have written before it. Returns null on all ranks if they cannot share memory: they are on several
  /// nodes, the backend has no shared memory, or the node has too little of it. Collective; releasing the memory is not
  /// collective.
  virtual Memory allocate_shared(std::size_t /*bytes*/) { return {}; }

 private:
  void run(const Collective& collective);

  int rank_;
  int size_;
};

}  // namespace trainrt
