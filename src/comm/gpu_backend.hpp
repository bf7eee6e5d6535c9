#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/backend.hpp"
#include "device/binding.hpp"
#include "device/runtime.hpp"

namespace trainrt::comm {

/// Arguments of the functions of a GPU backend: the GPUs of all ranks, and the options.
struct GpuRanks {
  /// The GPUs assigned to each rank. The value is the same on all ranks; every rank has at least one GPU.
  const std::vector<device::Binding>& bindings;
  device::Runtime& runtime;
  int gpu = 0;  ///< number of the GPU that this rank communicates on
  const CommOptions& options;
  std::string_view library;  ///< for tests: library to load instead of the backend's own; usually ""
};

/// A plug-in that reduces GPU memory. Each plug-in is one file in comm/gpu_backends. Its communicator wraps the
/// communicator of a Backend, which handles host memory. The option "auto" selects the available GPU backend with the
/// highest preference; a backend with preference 0 is used only if it is requested by name.
struct GpuBackend {
  std::string_view name;
  std::string_view help;
  int preference;
  /// Whether the GPU backend copies GPU memory to the host and reduces it there. If a backend for host memory is requested
  /// by name, or if there is only one rank, only GPU backends of this kind are used.
  bool through_host;
  /// Returns the reason why the GPU backend cannot be used for these ranks, or "" if it can be used. Collective; the result
  /// is the same on all ranks.
  std::string (*why_unavailable)(Communicator& host, const GpuRanks&);
  /// Returns a description of how GPU memory is reduced, for the message that reports the selected backend, or "".
  std::string (*details)(const Communicator& host, const GpuRanks&);
  /// Opens a communicator for GPU memory that wraps `host`, the communicator for host memory. Requires that
  /// why_unavailable() returned "".
  std::unique_ptr<Communicator> (*open)(std::unique_ptr<Communicator> host, const GpuRanks&);
};

PluginTable<GpuBackend> gpu_backend_table();

/// The GPU backend that choose_gpu_backend() selected. `explanation`: the reasons why backends with a higher preference
/// were skipped, and how GPU memory is reduced.
struct GpuChoice {
  const GpuBackend& backend;
  std::string explanation;
};

/// Throws BackendRefused for `backend`, a GPU backend that was requested by name. `why`: the reason why the backend cannot
/// be used.
[[noreturn]] void refuse_gpu_backend(const GpuBackend& backend, const std::string& why);

/// Selects the GPU backend for these ranks according to the options. Collective. If the options name a GPU backend that
/// cannot be used, every rank throws BackendRefused.
GpuChoice choose_gpu_backend(Communicator& host, const GpuRanks& ranks);

}  // namespace trainrt::comm
