#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
//     const trainrt::TensorView labels = batch.field("label");
//     // ... use images.data and labels.data; they are valid until the next batch ...
//   }
// }
// ```

namespace trainrt {

struct PreprocessorImpl;

/// How an epoch treats samples that do not fill the last global batch.
enum class Remainder : std::uint8_t {
  pad,  ///< for training, as PyTorch's DistributedSampler: repeat the first samples, so that all ranks have equal batches
  uneven,  ///< for evaluation: use every sample once; the last batch of a rank may be smaller or missing
  drop,    ///< leave out samples that do not fill a complete global batch
  /// For predictions: use every sample once, in batches of exactly batch_size consecutive samples, of which only the last
  /// may be smaller. The batches are the same on any number of ranks, so a model's results have the same bits. Some ranks
  /// may have one batch more than others.
  whole,
};

/// A batch of samples of this rank. Its values are copies, valid until the next batch is taken.
///
/// Values of a field are read when it is first asked for; from then on the field is read ahead in the background. No
/// function is collective. Only the thread that runs the train function may call. Functions that read throw Error if the
/// source cannot be read, or if a later batch was taken.
class TRAINRT_API Batch {
 public:
  std::size_t size() const { return indices_.size(); }                 ///< number of samples in this rank's batch
  std::span<const std::uint64_t> indices() const { return indices_; }  ///< number of each sample in the dataset
  /// Returns the factor by which to multiply this rank's mean over its batch, so that the mean over the ranks is the mean
  /// over the samples of the global batch: own samples * ranks / samples of the global batch. It is exactly 1 if all ranks
  /// have equally many samples, and 0 if this rank has none.
  double weight() const { return weight_; }
  /// Returns the values of field `name`, of shape [size(), sample shape...]. Throws UsageError, with the valid names, for
  /// an unknown field and for a field with samples of varying length.
  TensorView field(std::string_view name) const;
  /// Returns the values of one sample of a field that varies in length, of shape [values]. `sample` is an index in this
  /// batch, below size(). Throws UsageError for an unknown field, a field of fixed shape, or an index out of range.
  TensorView varying(std::string_view name, std::size_t sample) const;
  /// Returns the text of one sample, of a field of type u8 that varies in length. Throws as varying() does, and UsageError
  /// for a field of another type.
  std::string_view text(std::string_view name, std::size_t sample) const;
  /// Returns a random generator for one sample of this batch, for augmentation. It is seeded by (run.seed, dataset, epoch,
  /// sample): the numbers are the same on any number of ranks and after a restart.
  Random random(std::size_t sample) const;

 private:
  friend class Batches;
  friend struct BatchesImpl;
  std::vector<std::uint64_t> indices_;
  double weight_ = 1;
  struct BatchesImpl* owner_ = nullptr;
};

/// The batches of one rank in one epoch: a range that can be iterated over once (Ray: iter_batches).
///
/// While a loop over it runs, every checkpoint stores the position. After a restart, the same loop continues at the batch
/// after the last one that was taken before a step() or report(). No function is collective. Only the thread that runs the
/// train function may call.
class TRAINRT_API Batches {
 public:
  explicit Batches(std::shared_ptr<struct BatchesImpl> impl) : impl_(std::move(impl)) {}

  class TRAINRT_API iterator {
   public:
    explicit iterator(struct BatchesImpl* impl = nullptr) : impl_(impl) {}
    const Batch& operator*() const;
    iterator& operator++();
    bool operator==(const iterator& other) const { return impl_ == other.impl_; }

   private:
    struct BatchesImpl* impl_;
  };
  /// Takes the first batch. Throws Error if it was called before.
  iterator begin();
  iterator end() { return iterator(); }
  /// Declares that only the first `batches` of this loop are used so far, for code that takes batches ahead of their use.
  /// Checkpoints then store that position. A loop that has taken all batches counts as unfinished, until it is destroyed
  /// or all its batches are used.
  void count_only(std::uint64_t batches);
  /// Returns whether the next batch can be taken without waiting and without an error.
  bool has_ready() const;

