#pragma once
#include <string>

#include "device/runtime.hpp"

namespace trainrt::device {

/// Returns the implementation of Runtime for CUDA. The object lives as long as the process. In a build without the CUDA
/// toolkit the object has no GPUs, and its no_gpu_reason() reports the missing toolkit.
Runtime& cuda_runtime();

/// The implementation of Runtime for machines or builds without GPUs. Functions that would use a GPU throw UsageError with
/// the reason why there is no GPU.
class NoGpus : public Runtime {
 public:
  explicit NoGpus(std::string why) : why_(std::move(why)) {}
  std::string_view name() const override { return "none"; }
  int count() override { return 0; }
  std::string no_gpu_reason() override { return why_; }
  std::string versions() override { return ""; }
  Gpu describe(int) override { fail(); }
  std::optional<int> owner_of(const void*) override { return std::nullopt; }
  void use(int) override { fail(); }
  Memory allocate(int, std::size_t) override { fail(); }
  Memory allocate_pinned(std::size_t) override { fail(); }
  bool pin(std::span<std::byte>) override { return false; }
  void unpin(std::span<std::byte>) noexcept override {}
  std::unique_ptr<Stream> make_stream(int) override { fail(); }
  std::unique_ptr<Stream> default_stream(int) override { fail(); }

 private:
  [[noreturn]] void fail() const;
  std::string why_;
};

}  // namespace trainrt::device
