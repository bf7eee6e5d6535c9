#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "comm/backend.hpp"
#include "device/binding.hpp"
#include "device/runtime.hpp"

namespace trainrt::comm {

/// The ranks' GPUs, as a GPU backend is told of them.
struct GpuRanks {
  const std::vector<device::Binding>& bindings;  ///< of every rank, the same on all; none is empty
  device::Runtime& runtime;
  int gpu = 0;  ///< what this rank communicates on
  const CommOptions& options;
  std::string_view library;  ///< for tests: loaded in place of the backend's own; "" otherwise
};

/// A plug-in: one file in comm/gpu_backends. Reduces memory of GPUs, on top of a backend that reduces the host's. auto
/// takes the one with the highest preference that nothing stands in the way of, and one of preference 0 only by its name.
struct GpuBackend {
  std::string_view name;
  std::string_view help;
  int preference;
  /// Reduces through the host's backend. Only such a one goes with a host's backend that is asked for by name, and only
  /// such a one is put on a rank alone by itself.
  bool through_host;
  /// Why it cannot serve these ranks; "" if it can. Collective, with the same answer on all ranks.
  std::string (*obstacle)(Communicator& host, const GpuRanks&);
  /// What becomes of sums, for the line that says what was taken.
  std::string (*explained)(const Communicator& host, const GpuRanks&);
  /// On top of the host's communicator, after obstacle() has found none.
  std::unique_ptr<Communicator> (*open)(std::unique_ptr<Communicator> host, const GpuRanks&);
};

PluginTable<GpuBackend> gpu_backend_table();

/// What reduces the GPUs' memory, and the words for it: why it is not a better one, and what becomes of sums.
struct GpuChoice {
  const GpuBackend& backend;
  std::string explanation;
};

/// Throws BackendRefused: it was asked for by name.
[[noreturn]] void refuse_gpu_backend(const GpuBackend& backend, const std::string& why);

/// Chooses for these ranks, as the options ask. Collective, as is its BackendRefused, if they name a GPU backend that
/// cannot serve.
GpuChoice choose_gpu_backend(Communicator& host, const GpuRanks& ranks);

}  // namespace trainrt::comm
