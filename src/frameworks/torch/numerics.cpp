#include "numerics.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <torch/version.h>

namespace trainrt::frameworks {

namespace {

/// Returns the function `name` of a loaded library, or nullptr if no library has it. The function is found at run time,
/// because the dynamic linker chooses libtorch's BLAS only then.
template <class Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Turns autocast to bf16 on or off. libtorch before 2.4 has different functions for CPUs and GPUs.
void set_autocast(torch::DeviceType device, bool on) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
  at::autocast::set_autocast_enabled(device, on);
#else
  if (device == torch::kCPU) {
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
    at::autocast::set_cpu_enabled(on);
  } else {
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
    at::autocast::set_enabled(on);
  }
#endif
}

}  // namespace

Precision precision_from(const std::string& name) {
  if (name == "tf32") return Precision::tf32;
  return name == "bf16" ? Precision::bf16 : Precision::fp32;
}

Autocast::Autocast(Precision precision, torch::DeviceType device) : device_(device), is_on_(precision == Precision::bf16) {
  if (!is_on_) return;
  set_autocast(device_, true);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!is_on_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();  // frees the bf16 copies of weights
  set_autocast(device_, false);
}

void set_numerics(int threads, Precision precision) {
  at::set_num_threads(threads);
  if (auto* set_threads = loaded<void(int)>("openblas_set_num_threads"))
    set_threads(threads);                           // OpenBLAS has its own threads
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);  // required by torch: without it, cuBLAS may give different bits
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setAllowTF32CuDNN(precision == Precision::tf32);
  at::globalContext().setAllowTF32CuBLAS(precision == Precision::tf32);
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
  at::globalContext().setDeterministicFillUninitializedMemory(false);  // models do not read uninitialized memory
#endif
}

std::string slow_blas() {
  Dl_info where{};
  void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  if (!sgemm || !dladdr(sgemm, &where) || !where.dli_fname) return "";
  char* real = realpath(where.dli_fname, nullptr);
  const std::string file = real ? real : where.dli_fname;
  free(real);
  const bool reference = file.find("/blas/libblas.so") != std::string::npos;  // Debian's path of the reference BLAS
  return reference ? file : "";
}

}  // namespace trainrt::frameworks
