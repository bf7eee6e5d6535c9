// The implementation of device::Runtime for CUDA. CUDA's runtime library is linked statically and loads the driver
// (libcuda.so.1) at the first call. A machine without a driver counts as a machine without GPUs.
#include <algorithm>
#include <mutex>
#include <source_location>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "device/cuda/reduce_parts.hpp"
#include "device/cuda_runtime.hpp"

namespace trainrt::device {

namespace {

/// Throws Error if `code`, the return code of a CUDA function, is a failure. The message contains the name of the calling
/// function and CUDA's error text.
void check_cuda(cudaError_t code, std::source_location where = std::source_location::current()) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears CUDA's stored error, so that the next check does not report it again
  throw Error(
      fmt::format("CUDA failed in {}: {} ({})", where.function_name(), cudaGetErrorString(code), cudaGetErrorName(code)));
}

/// Makes a GPU the current GPU of the calling thread while this object lives. The destructor restores the previous GPU.
class OnGpu {
 public:
  explicit OnGpu(int gpu) {
    check_cuda(cudaGetDevice(&before_));
    if (before_ == gpu) return;
    check_cuda(cudaSetDevice(gpu));
    changed_ = true;
  }
  ~OnGpu() {
    if (changed_) cudaSetDevice(before_);
  }
  OnGpu(const OnGpu&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

class CudaEvent : public Event {
 public:
  CudaEvent() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;

  bool test() override {
    const auto code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) {
      cudaGetLastError();  // clears cudaErrorNotReady, which CUDA stores as an error, too
      return false;
    }
    check_cuda(code);
    return true;
  }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaStream : public Stream {
 public:
  CudaStream(int gpu, cudaStream_t stream) : gpu_(gpu), stream_(stream) {}

  void to_host(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes, cudaMemcpyDeviceToHost); }
  void to_device(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes, cudaMemcpyHostToDevice); }
  void within_device(void* to, const void* from, std::size_t bytes) override {
    copy(to, from, bytes, cudaMemcpyDeviceToDevice);
  }
  void reduce(const TreeReduction& reduction) override {
    const OnGpu on(gpu_);
    check_cuda(reduce_parts(reduction, stream_));
  }
  std::shared_ptr<Event> record() override {
    const OnGpu on(gpu_);
    auto event = std::make_shared<CudaEvent>();
    check_cuda(cudaEventRecord(event->get(), stream_));
    return event;
  }
  void wait_for(const Event& event) override {
    const OnGpu on(gpu_);
    check_cuda(cudaStreamWaitEvent(stream_, dynamic_cast<const CudaEvent&>(event).get(), 0));
  }
  void* handle() const override { return stream_; }

 protected:
  int gpu_;
  cudaStream_t stream_;

 private:
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    const OnGpu on(gpu_);
    check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream_));
  }
};

