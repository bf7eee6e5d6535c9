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
/// Each gradient is a view of the block, so averaging copies nothing. Buckets are filled in the reverse order of the
/// parameters, in which a backward pass computes them (Li et al., "PyTorch Distributed", VLDB 2020); a bucket has one
/// element type. The reduction of a bucket starts when all its gradients are ready. The bits of the result depend neither
/// on the bucket size nor on the overlap.
///
/// One step: zero(), compute each gradient and call ready() for it, average(), optionally clip(). Only the thread that
/// runs the train function may call; all ranks must use equal parameters and options.
class TRAINRT_API GradientBuckets {
 public:
  /// A parameter of the model.
  struct Parameter {
    std::string name;       ///< name for messages
    std::size_t count = 0;  ///< number of elements
    DType dtype = DType::f32;
  };

  /// Allocates the zeroed memory of all gradients, which lives as long as this object; `communicator` must outlive it.
  /// `device` is the memory's device. Throws UsageError for no parameters, for types other than f64, f32, f16 and bf16, and
  /// for options.bf16_on_the_wire with a GPU. Collective.
  GradientBuckets(Communicator& communicator, std::span<const Parameter> parameters, const GradientOptions& options = {},
                  Device device = Device::host);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;

  /// Returns the address of a parameter's gradient, aligned to 64 bytes. `parameter` is its index in the constructor's
  /// list. Throws std::out_of_range for another index. Not collective.
  void* gradient(std::size_t parameter) const;
  /// Sets all gradients to zero, in host memory. Throws UsageError on a GPU, and while a reduction is in flight. Not
  /// collective.
  void zero();

  /// Declares that the gradient of a parameter is complete for this step, and starts the reductions of full buckets.
  ///
  /// Call it once per step and parameter, or not at all for a parameter without a gradient; a second call throws
  /// UsageError. Ranks may call it in different orders: reductions start in the same order on all of them.
  void ready(std::size_t parameter);
  /// Replaces every gradient by its mean over the ranks, and ends the step: starts the remaining reductions and waits for
  /// all of them. Collective.
  void average();

  /// Scales all gradients, after average(), so that their global L2 norm is at most `max_norm` (Pascanu et al., 2013).
  /// Returns the norm before; gradients of a norm that is not finite are left unchanged. Throws UsageError on a GPU, and
  /// unless `max_norm` is greater than 0. Not collective: all ranks compute the same.
  double clip(double max_norm);

  std::size_t bucket_count() const;  ///< number of buckets
  /// Returns the fraction of the gradients' bytes, 0 to 1, that was already reduced when average() was last called.
  double overlapped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt
