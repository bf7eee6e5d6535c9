#pragma once
#include <functional>
#include <string>
#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// The file type of a DType, which is also the memory type on the little-endian machines that trainrt runs on, so that
/// nothing is ever converted and NaNs keep their payloads. bool is h5py's: an enum FALSE, TRUE over 8 bits; f16 and bf16
/// are custom floats. The id belongs to this function. Hold h5_lock().
hid_t h5_type(DType dtype);

/// A UTF-8 string of exactly `bytes` (at least 1) bytes, padded with NULs.
H5Id h5_string_type(std::size_t bytes);

/// "f32", "bool", ... as name_of(DType); "string"; "other".
std::string h5_type_name(hid_t type);

/// What a dataset or an attribute is.
std::string h5_dataset_type(hid_t dataset);
std::string h5_attribute_type(hid_t object, const std::string& name);
Shape h5_dataset_shape(hid_t dataset);

/// A dataspace of that shape; a scalar one for [].
H5Id h5_space(const Shape& shape);

/// Sorted.
std::vector<std::string> h5_attribute_names(hid_t object);

/// Calls `visit(path, id)` for the root "/" and every group and dataset below, in order of their names. External links to
/// datasets are followed. What cannot be opened, or is none of these, goes to `broken(path, why)`.
void h5_walk(hid_t file, const std::function<void(const std::string&, hid_t)>& visit,
             const std::function<void(const std::string&, const std::string&)>& broken);

}  // namespace trainrt::io
