#include "io/hdf5/h5_placer.hpp"

#include <trainrt/error.hpp>

namespace trainrt::io {

H5Placer::H5Placer(hid_t file)
    : file_(file),
      properties_(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties"),
      links_(h5_link_properties()) {
  h5_check(H5Pset_alloc_time(properties_, H5D_ALLOC_TIME_EARLY), "request early allocation");
  h5_check(H5Pset_fill_time(properties_, H5D_FILL_TIME_NEVER), "disable fill values");
  h5_check(H5Pset_obj_track_times(properties_, false), "disable times");
}

H5Id H5Placer::create(const std::string& path, hid_t type, hid_t space, std::uint64_t bytes, std::uint64_t& offset) {
  H5Id dataset(H5Dcreate2(file_, path.c_str(), type, space, links_, properties_, H5P_DEFAULT), H5Dclose,
               "create dataset '" + path + "'");
  if (bytes == 0) return dataset;
  offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) throw Error("HDF5 allocated no space for dataset '" + path + "'");
  return dataset;
}

}  // namespace trainrt::io
