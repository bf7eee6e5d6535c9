#include "io/hdf5/untrusted/h5_reader.hpp"

#include "io/hdf5/h5_types.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"

namespace trainrt::io {

struct H5OpenDataset {
  H5Id file;
  H5Id dataset;
  H5Id space;
};

namespace {

/// Returns HDF5 dataset access properties. External files and sources of virtual datasets are looked up in the folder of
/// the HDF5 file. HDF5's chunk cache is disabled, because the callers cache chunks.
H5Id dataset_access() {
  H5Id access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, "make dataset access properties");
  h5_check(H5Pset_chunk_cache(access, 1, 0, 0), "set the chunk cache");
  h5_check(H5Pset_efile_prefix(access, "${ORIGIN}"), "set the folder of external files");
  h5_check(H5Pset_virtual_prefix(access, "${ORIGIN}"), "set the folder of the sources of virtual datasets");
  return access;
}

std::vector<hsize_t> sizes_of(const Shape& shape) { return {shape.begin(), shape.end()}; }

}  // namespace

H5Reader::H5Reader(std::string path, std::string dataset, DType dtype)
    : path_(std::move(path)), dataset_(std::move(dataset)), dtype_(dtype) {}

H5Reader::~H5Reader() {
  const auto lock = h5_lock();
  open_.reset();
}

void H5Reader::read(const Shape& start, const Shape& count, std::byte* out) const {
  const auto lock = h5_lock();
  const auto what = "read dataset '" + dataset_ + "' of '" + path_ + "'";
  if (!open_) {
    auto file = h5_open_sound(path_);  // the file was examined when its datasets were listed
    H5Id dataset(H5Dopen2(file, dataset_.c_str(), dataset_access()), H5Dclose, what);
    H5Id space(H5Dget_space(dataset), H5Sclose, what);
    open_ = std::make_unique<H5OpenDataset>(H5OpenDataset{std::move(file), std::move(dataset), std::move(space)});
  }
  const auto first = sizes_of(start), size = sizes_of(count);
  h5_check(H5Sselect_hyperslab(open_->space, H5S_SELECT_SET, first.data(), nullptr, size.data(), nullptr), what);
  const auto memory = h5_space(count);
  h5_check(H5Dread(open_->dataset, h5_type(dtype_), memory, open_->space, H5P_DEFAULT, out), what);
}

}  // namespace trainrt::io
