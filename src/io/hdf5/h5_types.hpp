#pragma once
#include <optional>
#include <string>
#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// Returns the HDF5 type of a DType. The type is the same in files and in memory, because trainrt runs on little-endian
/// machines only. Values are therefore never converted, and NaNs keep their payloads.
///
/// bool is an 8-bit enum of FALSE and TRUE, as in h5py. f16, bf16 and the 8-bit floats are custom HDF5 float types. The
/// caller must not close the id. Hold h5_lock().
hid_t h5_type(DType dtype);

/// Returns the HDF5 type of a fixed-length UTF-8 string of `bytes` bytes (at least 1), padded with NULs.
H5Id h5_string_type(std::size_t bytes);

/// Returns the name of an HDF5 type: name_of() of the equal DType ("f32", "bool", ...), "string", or "other".
std::string h5_type_name(hid_t type);

/// Returns the name, as from h5_type_name(), of the type of a dataset or an attribute.
std::string h5_dataset_type(hid_t dataset);
std::string h5_attribute_type(hid_t object, const std::string& name);
Shape h5_dataset_shape(hid_t dataset);

/// Returns the extents (sizes along all axes) of an HDF5 dataspace. Hold h5_lock().
std::vector<hsize_t> h5_extents(hid_t space);

/// Creates an HDF5 dataspace of shape `shape`. The empty shape gives a scalar dataspace.
H5Id h5_space(const Shape& shape);

/// Returns the names of all attributes of an HDF5 file, group or dataset, sorted.
std::vector<std::string> h5_attribute_names(hid_t object);

/// A numeric type of an HDF5 file that corresponds to a DType, in either byte order.
struct H5Number {
  DType dtype = DType::u8;
  /// Size in bytes of a value that is stored big-endian and must be byte-swapped; 1 if no swap is needed.
  std::size_t swapped = 1;
};
/// Returns the DType and the byte order of an HDF5 type, or nullopt if no DType corresponds to it.
std::optional<H5Number> h5_number(hid_t type);

/// Describes any HDF5 type for messages: "u16", "compound", "string of variable length".
std::string h5_type_in_words(hid_t type);

}  // namespace trainrt::io
