// The HDF5 library, as it is loaded on every rank.
#include "cli/doctor/doctor_versions.hpp"
#include "io/hdf5/h5.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

Finding examine_hdf5(const Examination& examination) { return compare_versions(examination, io::hdf5_version); }

}  // namespace

extern const Check hdf5;
const Check hdf5{.name = "hdf5", .help = "the HDF5 library: compiled against and loaded", .place = 40, .run = examine_hdf5};

}  // namespace trainrt::cli::doctor::plugins
