#include "cli/command_line/component_versions.hpp"

#include <fmt/format.h>
#include <boost/version.hpp>
#include <trainrt/error.hpp>

#include "comm/nccl/api.hpp"
#include "core/library_version.hpp"
#include "device/runtime.hpp"
#include "io/hdf5/h5.hpp"
#include "launch/library_versions.hpp"

namespace trainrt::cli {

namespace {

std::string line(std::string_view name, const std::string& text) { return fmt::format("  {:<10} {}\n", name, text); }

std::string line(std::string_view name, const LibraryVersion& version) {
  return line(name, version.loaded == version.compiled
                        ? version.loaded
                        : fmt::format("{} (compiled against {})", version.loaded, version.compiled));
}

/// Any MPI with MPICH's ABI can be used, and any PMIx, so the version at compile time is not shown.
std::string line(std::string_view name, const launch::FoundLibrary& found) {
  return line(name, found.path.empty() ? fmt::format("not available ({})", found.problem)
                                       : fmt::format("{} ({})", found.version.loaded, found.path));
}

std::string nccl_text() {
  try {
    return comm::nccl::load()->version_text();
  } catch (const Error& error) {
    return fmt::format("not available ({})", error.what());
  }
}

}  // namespace

std::string component_versions() {
  auto& gpus = device::runtime();
  auto text = line("MPI", launch::mpi_version());  // before PMIx: some MPI libraries bring their own
  text += line("PMIx", launch::pmix_version());
  text += line("HDF5", io::hdf5_version());
  text += line("CUDA", gpus.versions().empty() ? fmt::format("not available ({})", gpus.no_gpu_reason()) : gpus.versions());
  text += line("NCCL", nccl_text());
  text += line("Boost", fmt::format("{}.{}.{}", BOOST_VERSION / 100000, BOOST_VERSION / 100 % 1000, BOOST_VERSION % 100));
  return text;
}

}  // namespace trainrt::cli
