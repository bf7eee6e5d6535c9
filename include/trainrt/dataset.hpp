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

namespace trainrt {

struct PreprocessorImpl;

/// What to do with the samples that do not fill a last round of all ranks.
enum class Remainder : std::uint8_t {
  pad,  ///< repeat the epoch's first samples, so that every worker has as many (PyTorch's DistributedSampler); for training
  uneven,  ///< every sample once: the last batch of a rank may be smaller or missing; for evaluation
  drop,    ///< leave out what does not fill a whole global batch
  /// Every sample once, in batches of batch_size in the order of the samples, of which the very last may be smaller: the
  /// same batches on any number of ranks, so that what a model says of a sample has the same bits. Ranks may have one batch
  /// more than others. For predictions.
  whole,
};

/// One batch of this rank: gathered copies of its samples, valid until the next batch.
class TRAINRT_API Batch {
 public:
  std::size_t size() const { return indices_.size(); }
  std::span<const std::uint64_t> indices() const { return indices_; }  ///< global sample numbers
  /// What this rank's mean over the batch has to be multiplied by for the mean over the ranks to be the mean over the
  /// global batch's samples: own samples * ranks / samples of the global batch. Exactly 1 if all ranks have as many, 0
  /// if this one has none.
  double weight() const { return weight_; }
  /// The samples of one field, shape [size, sample shape...]. An unknown field, or one that varies in length, throws
  /// UsageError with the valid names.
  TensorView field(std::string_view name) const;
  /// One sample of a field that varies in length, shape [values]. `sample` counts within this batch.
  TensorView varying(std::string_view name, std::size_t sample) const;
  /// The same as a text, of a field of u8.
  std::string_view text(std::string_view name, std::size_t sample) const;
  /// Random numbers for one sample, which (run.seed, dataset, epoch, sample) give: the same on any rank and number of
  /// ranks, and after any restart. For augmentation of one's own.
  Random random(std::size_t sample) const;

 private:
  friend class Batches;
  friend struct BatchesImpl;
  std::vector<std::uint64_t> indices_;
  double weight_ = 1;
  struct BatchesImpl* owner_ = nullptr;
};

/// The batches of one rank in one epoch: a single-pass range. While it is being walked, the position (in global samples)
/// is part of every checkpoint, and a restart continues at the batch after the last one that step() or report() saw.
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
  iterator begin();
  iterator end() { return iterator(); }
  /// For who walks ahead of who uses the batches: from now on only the first `batches` of this walk count as done in
  /// checkpoints, and it does not end, but by its destruction, before all do.
  void count_only(std::uint64_t batches);
  /// Whether ++ would not wait: the next batch is there, and no error stands in its place.
  bool has_ready() const;

 private:
  std::shared_ptr<struct BatchesImpl> impl_;
};

/// One pass over a dataset, in the order that (run.seed, dataset, epoch) gives.
class TRAINRT_API Epoch {
 public:
  Epoch(std::shared_ptr<struct DatasetImpl> dataset, std::int64_t number) : dataset_(std::move(dataset)), number_(number) {}
  /// `batch_size` samples a rank and batch. Of an elastic run (scaling.min_workers) a global batch stays what it is with
  /// all workers, and is split as evenly as possible over the ranks that are there: a batch may be larger than batch_size
  /// then, differ by one from rank to rank (Batch::weight() makes up for it), and be empty if there are more ranks than
  /// workers. All ranks get as many batches, but of `uneven` and `whole`, which leave empty ones out.
  Batches batches(std::size_t batch_size, Remainder remainder = Remainder::pad) const;
  /// The `count` samples from position `first` of the order on, whichever ranks there are, each once, in batches of
  /// batch_size: for a rank that takes one contiguous part, as who fills a matrix does. No place of it is kept in
  /// checkpoints. Not collective. UsageError if the dataset has fewer samples.
  Batches range(std::uint64_t first, std::uint64_t count, std::size_t batch_size) const;

 private:
  std::shared_ptr<struct DatasetImpl> dataset_;
  std::int64_t number_;
};

/// This rank's view of a dataset that [data.NAME] of the config declares. All ranks share one global order of samples.
class TRAINRT_API Dataset {
 public:
  explicit Dataset(std::shared_ptr<struct DatasetImpl> impl) : impl_(std::move(impl)) {}
  std::uint64_t size() const;  ///< samples in all, over all ranks
  /// Batches that a rank gets in an epoch.
  std::uint64_t batch_count(std::size_t batch_size, Remainder remainder = Remainder::pad) const;
  Epoch epoch(std::int64_t number) const { return Epoch(impl_, number); }
  /// The epoch that a loop goes on with: the one that a restored checkpoint stands in, else the one after the last that
  /// was begun, also before the restart; 0 at first.
  std::int64_t next_epoch() const;
  /// Name, type and shape of one sample's fields.
  struct Field {
    std::string name;
    DType dtype;
    Shape sample_shape;   ///< of one sample; [] if it varies
    bool varies = false;  ///< each sample has as many values as it has: a text (u8), a document
  };
  const std::vector<Field>& fields() const;
  /// Makes something else of the samples of one field, in all ranges of batches that are asked for from now on, after what
  /// the keys of [data.NAME] do. `made`: type and shape as they become; its name does not count. `function` is called by
  /// the threads that read ahead, several at once, with the values of one sample, room for what it becomes, and random
  /// numbers as those of Batch::random(). UsageError for a field that is unknown, or varies in length.
  using SampleFunction = std::function<void(std::span<const std::byte> from, std::span<std::byte> to, Random& random)>;
  void map(std::string_view field, Field made, SampleFunction function);
  /// Leaves the samples out for which `keeps` is false of their values of one field, which it gets as files and keys of
  /// [data.NAME] give them (a field that varies in length: shape [values]), valid during the call. The others are numbered
  /// anew from 0, in their order. Collective, before the first epoch: each rank looks at its part of all samples once, and
  /// size() is that of what is left. It must keep the same after a restart inside an epoch. UsageError for an unknown
  /// field, and if nothing is left; what `keeps` throws on one rank is thrown on all.
  using SamplePredicate = std::function<bool(const TensorView& values)>;
  void filter(std::string_view field, const SamplePredicate& keeps);
  /// Makes any number of samples of each: `function` gets the values of one field, as filter() does, and appends what they
  /// become, whole samples of the type and shape `made`, its name not counting. The other fields are repeated. Samples are
  /// numbered anew, in their order. Collective, before the first epoch; called again for what is read, by any threads, it
  /// must make the same again. UsageError for an unknown field, and if no sample is left.
  using FlatFunction = std::function<void(const TensorView& values, std::vector<std::byte>& made)>;
  void flat_map(std::string_view field, Field made, const FlatFunction& function);
  /// Puts the values of a field that varies in length, documents of tokens say, one behind the other, with `separator`
  /// after each, and cuts them into samples of `length` values: shape [length], the only field then. What does not fill a
  /// last sample is left out. The documents read last, up to 32 MiB, two at least, are kept. Collective, before the first
  /// epoch.
  void pack(std::string_view field, std::uint64_t length, std::optional<std::int64_t> separator = {});
  /// How neighbours become one sample.
  struct Windows {
    std::uint64_t length = 0;  ///< samples of each window
    std::uint64_t stride = 1;  ///< so much further the next one begins
    std::string within;        ///< a field, whole numbers or texts: a window has samples of one value of it. Empty: of all
    bool pad = false;          ///< zeros fill up windows that reach beyond the last sample; else they are left out
  };
  /// Makes samples of neighbours, for sequences of a time series say: each field gets the shape [length, ...], but
  /// `within`, of which a window has one value. The samples of one value of `within` are neighbours in their order,
  /// wherever they lie. With `pad` each sample is in some window (if stride <= length), and the field `count` (i32) says
  /// how many of a window are not filled up. Collective, before the first epoch. UsageError for a field that varies in
  /// length, and if no window is made.
  void window(const Windows& windows);
  /// What becomes of a sample whose key the other dataset lacks.
  enum class Unmatched : std::uint8_t {
    error,      ///< an Error when it is read
    leave_out,  ///< it is left out: an inner join. Collective
    missing,    ///< its values are missing: a left outer join. NaN, or a text or list of nothing
  };
  /// Adds the fields of `other` to each sample: those of its one sample with the same `key`, a field of whole numbers or
  /// texts that both have. Before the first epoch; collective only if samples are left out. UsageError if a key comes twice
  /// in `other`, or both have another field of one name, if nothing is left, and if values may be missing of a field of
  /// `other` that has neither floats nor a length of its own.
  void join(const Dataset& other, std::string_view key, Unmatched unmatched = Unmatched::error);
  /// The same by several fields, which make a key together.
  void join(const Dataset& other, const std::vector<std::string>& key, Unmatched unmatched = Unmatched::error);
  /// Each epoch draws as many samples as there are, each in proportion to the number that this field has for it, with
  /// repetition: what PyTorch calls a WeightedRandomSampler. Collective, before the first epoch; 8 bytes a sample are kept.
  /// UsageError for negative, infinite or missing weights, and if all are 0.
  void draw_by_weight(std::string_view field);
  /// Changes the columns, in all ranges of batches that are asked for from now on: after what the keys of [data.NAME] do,
  /// and before map(). UsageError if it is not fitted, if a column that it needs is missing, and after map() or with a key
  /// that changes values at random.
  void preprocess(const class Preprocessor& preprocessor);

 private:
  friend class Preprocessor;
  PreprocessorImpl fitted(const PreprocessorImpl& preprocessor) const;
  std::shared_ptr<struct DatasetImpl> impl_;
};

}  // namespace trainrt
