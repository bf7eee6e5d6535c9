#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <trainrt/export.hpp>
#include <trainrt/random.hpp>
#include <trainrt/tensor.hpp>

// Dataset divides the samples of a data source into batches, epoch by epoch. A complete example:
//
// ```cpp
// #include <trainrt/context.hpp>
//
// #include <cstring>
//
// void evaluate(trainrt::Context& ctx) {
//   trainrt::Dataset data = ctx.dataset("test");  // section [data.test] of the config
//
//   // Divide the bytes of each image by 255, in the threads that read ahead.
//   data.map("image", {"image", trainrt::DType::f32, {784}}, [](auto from, auto to, trainrt::Random&) {
//     for (std::size_t i = 0; i < from.size(); ++i) {
//       const float value = static_cast<float>(from[i]) / 255;
//       std::memcpy(to.data() + i * sizeof value, &value, sizeof value);
//     }
//   });
//
//   for (const auto& batch : data.epoch(0).batches(32, trainrt::Remainder::uneven)) {  // of this rank
//     const trainrt::TensorView images = batch.field("image");  // f32 of shape [batch.size(), 784]
//     const auto labels = batch.field<std::uint8_t>("label");        // std::span with one u8 per sample
//     // ... use images.data and labels[i]; they are valid until the next batch ...
//   }
// }
// ```

namespace trainrt {

struct PreprocessorImpl;

/// How an epoch treats samples that do not fill the last global batch. A global batch consists of the batches of all ranks.
enum class Remainder : std::uint8_t {
  /// For training, as in PyTorch's DistributedSampler: repeat the first samples of the epoch until all ranks have equally
  /// many samples. The last batches may be smaller than `batch_size`, but have the same size on all ranks.
  pad,
  uneven,  ///< for evaluation: use each sample once; a rank's last batch may be smaller or missing
  drop,    ///< leave out the samples that do not fill the last global batch, so that all batches have `batch_size` samples
  /// For predictions: use each sample once, in batches of exactly `batch_size` consecutive samples; only the last batch of
  /// the epoch may be smaller. The batches are the same on any number of ranks, so a model's results have the same bits.
  /// Some ranks may get one batch more than others.
  whole,
};

/// A batch of samples of this rank. The values are copies, valid until the next batch is taken from the same loop.
///
/// The values of a field are read at the first call for that field; in later batches the field is read ahead in the
/// background. No function is collective. Only the thread that runs the train function may call functions of a Batch.
/// Functions that return values throw Error if the data source cannot be read, or if a later batch was taken.
class TRAINRT_API Batch {
 public:
  std::size_t size() const { return indices_.size(); }  ///< number of samples in this rank's batch
  /// index of each sample of the batch in the dataset
  std::span<const std::uint64_t> indices() const { return indices_; }
  /// Returns the weight of this rank's mean over its batch. If each rank multiplies its mean by its weight, the mean over
  /// the ranks is the mean over all samples of the global batch. The weight is (number of samples in this rank's batch) *
  /// (number of ranks) / (number of samples in the global batch): exactly 1 if all ranks have equally many samples, 0 for
  /// an empty batch.
  double weight() const { return weight_; }
  /// Returns the values of field `name` of all samples in the batch, of shape [size(), sample shape...]. Throws UsageError,
  /// with the valid names, for an unknown field and for a field with samples of varying length.
  TensorView field(std::string_view name) const;
  /// Returns the values of field `name` of all samples in the batch as elements of type T, without conversion:
  /// `batch.field<float>("x")` for a field of type f32. The elements are in row-major order of the shape that field(name)
  /// returns. Throws the errors of field(name), and UsageError, with the field's type, if its elements are not of type T.
  template <class T>
  std::span<T> field(std::string_view name) const {
    const auto values = field(name, dtype_of<std::remove_const_t<T>>::value);
    return {static_cast<T*>(values.data), static_cast<std::size_t>(element_count(values.shape))};
  }
  /// Returns one sample's values of a field that varies in length, as a tensor of one axis. `sample` is an index in this
  /// batch, below size(). Throws UsageError for an unknown field, a field of fixed shape, or an index out of range.
  TensorView varying(std::string_view name, std::size_t sample) const;
  /// Returns one sample's text: the bytes of a field of type u8 that varies in length. Throws the errors of varying(), and
  /// UsageError for a field of another type.
  std::string_view text(std::string_view name, std::size_t sample) const;
  /// Returns a random generator for one sample of this batch, for augmentation. It is seeded by (run.seed, dataset, epoch,
  /// sample): the numbers are the same on any number of ranks and after a restart.
  Random random(std::size_t sample) const;

 private:
  /// Returns the values of field `name`, as field(name) does. Also throws UsageError if the elements are not of type
  /// `dtype`.
  TensorView field(std::string_view name, DType dtype) const;
  friend class Batches;
  friend class BatchesImpl;
  std::vector<std::uint64_t> indices_;
  double weight_ = 1;
  class BatchesImpl* owner_ = nullptr;
};

/// The batches of one rank in one epoch: a range that can be iterated over once (Ray: iter_batches).
///
/// While a loop over the batches runs, every checkpoint stores the loop's position. After a restart, the same loop
/// continues after the last batch that was taken before the saved step() or report(). No function is collective. Only the
/// thread that runs the train function may call functions of Batches.
class TRAINRT_API Batches {
 public:
  explicit Batches(std::shared_ptr<class BatchesImpl> impl) : impl_(std::move(impl)) {}

