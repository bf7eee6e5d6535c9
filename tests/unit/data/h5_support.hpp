#pragma once
#include <hdf5.h>

#include <numeric>

#include "io/hdf5/h5_types.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"
#include "unit/data/support.hpp"

namespace data_test {

using io::H5Id;

/// Properties of an HDF5 dataset that a test creates. 0, false and empty values keep the defaults of HDF5.
struct H5Make {
  hid_t type = H5T_STD_I32LE;
  std::vector<hsize_t> chunk = {};
  int gzip = 0;
  bool shuffle = false;
  bool fletcher = false;
  int filter = 0;             ///< number of a filter of an HDF5 plug-in
  bool scale_offset = false;  ///< a filter that only the HDF5 library reverses
  bool compact = false;
  bool is_written = true;
  bool edges_are_plain = false;
  int fill = 0;
};

inline std::vector<std::int32_t> counting_values(std::size_t count, std::int32_t first = 0) {
  std::vector<std::int32_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline std::size_t product(const std::vector<hsize_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

inline H5Id h5_creation(const H5Make& how) {
  H5Id made(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "test");
  const auto check = [](herr_t result) { io::h5_check(result, "test"); };
  if (how.compact) check(H5Pset_layout(made, H5D_COMPACT));
  if (!how.chunk.empty()) check(H5Pset_chunk(made, static_cast<int>(how.chunk.size()), how.chunk.data()));
  if (how.edges_are_plain) check(H5Pset_chunk_opts(made, H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS));
  if (how.scale_offset) check(H5Pset_scaleoffset(made, H5Z_SO_INT, 0));
  if (how.shuffle) check(H5Pset_shuffle(made));
  if (how.gzip > 0) check(H5Pset_deflate(made, static_cast<unsigned>(how.gzip)));
  if (how.filter > 0) check(H5Pset_filter(made, how.filter, H5Z_FLAG_MANDATORY, 0, nullptr));
  if (how.fletcher) check(H5Pset_fletcher32(made));
  if (how.fill != 0) check(H5Pset_fill_value(made, H5T_NATIVE_INT, &how.fill));
  return made;
}

/// Adds a dataset with these values, which HDF5 converts to the type.
inline void add_dataset(hid_t file, const std::string& name, const std::vector<hsize_t>& shape,
                        const std::vector<std::int32_t>& values, const H5Make& how = {}) {
  const H5Id space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose, "test");
  const auto creation = h5_creation(how);
  const H5Id dataset(H5Dcreate2(file, name.c_str(), how.type, space, io::h5_link_properties(), creation, H5P_DEFAULT),
                     H5Dclose, "test");
  REQUIRE(values.size() >= (how.is_written ? product(shape) : 0));
  if (how.is_written) io::h5_check(H5Dwrite(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "test");
}

inline void add_counting(hid_t file, const std::string& name, const std::vector<hsize_t>& shape, const H5Make& how = {}) {
  add_dataset(file, name, shape, counting_values(product(shape)), how);
}

/// Creates the file `path` with this machine's HDF5 library. `fill` writes the datasets. If `latest` is true, the file
/// has the newest format that the library supports. `user_block` is the number of bytes before the HDF5 content.
template <class Fill>
void make_h5(const std::string& path, const Fill& fill, bool latest = false, hsize_t user_block = 0) {
  const auto lock = io::h5_lock();
  const H5Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "test"), creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "test");
  if (latest) io::h5_check(H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST), "test");
  if (user_block > 0) io::h5_check(H5Pset_userblock(creation, user_block), "test");
  const H5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose, "make " + path);
  fill(static_cast<hid_t>(file));
}

/// Reads a dataset with the HDF5 library.
template <class T>
std::vector<T> read_by_hdf5(const std::string& path, const std::string& name, hid_t type) {
  const auto lock = io::h5_lock();
  const auto file = io::h5_open(path);
  const H5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "test");
  std::vector<T> values(static_cast<std::size_t>(element_count(io::h5_dataset_shape(dataset))));
  io::h5_check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "test");
  return values;
}

}  // namespace data_test
