#include "launch/pmi/pmix_library.hpp"

#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "core/process/runtime_library.hpp"

namespace trainrt::launch {

namespace {

constexpr const char* marker_of_pmix = "PMIx_Get_version";
constexpr const char* pmix_variable = "TRAINRT_PMIX_LIBRARY";

std::string pmix_advice() {
  return fmt::format(
      "Install PMIx 3 or newer (Debian: package libpmix2), load its module, or set {} to the path of "
      "libpmix.so.2. Without PMIx, ranks can be started by trainrt -n N, mpiexec or srun --mpi=pmi2",
      pmix_variable);
}

PmixSearch checked_pmix(const RuntimeLibrary& library) {
  PmixLibrary pmix;
  pmix.path = library.path();
  std::string missing;
#define TRAINRT_FIND(name) \
  if (!library.find(pmix.functions.name, "PMIx_" #name) && missing.empty()) missing = "PMIx_" #name;
  TRAINRT_PMIX_FUNCTIONS(TRAINRT_FIND)
#undef TRAINRT_FIND
  pmix.version_text = pmix.functions.Get_version();
  if (missing.empty()) return {std::move(pmix), {}, {}};
  return {
      std::nullopt,
      fmt::format("the PMIx library {} ({}) cannot be used: it has no function {}", pmix.path, pmix.version_text, missing),
      pmix_advice()};
}

PmixSearch search_pmix_files(const std::vector<std::string>& files) {
  const auto opened = open_library(marker_of_pmix, files);
  if (opened.library) return checked_pmix(*opened.library);
  return {std::nullopt, fmt::format("no PMIx library can be loaded: {}", fmt::join(opened.failures, "; ")), pmix_advice()};
}

}  // namespace

PmixSearch search_pmix(const std::string& chosen) {
  if (const auto loaded = loaded_library(marker_of_pmix, "libpmix")) return checked_pmix(*loaded);
  if (!chosen.empty()) return check_pmix_library(chosen);
  const auto compiled_with = std::string(TRAINRT_PMIX_FOLDER) + "/libpmix.so.2";
  return search_pmix_files({"libpmix.so.2", compiled_with});
}

PmixSearch check_pmix_library(const std::string& file) { return search_pmix_files({file}); }

const PmixSearch& found_pmix() {
  static const PmixSearch found = search_pmix(Environment::of_process().text(pmix_variable).value_or(""));
  return found;
}

const PmixFunctions& pmix() {
  const auto& found = found_pmix();
  if (!found.library) throw UsageError(found.problem + ". " + found.advice);
  return found.library->functions;
}

}  // namespace trainrt::launch