 private:
  std::shared_ptr<struct BatchesImpl> impl_;
};

/// One pass over a dataset, in an order that depends on (run.seed, dataset, epoch).
class TRAINRT_API Epoch {
 public:
  Epoch(std::shared_ptr<struct DatasetImpl> dataset, std::int64_t number) : dataset_(std::move(dataset)), number_(number) {}
  /// Returns this rank's batches, of `batch_size` samples per rank.
  ///
  /// In an elastic run (scaling.min_workers) the global batch remains that of the full number of ranks, and is divided
  /// evenly over the present ranks. A batch may then be larger than `batch_size`, and its size may differ by one between
  /// ranks (Batch::weight() corrects for it). It may be empty if there are more ranks than num_workers. All ranks get
  /// equally many batches, except with Remainder::uneven and Remainder::whole, which leave out empty batches.
  ///
  /// Throws UsageError if `batch_size` is 0. Not collective.
  Batches batches(std::size_t batch_size, Remainder remainder = Remainder::pad) const;
  /// Returns `count` samples from position `first` of the epoch's order, each once, in batches of `batch_size`, independent
  /// of the ranks: for code that fills one contiguous part of a matrix per rank.
  ///
  /// Checkpoints do not store its position. Throws UsageError if the dataset has too few samples or `batch_size` is 0. Not
  /// collective.
  Batches range(std::uint64_t first, std::uint64_t count, std::size_t batch_size) const;