  class TRAINRT_API iterator {
   public:
    explicit iterator(class BatchesImpl* impl = nullptr) : impl_(impl) {}
    const Batch& operator*() const;
    iterator& operator++();
    bool operator==(const iterator& other) const { return impl_ == other.impl_; }

   private:
    class BatchesImpl* impl_;
  };
  /// Takes the first batch and returns an iterator to it. A second call throws Error, because the batches can be iterated
  /// over only once.
  iterator begin();
  iterator end() { return iterator(); }
  /// Declares that only the first `batches` batches of this loop have been used so far, for code that takes batches ahead
  /// of their use. Checkpoints then store the position after these batches. A loop that has taken all batches counts as
  /// unfinished until all batches are used or the loop is destroyed.
  void count_only(std::uint64_t batches);
  /// Returns whether the next batch has been read ahead, so that it can be taken without waiting and without an error.
  bool has_ready() const;

 private:
  std::shared_ptr<class BatchesImpl> impl_;
};

/// One pass over the samples of a dataset, in an order that depends on (run.seed, dataset, number of the epoch).
class TRAINRT_API Epoch {
 public:
  Epoch(std::shared_ptr<class DatasetImpl> dataset, std::int64_t number) : dataset_(std::move(dataset)), number_(number) {}
  /// Returns this rank's batches, of `batch_size` samples per rank.
  ///
  /// In an elastic run (scaling.min_workers), the global batch keeps the size that it has on the full number of ranks
  /// (num_workers), and is divided evenly over the present ranks. A rank's batch may then be larger than `batch_size`. The
  /// sizes may differ by one sample between ranks; Batch::weight() corrects this. If the run has more ranks than
  /// num_workers, a rank's batch may be empty.
  ///
  /// All ranks get equally many batches, except with Remainder::uneven and Remainder::whole, which leave out empty
  /// batches.
  ///
  /// Throws UsageError if `batch_size` is 0. Not collective.
  Batches batches(std::size_t batch_size, Remainder remainder = Remainder::pad) const;
  /// Returns `count` samples from position `first` of the epoch's order on, each once, in batches of `batch_size`. The
  /// samples do not depend on the number of ranks or on this rank. Use range() in code that fills one contiguous part of
  /// a matrix per rank.
  ///
  /// Checkpoints do not store the position of a loop over these batches. Throws UsageError if the dataset has too few
  /// samples or `batch_size` is 0. Not collective.
  Batches range(std::uint64_t first, std::uint64_t count, std::size_t batch_size) const;

