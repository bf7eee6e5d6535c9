#include "io/hdf5/untrusted/h5_open.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "core/files/guarded_tree.hpp"
#include "io/hdf5/untrusted/h5_guard.hpp"
#include "io/hdf5/untrusted/h5_watched_file.hpp"
#include "io/storage.hpp"
#include "io/storage_error.hpp"

namespace trainrt::io {

H5Id h5_open(const std::string& path) {
  struct stat info {};
  if (stat_guarded(path, info) != 0 && errno == ELOOP) fail("open", path, ELOOP);  // HDF5 would follow the symbolic link
  const auto lock = h5_lock();
  h5_require_sound(path);
  return h5_open_sound(path);
}

H5Id h5_open_sound(const std::string& path) {
  const auto lock = h5_lock();
  auto access =
      storage_url(path) ? h5_watched_access() : H5Id(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file access properties");
  // Keeps the source files of external links and virtual datasets open from one dataset to the next.
  h5_check(H5Pset_elink_file_cache_size(access, 64), "set the link cache");
  return H5Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), H5Fclose, "open '" + path + "' as HDF5");
}

H5Id h5_open_to_find(const std::string& path) {
  const auto lock = h5_lock();
  h5_require_sound(path);
  return h5_open_watched(path);
}

}  // namespace trainrt::io