 private:
  std::shared_ptr<struct DatasetImpl> dataset_;
  std::int64_t number_;
};

/// This rank's view of the dataset that section [data.NAME] of the config declares (Ray: DataIterator).
///
/// All ranks share one global order of the samples. Copies of a Dataset refer to the same dataset. Only the thread that
/// runs the train function may call its functions.
///
/// filter(), flat_map(), pack(), window(), join() and draw_by_weight() replace the samples. They must be called before the
/// first epoch, and by the same calls after a restart; they throw UsageError while a loop over batches runs. An exception
/// of a function that the user passes is thrown on all ranks where the call is collective.
class TRAINRT_API Dataset {
 public:
  explicit Dataset(std::shared_ptr<struct DatasetImpl> impl) : impl_(std::move(impl)) {}
  std::uint64_t size() const;  ///< number of samples, over all ranks. Not collective
  /// Returns the number of batches of Epoch::batches() with the same arguments. Throws UsageError if `batch_size` is 0. Not
  /// collective.
  std::uint64_t batch_count(std::size_t batch_size, Remainder remainder = Remainder::pad) const;
  /// Returns epoch `number`. Each epoch of a shuffled dataset has its own order of samples. Not
  /// collective.
  Epoch epoch(std::int64_t number) const { return Epoch(impl_, number); }
  /// Returns the epoch with which a loop has to continue: the one that a restored checkpoint interrupted, otherwise the one
  /// after the last epoch that was begun, in this attempt or before; 0 at first. Not collective.
  std::int64_t next_epoch() const;
  /// The name, type and shape of one field of a sample.
  struct Field {
    std::string name;
    DType dtype;
    Shape sample_shape;   ///< shape of one sample's values; empty if it varies
    bool varies = false;  ///< each sample has its own number of values: text (u8), a list of tokens
  };
  /// Returns the fields of a sample. Not collective.
  const std::vector<Field>& fields() const;
  /// A function of map(): computes `to`, the bytes of a sample's new values, from `from`. `random` is the generator that
  /// Batch::random() returns for the sample.
  using SampleFunction = std::function<void(std::span<const std::byte> from, std::span<std::byte> to, Random& random)>;
  /// Applies `function` to field `field` of every sample, in all loops over batches that begin later, and after the keys of
  /// [data.NAME]. `made` has the new type and shape; its name is ignored.
  ///
  /// Several threads call `function` at the same time. Throws UsageError for a field that is unknown or varies in length.
  /// Not collective, but all ranks must make the same calls.
  void map(std::string_view field, Field made, SampleFunction function);
  /// A function of filter(): returns whether to keep the sample with these `values`, which are valid during the call.
  using SamplePredicate = std::function<bool(const TensorView& values)>;
  /// Keeps the samples for which `keeps` returns true for their values of field `field`, and numbers them again from 0.
  ///
  /// The values are those after the keys of [data.NAME] that transform them, but before random changes and map(). For a
  /// field that varies in length they have the shape [values]. Each rank calls `keeps` for its part of the samples, once.
  /// Throws UsageError for an unknown field, and if no sample is kept. Collective.
  void filter(std::string_view field, const SamplePredicate& keeps);
  /// A function of flat_map(): appends the bytes of any number of new samples to `made`.
  using FlatFunction = std::function<void(const TensorView& values, std::vector<std::byte>& made)>;
  /// Replaces each sample by any number of samples. `function` gets the values of field `field`, as in filter(), and
  /// appends complete samples of the type and shape of `made`, whose name is ignored. The other fields are repeated.
  ///
  /// `function` is called again when samples are read, by any threads, and must then append the same bytes. Throws
  /// UsageError for an unknown field, and if no sample results. Collective.
  void flat_map(std::string_view field, Field made, const FlatFunction& function);
  /// Concatenates the values of field `field`, such as documents of tokens, and cuts them into samples of `length` values.
  ///
  /// The field then has the shape [length], and is the only one. The value `separator`, if given, follows each document.
  /// Values that do not fill the last sample are left out. The documents read last stay in memory: up to 32 MiB, at least
  /// two. Throws UsageError for a field that is unknown or does not vary in length, and if no sample results. Collective.
  void pack(std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator = {});
  /// The parameters of window().
  struct Windows {
    std::uint64_t length = 0;  ///< samples per window
    std::uint64_t stride = 1;  ///< distance between the first samples of consecutive windows, in samples
    std::string within;        ///< field of integers or text by which samples are grouped; empty: no groups
    bool pad = false;          ///< fill incomplete windows with zeros; otherwise they are left out
  };
  /// Replaces the samples by windows of consecutive samples, such as sequences of a time series.
  ///
  /// Each field gets the shape [length, ...]. With `windows.within`, a window contains only samples with the same value of
  /// that field, in their order, even if others are between them; the field keeps its shape. With `windows.pad`, every
  /// sample is in a window (if stride <= length), and the new field `count` (i32) has the number of real samples of each
  /// window. Throws UsageError for a field that varies in length, and if no window results. Collective.
  void window(const Windows& windows);
  /// How join() treats a sample if its key does not occur in the other dataset.
  enum class Unmatched : std::uint8_t {
    error,      ///< throw Error when the sample is read
    leave_out,  ///< leave the sample out (inner join). join() is then collective
    missing,    ///< fill with missing values (left outer join): NaN, or an empty text or list
  };
  /// Adds to each sample the fields of the sample of `other` with the same value of field `key`, of integers or text.
  ///
  /// Throws UsageError if a key occurs twice in `other`, if another field occurs in both datasets, if no sample is left,
  /// and for Unmatched::missing with a field that can represent no missing value. Collective only with
  /// Unmatched::leave_out.
  void join(const Dataset& other, std::string_view key, Unmatched unmatched = Unmatched::error);
  /// Joins by several fields, which form the key together. Otherwise as join() by one field.
  void join(const Dataset& other, const std::vector<std::string>& key, Unmatched unmatched = Unmatched::error);
  /// Draws the samples of each epoch at random, with replacement, in proportion to their value of field `field` (PyTorch:
  /// WeightedRandomSampler). An epoch still has size() samples. Keeps 8 bytes per sample in memory. Throws UsageError for
  /// an unknown field, for weights that are negative, infinite or NaN, and if all are 0. Collective.
  void draw_by_weight(std::string_view field);
  /// Applies a fitted preprocessor to the samples, in all loops over batches that begin later: after the keys of
  /// [data.NAME], before map(). Throws UsageError if it is not fitted, if a column that it needs is missing, after map(),
  /// and with a key that changes values at random. Not collective, but all ranks must make the same calls.
  void preprocess(const class Preprocessor& preprocessor);

 private:
  friend class Preprocessor;
  PreprocessorImpl fitted(const PreprocessorImpl& preprocessor) const;
  std::shared_ptr<struct DatasetImpl> impl_;
};

}  // namespace trainrt