 private:
  std::shared_ptr<class DatasetImpl> dataset_;
  std::int64_t number_;
};

/// This rank's view of the dataset that config section [data.NAME] declares (Ray: DataIterator).
///
/// All ranks share one global order of the samples. Copies of a Dataset refer to the same dataset. Only the thread that
/// runs the train function may call functions of a Dataset.
///
/// filter(), flat_map(), pack(), window() and draw_by_weight() replace the samples. Call them before the first epoch, and
/// make the same calls after a restart. They throw UsageError while a loop over batches runs. If a function that the user
/// passes throws an exception, collective calls throw the exception on all ranks.
class TRAINRT_API Dataset {
 public:
  explicit Dataset(std::shared_ptr<class DatasetImpl> impl) : impl_(std::move(impl)) {}
  std::uint64_t size() const;  ///< number of samples in the dataset, over all ranks. Not collective
  /// Returns the number of batches that Epoch::batches() returns for the same arguments. Throws UsageError if `batch_size`
  /// is 0. Not collective.
  std::uint64_t batch_count(std::size_t batch_size, Remainder remainder = Remainder::pad) const;
  /// Returns the epoch with the given number, from 0. Each epoch of a shuffled dataset has its own order of samples. Not
  /// collective.
  Epoch epoch(std::int64_t number) const { return Epoch(impl_, number); }
  /// Returns the number of the epoch with which training has to continue. If the restored checkpoint was saved inside an
  /// epoch, it is that epoch. Otherwise it is the epoch after the last one that was begun, in this attempt or an earlier
  /// one. In a new run it is 0. Not collective.
  std::int64_t next_epoch() const;
  /// The name, type and shape of one field of a sample.
  struct Field {
    std::string name;
    DType dtype;
    Shape sample_shape;   ///< shape of one sample's values; empty if the length varies
    bool varies = false;  ///< each sample has its own number of values, such as a text (u8) or a list of tokens
  };
  /// Returns the name, type and shape of each field of the dataset's samples. Not collective.
  const std::vector<Field>& fields() const;
  /// The user's function for map(): computes `to`, the bytes of one sample's new values, from `from`, the bytes of its
  /// present values. `random` is the random generator that Batch::random() returns for the sample.
  using SampleFunction = std::function<void(std::span<const std::byte> from, std::span<std::byte> to, Random& random)>;
  /// Applies `function` to field `field` of every sample, in all loops over batches that begin later, and after the
  /// transformations that config section [data.NAME] declares. `made` has the field's new type and shape; its name is
  /// ignored.
  ///
  /// Several threads may call `function` at the same time. Throws UsageError for a field that is unknown or varies in
  /// length. Not collective, but all ranks must make the same calls.
  void map(std::string_view field, Field made, SampleFunction function);
  /// The user's function for filter(): returns whether to keep a sample. `values` are the sample's values of the chosen
  /// field; they are valid only during the call.
  using SamplePredicate = std::function<bool(const TensorView& values)>;
  /// Keeps the samples for which `keeps` returns true for their values of field `field`, and gives these samples new
  /// indices from 0.
  ///
  /// `keeps` gets the values after the transformations that config section [data.NAME] declares, but before random
  /// augmentation and map(). Values of a field that varies in length have one axis. Each rank calls `keeps` once per
  /// sample, for its part of the samples. Throws UsageError for an unknown field, and if no sample is kept. Collective.
  void filter(std::string_view field, const SamplePredicate& keeps);
  /// Keeps the samples that meet `condition`, as the key `where` of [data.NAME] does, and gives these samples new indices
  /// from 0. Example: `x > 0 and (city == "Bern" or not sold)`. A condition compares numbers, texts, fields, and elements
  /// of fields (`x[3]`) by == != < <= > >=, and combines comparisons and fields of bool by `and`, `or`, `not` and
  /// parentheses.
  ///
  /// Throws UsageError, with the position in the condition, for a syntax error, an unknown field, and a comparison of a
  /// number with a text. Also throws UsageError if no sample is kept. Collective.
  void filter(std::string_view condition);
  /// The user's function for flat_map(): makes any number of new samples from one sample's `values`, and appends the
  /// bytes of the new samples to `made`.
  using FlatFunction = std::function<void(const TensorView& values, std::vector<std::byte>& made)>;
  /// Replaces each sample by any number of new samples. `function` gets the sample's values of field `field`, as in
  /// filter(), and appends the values that this field has in the new samples. `made` has their type and shape; the name
  /// in `made` is ignored. Each new sample repeats the other fields of the original sample.
  ///
  /// `function` is called again whenever samples are read, on any thread, and must then append the same bytes. Throws
  /// UsageError for an unknown field, and if no new sample results. Collective.
  void flat_map(std::string_view field, Field made, const FlatFunction& function);
  /// Concatenates the values of field `field`, such as documents of tokens, and cuts them into samples of `length` values.
  ///
  /// Afterwards the field has the shape [length] and is the dataset's only field. The value `separator`, if given, follows
  /// each document. Values that do not fill the last sample are left out. The most recently read documents are cached in
  /// memory: up to 32 MiB, at least two documents. Throws UsageError for a field that is unknown or does not vary in
  /// length, and if no sample results. Collective.
  void pack(std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator = {});
  /// The parameters of window().
  struct Windows {
    std::uint64_t length = 0;  ///< samples per window
    std::uint64_t stride = 1;  ///< distance between the first samples of consecutive windows, in samples
    std::string within;        ///< field of integers or text that groups the samples; empty: no groups
    bool pad = false;          ///< fill incomplete windows with zeros; false: leave these windows out
  };
  /// Replaces the samples by windows of consecutive samples, such as sequences of a time series.
  ///
  /// Each field gets the shape [length, ...]. If `windows.within` names a field, a window contains only samples with the
  /// same value of that field. These samples keep their order, but need not be adjacent in the dataset. The field
  /// `windows.within` keeps its shape.
  ///
  /// With `windows.pad`, every sample is in a window (if stride <= length), and the new field `count` (i32) has the
  /// number of real samples in each window.
  ///
  /// Throws UsageError for a field that varies in length, and if no window results. Collective.
  void window(const Windows& windows);
  /// Draws the samples of each epoch at random, with replacement, in proportion to their value of field `field` (PyTorch:
  /// WeightedRandomSampler). An epoch still has size() samples. Uses 8 bytes of memory per sample. Throws UsageError for an
  /// unknown field, for weights that are negative, infinite or NaN, and if all weights are 0. Collective.
  void draw_by_weight(std::string_view field);
  /// Applies a fitted preprocessor to the samples, in all loops over batches that begin later. The preprocessor is applied
  /// after the transformations that config section [data.NAME] declares, and before map().
  ///
  /// Throws UsageError if the preprocessor is not fitted, if the samples lack a column that it needs, after a call of
  /// map(), and if a key of the section applies random augmentation. Not collective, but all ranks must make the same
  /// calls.
  void preprocess(const class Preprocessor& preprocessor);

 private:
  friend class Preprocessor;
  PreprocessorImpl fitted(const PreprocessorImpl& preprocessor) const;
  std::shared_ptr<class DatasetImpl> impl_;
};

}  // namespace trainrt
