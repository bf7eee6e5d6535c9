#include "launch/mpi/mpi_library.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "core/process/runtime_library.hpp"

namespace trainrt::launch {

namespace {

static_assert(std::is_same_v<MPI_Comm, int> && std::is_same_v<MPI_Datatype, int>,
              "mpi.h must be that of MPICH or of an MPI with its ABI (Debian: package libmpich-dev, compiler mpicc.mpich)");

constexpr const char* marker_of_mpi = "MPI_Get_library_version";
constexpr const char* file_prefix = "libmpi";
constexpr const char* mpi_variable = "TRAINRT_MPI_LIBRARY";

constexpr const char* usable_libraries =
    "MPICH 4.0 or newer (Debian: package libmpich12), Intel MPI and Cray MPICH can be used: load the module of one of them";

std::string mpi_advice() {
  return fmt::format(
      "{}, or set {} to the path of its libmpi.so.12. Without MPI, trainrt runs on one node: with trainrt "
      "-n N, or with srun --mpi=pmix on one node",
      usable_libraries, mpi_variable);
}

std::string version_text_of(decltype(&::MPI_Get_library_version) get_library_version) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  get_library_version(text.data(), &length);  // may be called before MPI_Init (MPI 3.1, section 8.1.1)
  return {text.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(text.size())))};
}

std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of(",\n")); }

/// Returns whether the library has the ABI of the MPI standard 5.0 (libmpi_abi.so), in which handles are pointers.
bool has_standard_abi(const RuntimeLibrary& library) {
  int (*get_abi_version)(int*, int*) = nullptr;
  int major = -1, minor = -1;
  return library.find(get_abi_version, "MPI_Abi_get_version") && get_abi_version(&major, &minor) == MPI_SUCCESS &&
         major > 0;
}

/// Returns the reason why an MPI library does not have MPICH's ABI; "" if it has.
std::string foreign_abi(const RuntimeLibrary& library, const std::string& version_text) {
  if (has_standard_abi(library)) return "it has the ABI of the MPI standard 5.0, and trainrt is built for the ABI of MPICH";
  constexpr std::array<std::string_view, 4> of_mpich = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
  if (std::ranges::any_of(of_mpich, [&](auto name) { return version_text.find(name) != std::string::npos; })) return {};
  return "it does not have the ABI of MPICH, for which trainrt is built";
}

/// Finds the functions of MPI in `library`. Returns the first function that is missing; "" if all exist.
std::string missing_function(const RuntimeLibrary& library, MpiFunctions& functions) {
  std::string missing;
#define TRAINRT_FIND(name) \
  if (!library.find(functions.name, "MPI_" #name) && missing.empty()) missing = "MPI_" #name;
  TRAINRT_MPI_FUNCTIONS(TRAINRT_FIND)
#undef TRAINRT_FIND
  return missing;
}

/// Returns the reason why the library cannot be used; "" if it can.
std::string problem_of(const RuntimeLibrary& library, const MpiLibrary& mpi, const std::string& missing) {
  if (const auto foreign = foreign_abi(library, mpi.version_text); !foreign.empty()) return foreign;
  if (!missing.empty()) return "it has no function " + missing;
  int major = 0, minor = 0;
  mpi.functions.Get_version(&major, &minor);
  if (major > 3 || (major == 3 && minor >= 1)) return {};
  return fmt::format("it implements version {}.{} of the MPI standard, and trainrt needs 3.1", major, minor);
}

MpiSearch checked_library(const RuntimeLibrary& library) {
  MpiLibrary mpi;
  mpi.path = library.path();
  const auto missing = missing_function(library, mpi.functions);
  mpi.version_text = version_text_of(mpi.functions.Get_library_version);
  const auto problem = problem_of(library, mpi, missing);
  if (problem.empty()) return {std::move(mpi), {}, {}};
  return {std::nullopt,
          fmt::format("the MPI library {} ({}) cannot be used: {}", mpi.path, first_line(mpi.version_text), problem),
          mpi_advice()};
}

MpiSearch search_files(const std::vector<std::string>& files) {
  const auto opened = open_library(marker_of_mpi, files);
  if (opened.library) return checked_library(*opened.library);
  const auto failures = fmt::format("{}", fmt::join(opened.failures, "; "));
  const bool is_open_mpi =
      failures.find("libmpi.so.40") != std::string::npos || failures.find("libopen-") != std::string::npos;
  return {std::nullopt,
          fmt::format("no MPI library can be loaded: {}{}", failures,
                      is_open_mpi ? ". This is Open MPI, which does not have the ABI of MPICH" : ""),
          mpi_advice()};
}

}  // namespace

MpiSearch search_mpi(const std::string& chosen) {
  if (const auto loaded = loaded_library(marker_of_mpi, file_prefix)) return checked_library(*loaded);
  if (!chosen.empty()) return check_mpi_library(chosen);
  const std::string folder = TRAINRT_MPI_FOLDER;
  return search_files({"libmpi.so.12", "libmpich.so.12", folder + "/libmpi.so.12", folder + "/libmpich.so.12"});
}

MpiSearch check_mpi_library(const std::string& file) { return search_files({file}); }

bool process_has_mpi() {
  const auto loaded = loaded_library(marker_of_mpi, file_prefix);
  return loaded && checked_library(*loaded).library;
}

const MpiSearch& found_mpi() {
  static const MpiSearch found = search_mpi(Environment::of_process().text(mpi_variable).value_or(""));
  return found;
}

const MpiFunctions& mpi() {
  const auto& found = found_mpi();
  if (!found.library)
    throw UsageError(fmt::format("these ranks communicate over MPI, but {}. {}", found.problem, found.advice));
  return found.library->functions;
}

}  // namespace trainrt::launch
