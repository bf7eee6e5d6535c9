#include "io/hdf5/hdf5_version.hpp"

#include <fmt/format.h>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

LibraryVersion hdf5_version() {
  const auto lock = h5_lock();
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  h5_check(H5get_libversion(&major, &minor, &release), "read the version of HDF5");
  return {fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

}  // namespace trainrt::io
