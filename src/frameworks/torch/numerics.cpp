#include "numerics.hpp"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <stdlib.h>

namespace trainrt::frameworks {

namespace {

/// A function of a library that libtorch has loaded, or nullptr: which BLAS that is, is decided on the machine that runs.
template <class Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

void set_numerics(int threads) {
  at::set_num_threads(threads);
  if (auto* set_threads = loaded<void(int)>("openblas_set_num_threads")) set_threads(threads);  // has threads of its own
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0);  // without it cuBLAS may give other bits, and torch refuses it
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setBenchmarkCuDNN(false);
}

std::string slow_blas() {
  Dl_info where{};
  void* sgemm = dlsym(RTLD_DEFAULT, "sgemm_");
  if (!sgemm || !dladdr(sgemm, &where) || !where.dli_fname) return "";
  char* real = realpath(where.dli_fname, nullptr);
  const std::string file = real ? real : where.dli_fname;
  free(real);
  const bool reference = file.find("/blas/libblas.so") != std::string::npos;  // if Debian keeps the reference BLAS
  return reference ? file : "";
}

}  // namespace trainrt::frameworks
