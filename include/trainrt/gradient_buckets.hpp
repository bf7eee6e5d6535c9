#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>
#include <trainrt/options.hpp>

namespace trainrt {

/// Gradients in one run of memory that the communicator reduces in place: the parameters' grads are views of it, so
/// averaging copies nothing. Buckets are filled in the reverse order of the parameters, the order in which a backward pass
/// makes them (Li et al., "PyTorch Distributed", VLDB 2020), each of one type; a bucket's reduction starts when all its
/// gradients are ready, and overlaps with the rest of the backward pass. The bits of the result do not depend on bucket
/// sizes or on what overlapped.
class TRAINRT_API GradientBuckets {
 public:
  struct Parameter {
    std::string name;       ///< for messages
    std::size_t count = 0;  ///< elements
    DType dtype = DType::f32;
  };

  /// The memory is zeroed, and lives as long as this object. Types: f64, f32, f16, bf16. Collective.
  GradientBuckets(Communicator& communicator, std::span<const Parameter> parameters, const GradientOptions& options = {},
                  Device device = Device::host);
  ~GradientBuckets();
  GradientBuckets(const GradientBuckets&) = delete;

  void* gradient(std::size_t parameter) const;  ///< if the gradient of that parameter lies; 64-byte aligned
  void zero();

  /// The gradient of that parameter is complete for this step. Collective in effect: buckets start in one order everywhere.
  /// Once a step and parameter; parameters that were not used need not be told of.
  void ready(std::size_t parameter);
  /// Replaces every gradient by its mean over the ranks: starts what ready() has not, and waits for all. Collective.
  void average();

  /// After average(): scales all gradients down to the global L2 norm `max_norm` if theirs is greater (Pascanu et al.,
  /// 2013). Returns the norm before; a norm that is not finite scales nothing.
  double clip(double max_norm);

  std::size_t bucket_count() const;
  /// Of the last average(): the share of the gradients' bytes that had been reduced when it was called, in [0, 1].
  double overlapped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt
