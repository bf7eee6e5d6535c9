#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/batches/pinning.hpp"
#include "data/batches/team.hpp"
#include "data/order/batch_plan.hpp"
#include "data/order/epoch_order.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/source/source.hpp"
#include "data/transform/transform.hpp"

namespace trainrt {

/// Determines the part of every global batch that this rank reads.
struct Shard {
  int rank = 0;
  int size = 1;
  int workers = 0;  ///< number of ranks for which the size of a global batch is computed; 0: the same as `size`
};

namespace data {

struct DatasetPlan;

/// The effect of a step, such as filter(), on the samples of its input. The effects of two steps determine whether the
/// steps can be combined.
enum class Effect : std::uint8_t {
  makes,    ///< makes new samples, with new fields or in a new number
  chooses,  ///< chooses some of the samples, in any order
  thins,    ///< chooses some of the samples, in their original order
  draws,    ///< keeps the samples; each epoch draws from them by weight
};

/// An operation that changes which samples a dataset has, such as filter() or pack().
struct Step {
  struct Result {
    std::shared_ptr<const Source> source;  ///< the samples after the step
    /// A text that changes if an index refers to another sample after the step. Checkpoints contain this text: a position
    /// inside an epoch can be restored only if the text is unchanged.
    std::string identity;
    /// Only for Effect::thins: returns the number of kept samples whose index in the step's input is less than `sample`.
    std::function<std::uint64_t(std::uint64_t sample)> count_below = {};
    std::shared_ptr<const std::vector<double>> weight_sums = nullptr;  ///< Effect::draws only: cumulative weights
  };

  Effect effect = Effect::makes;
  /// Returns the fields of the samples after the step. `before` are the fields of the samples before the step. Throws
  /// UsageError if the step cannot be applied to these fields.
  std::function<Fields(const Fields& before)> fields = [](const Fields& before) { return before; };
  /// Applies the step to the samples of `input`. Collective over input.team. An exception on one rank is thrown on all
  /// ranks.
  std::function<Result(const DatasetPlan& input)> apply;
};

/// The order in which an epoch visits the samples.
struct SampleOrder {
  bool shuffle = false;
  bool legacy_shuffle = false;   ///< use the shuffle of the first versions, because such a version began the run
  Blocks blocks;                 ///< parameters of a shuffle in blocks; blocks.samples is 0 without blocks
  std::vector<MixedPart> mixed;  ///< the sources that the key `weights` mixes, with their shares; otherwise empty
  std::uint64_t seed = 0;        ///< run.seed, combined with own_seed
  std::uint64_t own_seed = 0;    ///< the key `shuffle_seed`
  std::shared_ptr<const std::vector<double>> weight_sums;  ///< cumulative weights, if samples are drawn by weight
};

/// A complete description of the samples of a dataset, the order in which an epoch visits them, and how this rank reads
/// them. A dataset refers to a const plan; a change of the dataset creates a new plan.
///
/// The members are applied in this order:
/// - `source` contains the files and the chosen samples when the dataset is opened.
/// - `steps` change these samples. After each step, `source` has the result.
/// - `maps` change values, at random or by functions of the user.
/// - `order` determines the order of each epoch.
/// - `shard` determines the part of each batch that this rank takes.
struct DatasetPlan {
  /// A step that was applied to the dataset.
  struct Applied {
    std::string name;  ///< name for messages, such as "pack"
    std::shared_ptr<const Step> step;
    std::string identity;  ///< Step::Result::identity
  };

  std::string name;
  std::shared_ptr<const Source> source;
  std::vector<Applied> steps;
  std::shared_ptr<const FieldMaps> maps;  ///< nullptr: values are used as `source` has them
  SampleOrder order;
  Shard shard;
  bool is_split = true;  ///< false: each rank has all samples, and `shard` describes a single rank
  /// Texts that identify the files and the order of their samples. Checkpoints contain both texts.
  std::string files_text, order_text;

  int threads = 0;                           ///< number of threads that read batches ahead
  std::uint64_t memory = 256 << 20;          ///< maximum number of bytes of batches that are read ahead
  Team team;                                 ///< ranks that apply steps together
  std::shared_ptr<const Pinning> pinning;    ///< nullptr: batches need no pinned memory
  std::shared_ptr<SkippingReader> skipping;  ///< nullptr: a sample that cannot be read is an error

  /// Returns a copy of the plan with one more step. `step_name` is the name of the step in messages. If the plan draws
  /// samples by weight, computes the weights of the new samples. The plan's changes of values (`maps`) are applied to the
  /// new samples.
  ///
  /// Collective over `team`. If the new step cannot follow a step of this plan, throws UsageError, which names both steps.
  /// Also throws the errors of the step.
  DatasetPlan with(const std::string& step_name, const Step& step) const;
  /// Returns a text with the identities of all steps, or "" if there are no steps. Checkpoints contain the text.
  std::string steps_text() const;

  /// Returns the fields of the batches.
  const Fields& fields() const { return maps ? maps->fields() : source->fields(); }
  /// Returns the seed of the random changes of values in epoch `epoch`.
  std::uint64_t draw_seed(std::int64_t epoch) const;
  /// Returns the order in which epoch `epoch` visits the samples, the same on all ranks.
  EpochOrder order_of(std::int64_t epoch) const;
  BatchPlan::Split split_of(std::size_t batch_size) const { return {batch_size, shard.size, shard.workers}; }
};

}  // namespace data

}  // namespace trainrt
