#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <trainrt/gradient_buckets.hpp>

namespace at {
class Tensor;
}
namespace torch::nn {
class Module;
}

namespace trainrt::frameworks {

/// Makes the gradients of a module's parameters views of memory that the communicator reduces in place. backward() adds
/// into them, the optimizer reads them, and averaging copies nothing.
///
/// Holds for parameters that require a gradient when it is made; they are all of one type, f32 or f64 (else UsageError),
/// and their order, thus the bits, is that of the module. It must live as long as the gradients are used. A gradient that
/// is replaced (set to undefined, created anew) would no longer be averaged: average() throws an Error that names it.
class Gradients {
 public:
  Gradients(Communicator& communicator, torch::nn::Module& model);
  ~Gradients();

  void zero();     ///< before every backward()
  void average();  ///< after it: the mean over the ranks. Collective.

 private:
  void make_views();

  std::vector<std::pair<std::string, at::Tensor>> parameters_;
  std::unique_ptr<GradientBuckets> buckets_;
};

}  // namespace trainrt::frameworks
