#pragma once
#include <torch/types.h>

#include <string>

namespace trainrt::frameworks {

/// How f32 models compute.
enum class Precision {
  fp32,  ///< every operation in f32, as IEEE 754 defines it
  tf32,  ///< matrix products and convolutions on GPUs may round their inputs to TF32
  bf16,  ///< autocast: matrix products and convolutions in bf16; weights, their gradients and the optimizer in f32
};

/// Precondition: `name` is "fp32", "tf32" or "bf16".
Precision precision_from(const std::string& name);

/// Sets how many threads libtorch and its BLAS compute with, and allows only algorithms that give the same bits every time.
/// For the complete process.
void set_numerics(int threads, Precision precision);

/// While it lives, operations of the calling thread on that kind of device follow `precision`. Must not span a backward
/// pass: its operations take the types of the forward pass.
class Autocast {
 public:
  Autocast(Precision precision, torch::DeviceType device);
  ~Autocast();
  Autocast(const Autocast&) = delete;

 private:
  torch::DeviceType device_;
  bool is_on_;
};

/// The file of a BLAS that is known to be slow (the reference one, tens of times), "" if there is none to complain
/// about.
std::string slow_blas();

}  // namespace trainrt::frameworks
