// Tests of the search for MPI and PMIx libraries, with fakes (support/fakes).
#include <csignal>

#include <dlfcn.h>
#include <catch2/catch.hpp>

#include "launch/mpi/mpi_library.hpp"
#include "launch/pmi/pmix_library.hpp"

using namespace trainrt::launch;
using Catch::Matchers::Contains;

namespace {

std::string fake_mpi(const std::string& name) { return std::string(FAKE_LIBRARIES) + "/fake_mpi_" + name + ".so"; }

}  // namespace

TEST_CASE("an MPI library with MPICH's ABI is found with its version and its file") {
  const auto found = check_mpi_library(fake_mpi("good"));
  REQUIRE(found.library);
  CHECK(found.problem == "");
  CHECK(found.library->path == fake_mpi("good"));
  CHECK(found.library->version_text == "MPICH Version: 9.8.7");
  CHECK(found.library->functions.Ibcast != nullptr);
}

TEST_CASE("an MPI library that cannot be used is rejected with its file, its version, the reason and usable libraries") {
  const auto [name, words] = GENERATE(table<std::string, std::string>({
      {"incomplete", "(MPICH Version: 9.8.7) cannot be used: it has no function MPI_Ibcast"},
      {"foreign", "(Open MPI v9.8.7) cannot be used: it does not have the ABI of MPICH"},
      {"old",
       "(MPICH Version: 9.8.7) cannot be used: it implements version 3.0 of the MPI standard, and trainrt needs 3.1"},
      {"standard_abi", "(MPICH Version: 9.8.7) cannot be used: it has the ABI of the MPI standard 5.0"},
  }));
  const auto found = check_mpi_library(fake_mpi(name));
  CHECK_FALSE(found.library);
  CHECK_THAT(found.problem, Contains(fake_mpi(name)) && Contains(words));
  CHECK_THAT(found.advice, Contains("package libmpich12") && Contains("TRAINRT_MPI_LIBRARY") && Contains("trainrt -n N"));
}

TEST_CASE("a file that is no MPI library is an error that names it") {
  CHECK(check_mpi_library("/does/not/exist.so").problem == "no MPI library can be loaded: /does/not/exist.so: not found");
  CHECK_THAT(check_mpi_library("libm.so.6").problem, Contains("libm.so.6: the library has no function MPI_"));
}

TEST_CASE("loading an MPI library does not change the signal handlers of the process") {
  std::signal(SIGHUP, SIG_IGN);
  REQUIRE(check_mpi_library(fake_mpi("signals")).library);
  struct sigaction now {};
  sigaction(SIGHUP, nullptr, &now);
  CHECK(now.sa_handler == SIG_IGN);
  std::signal(SIGHUP, SIG_DFL);
}

TEST_CASE("a PMIx library without a function is rejected with its file, its version and the function") {
  const auto file = std::string(FAKE_LIBRARIES) + "/fake_pmix.so";
  const auto found = check_pmix_library(file);
  CHECK_FALSE(found.library);
  CHECK_THAT(found.problem, Contains(file + " (OpenPMIx 1.2.5, a fake) cannot be used: it has no function PMIx_Fence_nb"));
  CHECK_THAT(found.advice, Contains("TRAINRT_PMIX_LIBRARY") && Contains("package libpmix2"));
  CHECK_THAT(check_pmix_library("/does/not/exist.so").problem,
             Contains("no PMIx library can be loaded: /does/not/exist.so"));
}

// Must be the last test of the file: a library cannot be unloaded.
TEST_CASE("an MPI library that the process has already loaded is preferred to any other") {
  CHECK_FALSE(process_has_mpi());
  CHECK_THAT(search_mpi("/does/not/exist.so").problem, Contains("/does/not/exist.so"));
  const auto loaded = std::string(FAKE_LIBRARIES) + "/libmpi_of_program.so";
  REQUIRE(dlopen(loaded.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr);
  CHECK(process_has_mpi());
  const auto found = search_mpi(fake_mpi("good"));
  REQUIRE(found.library);
  CHECK(found.library->path == loaded);
}
