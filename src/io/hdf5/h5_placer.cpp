#include "io/hdf5/h5_placer.hpp"

#include <trainrt/error.hpp>

namespace trainrt::io {

H5Placer::H5Placer(hid_t file)
    : file_(file), how_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties"), links_(h5_link_properties()) {
  h5_check(H5Pset_alloc_time(how_, H5D_ALLOC_TIME_EARLY), "ask for early allocation");
  h5_check(H5Pset_fill_time(how_, H5D_FILL_TIME_NEVER), "ask for no fill");
  h5_check(H5Pset_obj_track_times(how_, false), "leave times out");
}

H5Id H5Placer::create(const std::string& path, hid_t type, hid_t space, std::uint64_t bytes, std::uint64_t& at) {
  H5Id dataset(H5Dcreate2(file_, path.c_str(), type, space, links_, how_, H5P_DEFAULT), H5Dclose,
               "create dataset '" + path + "'");
  if (bytes == 0) return dataset;
  at = H5Dget_offset(dataset);
  if (at == HADDR_UNDEF) throw Error("HDF5 gave dataset '" + path + "' no place in the file");
  return dataset;
}

}  // namespace trainrt::io
