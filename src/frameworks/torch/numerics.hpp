#pragma once
#include <torch/types.h>

#include <string>

namespace trainrt::frameworks {

/// The number format in which a model with f32 weights computes.
enum class Precision {
  fp32,  ///< every operation in IEEE 754 f32
  tf32,  ///< matrix products and convolutions on GPUs may round their inputs to TF32
  bf16,  ///< autocast: matrix products and convolutions in bf16; weights, their gradients and the optimizer in f32
};

/// Returns the precision called `name`. Precondition: `name` is "fp32", "tf32" or "bf16".
Precision precision_from(const std::string& name);

/// Sets the number of threads of libtorch and its BLAS, sets `precision`, and allows only algorithms that give the same
/// bits in every run. Applies to the process.
void set_numerics(int threads, Precision precision);

/// While this object lives, operations of the calling thread on `device` use `precision`. It must not live during a
/// backward pass, because a backward pass uses the types of the forward pass.
class Autocast {
 public:
  Autocast(Precision precision, torch::DeviceType device);
  ~Autocast();
  Autocast(const Autocast&) = delete;

 private:
  torch::DeviceType device_;
  bool is_on_;
};

/// Returns the library file of the BLAS in use if it is Debian's reference BLAS, which is tens of times slower than others;
/// "" otherwise.
std::string slow_blas();

}  // namespace trainrt::frameworks
