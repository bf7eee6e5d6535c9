#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>
#include <trainrt/options.hpp>

namespace trainrt {

/// The gradients of a model in one block of memory, averaged over the ranks in buckets while the backward pass runs.
///
/// Each gradient is a view of the block, so that averaging copies no data. Gradients are assigned to buckets in the
/// reverse order of the parameters, the order in which a backward pass computes them (Li et al., "PyTorch Distributed",
/// VLDB 2020).
///
/// A bucket has one element type. The all-reduce of a bucket starts when all its gradients are ready. The bits of the
/// result depend neither on the bucket size nor on the overlap of reductions with the backward pass.
///
/// One step: zero(), compute each gradient and call ready() for it, average(), optionally clip(). Only the thread that runs
/// the train function may call these functions; all ranks must use equal parameters and options.
class TRAINRT_API GradientBuckets {
 public:
  /// The description of one parameter of the model.
  struct Parameter {
    std::string name;       ///< name of the parameter, for error messages
    std::size_t count = 0;  ///< number of elements of the parameter
    DType dtype = DType::f32;
  };

  /// Allocates zeroed memory on `device` for the gradients of all `parameters`. The memory lives as long as this object,
  /// and `communicator` must outlive the object. Throws UsageError for an empty list of parameters, for types other than
  /// f64, f32, f16 and bf16, and for options.bf16_on_the_wire with a GPU. Collective.
  GradientBuckets(Communicator& communicator, std::span<const Parameter> parameters, const GradientOptions& options = {},
                  Device device = Device::host);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;

  /// Returns the address of a parameter's gradient, aligned to 64 bytes. `parameter` is the parameter's index in the list
  /// that the constructor got. Throws std::out_of_range for an invalid index. Not collective.
  void* gradient(std::size_t parameter) const;
  /// Sets all gradients in host memory to zero. Throws UsageError for gradients on a GPU, and while a reduction is in
  /// flight. Not collective.
  void zero();

  /// Declares that the gradient of a parameter is complete for this training step, and starts the reduction of each bucket
  /// of which all gradients are complete.
  ///
  /// Call ready() once per step for each parameter that has a gradient; a second call for the same parameter throws
  /// UsageError. Ranks may call ready() in different orders: the reductions start in the same order on all ranks.
  void ready(std::size_t parameter);
  /// Replaces every gradient by its mean over the ranks: starts the reductions that have not yet started, and waits for all
  /// of them. Ends the training step. Collective.
  void average();

  /// Scales all gradients, after average(), so that their global L2 norm is at most `max_norm` (Pascanu et al., 2013).
  /// Returns the norm before the scaling. If the norm is not finite, the gradients are left unchanged. Throws UsageError
  /// for gradients on a GPU, and unless `max_norm` is greater than 0. Not collective: all ranks compute the same result.
  double clip(double max_norm);

  std::size_t bucket_count() const;  ///< number of buckets
  /// Returns the fraction of the gradients' bytes, 0 to 1, for which the reduction was complete when average() was last
  /// called.
  double overlapped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt
