// The MPI library, as it is loaded on every rank.
#include "cli/doctor/doctor_versions.hpp"
#include "launch/library_versions.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding examine_mpi(const Examination& examination) { return compare_versions(examination, launch::mpi_version); }

}  // namespace

extern const Check mpi;
const Check mpi{.name = "mpi", .help = "the MPI library: compiled against and loaded", .place = 20, .run = examine_mpi};

}  // namespace trainrt::cli::doctor::plugins