/// Creates a CUDA stream on `gpu` that is not synchronized with the default stream.
cudaStream_t new_stream(int gpu) {
  const OnGpu on(gpu);
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

class OwnCudaStream : public CudaStream {
 public:
  explicit OwnCudaStream(int gpu) : CudaStream(gpu, new_stream(gpu)) {}
  ~OwnCudaStream() override { cudaStreamDestroy(stream_); }  // work already enqueued on the stream is still completed
  OwnCudaStream(const OwnCudaStream&) = delete;
};

std::string version_text(int version) {
  return version == 0 ? "none" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

std::string reason_for(cudaError_t code) {
  int driver = 0;
  cudaDriverGetVersion(&driver);
  if (code == cudaErrorInsufficientDriver && driver == 0) return "this machine has no CUDA driver (libcuda.so.1)";
  if (code == cudaErrorInsufficientDriver)
    return fmt::format("this machine's driver supports CUDA {}, but trainrt was built for CUDA {}: install a newer driver",
                       version_text(driver), version_text(CUDART_VERSION));
  const auto shown = Environment::of_process().text("CUDA_VISIBLE_DEVICES");
  if (code == cudaErrorNoDevice && shown) return fmt::format("CUDA_VISIBLE_DEVICES='{}' selects no GPU", *shown);
  if (code == cudaErrorNoDevice) return "CUDA found no GPU on this machine";
  return fmt::format("CUDA cannot be initialized: {} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

/// Returns the Error for a failed allocation of `bytes` bytes on `gpu`, which must be the current GPU of the calling
/// thread.
Error out_of_memory(int gpu, std::size_t bytes) {
  cudaGetLastError();  // clears CUDA's stored error, so that the next check does not report it again
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  return Error(
      fmt::format("GPU {}: cannot allocate {} bytes: {} of {} bytes are free. "
                  "Use a smaller model or batch, or end other programs that use this GPU (nvidia-smi lists them)",
                  gpu, bytes, free, total));
}

class CudaRuntime : public Runtime {
 public:
  std::string_view name() const override { return "cuda"; }
  int count() override {
    probe();
    return count_;
  }
  std::string no_gpu_reason() override {
    probe();
    return why_none_;
  }
  std::string versions() override {
    int runtime = 0;
    int driver = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    return fmt::format("runtime {}, driver {}", version_text(runtime), version_text(driver));
  }
  Gpu describe(int gpu) override {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, gpu));
    std::string uuid;
    for (const auto byte : properties.uuid.bytes) uuid += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return {gpu, properties.name, uuid, properties.totalGlobalMem};
  }

  std::optional<int> owner_of(const void* memory) override {
    if (count() == 0) return std::nullopt;
    cudaPointerAttributes attributes{};
    check_cuda(cudaPointerGetAttributes(&attributes, memory));
    if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged) return std::nullopt;
    return attributes.device;
  }
  void use(int gpu) override { check_cuda(cudaSetDevice(gpu)); }

  Memory allocate(int gpu, std::size_t bytes) override {
    const OnGpu on(gpu);
    void* memory = nullptr;
    const auto code = cudaMalloc(&memory, std::max<std::size_t>(bytes, 1));
    if (code == cudaErrorMemoryAllocation) throw out_of_memory(gpu, bytes);
    check_cuda(code);
    Memory owned(static_cast<std::byte*>(memory), [](std::byte* p) { cudaFree(p); });
    check_cuda(cudaMemsetAsync(memory, 0, bytes, cudaStreamLegacy));
    return owned;
  }
  Memory allocate_pinned(std::size_t bytes) override {
    void* memory = nullptr;
    check_cuda(cudaHostAlloc(&memory, std::max<std::size_t>(bytes, 1), cudaHostAllocPortable));
    return Memory(static_cast<std::byte*>(memory), [](std::byte* p) { cudaFreeHost(p); });
  }
  bool pin(std::span<std::byte> memory) override {
    if (cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterPortable) == cudaSuccess) return true;
    cudaGetLastError();
    return false;
  }
  void unpin(std::span<std::byte> memory) noexcept override { cudaHostUnregister(memory.data()); }

  std::unique_ptr<Stream> make_stream(int gpu) override { return std::make_unique<OwnCudaStream>(gpu); }
  std::unique_ptr<Stream> default_stream(int gpu) override { return std::make_unique<CudaStream>(gpu, cudaStreamLegacy); }

 private:
  void probe() {
    std::call_once(probed_, [&] {
      const auto code = cudaGetDeviceCount(&count_);
      if (code == cudaSuccess && count_ > 0) return;
      cudaGetLastError();
      count_ = 0;
      why_none_ = reason_for(code == cudaSuccess ? cudaErrorNoDevice : code);
    });
  }

  std::once_flag probed_;
  int count_ = 0;
  std::string why_none_;
};

}  // namespace

Runtime& cuda_runtime() {
  static auto* const runtime = new CudaRuntime;  // never destroyed, because objects that outlive main() may still use it
  return *runtime;
}

}  // namespace trainrt::device
