#pragma once
#include <optional>
#include <string>
#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Returns the HDF5 type of a DType. It is used for files and, because trainrt runs on little-endian machines only, for
/// memory: values are never converted, and NaNs keep their payloads. bool is an 8-bit enum of FALSE and TRUE, as in h5py;
/// f16, bf16 and the 8-bit floats are custom floats. The caller must not close the id. Hold h5_lock().
hid_t h5_type(DType dtype);

/// Returns the type of a UTF-8 string of exactly `bytes` bytes (at least 1), padded with NULs.
H5Id h5_string_type(std::size_t bytes);

/// Returns name_of(DType) ("f32", "bool", ...), "string", or "other".
std::string h5_type_name(hid_t type);

/// Returns h5_type_name() of the type of a dataset or an attribute.
std::string h5_dataset_type(hid_t dataset);
std::string h5_attribute_type(hid_t object, const std::string& name);
Shape h5_dataset_shape(hid_t dataset);

/// Returns the extents of a dataspace. Hold h5_lock().
std::vector<hsize_t> h5_extents(hid_t space);

/// Creates a dataspace of a shape; a scalar one for the empty shape.
H5Id h5_space(const Shape& shape);

/// Returns the names of the attributes of a file, group or dataset, sorted.
std::vector<std::string> h5_attribute_names(hid_t object);

/// A type of numbers in a file that corresponds to a DType, in either byte order.
struct H5Number {
  DType dtype = DType::u8;
  std::size_t swapped = 1;  ///< size in bytes of a big-endian value, to be reversed; 1 if nothing is to be reversed
};
/// Returns the DType and the byte order of a type, or nothing if it is not an H5Number.
std::optional<H5Number> h5_number(hid_t type);

/// Describes any type for messages: "u16", "compound", "string of variable length".
std::string h5_type_in_words(hid_t type);

}  // namespace trainrt::io
