#include "io/hdf5/h5_types.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace trainrt::io {

static_assert(std::endian::native == std::endian::little, "tensors are written as they lie in memory: little-endian");

namespace {

/// A float of 1 + `exponent` + `mantissa` bits: sign, exponent with `bias`, mantissa. (HDF5 takes an exponent of all ones
/// for an infinity or a NaN, which f8e4m3 uses for numbers from 256 on: the bytes are exact, tools show those as NaN.)
hid_t small_float(std::size_t exponent, std::size_t mantissa, std::size_t bias) {
  const auto bits = 1 + exponent + mantissa;
  H5Id type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose, "make a float type");
  h5_check(H5Tset_fields(type, bits - 1, mantissa, exponent, 0, mantissa), "set the fields of a float type");
  h5_check(H5Tset_size(type, bits / 8), "set the size of a float type");
  h5_check(H5Tset_ebias(type, bias), "set the bias of a float type");
  return type.release();
}

hid_t boolean_type() {
  H5Id type(H5Tenum_create(H5T_STD_I8LE), H5Tclose, "make a boolean type");
  const std::int8_t no = 0;
  const std::int8_t yes = 1;
  h5_check(H5Tenum_insert(type, "FALSE", &no), "name a boolean");
  h5_check(H5Tenum_insert(type, "TRUE", &yes), "name a boolean");
  return type.release();
}

constexpr std::array all_dtypes{DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2,
                                DType::i64, DType::i32, DType::i16, DType::i8,   DType::u8,     DType::boolean};

}  // namespace

hid_t h5_type(DType dtype) {
  static const hid_t f16 = small_float(5, 10, 15);
  static const hid_t bf16 = small_float(8, 7, 127);
  static const hid_t f8e4m3 = small_float(4, 3, 7);
  static const hid_t f8e5m2 = small_float(5, 2, 15);
  static const hid_t boolean = boolean_type();
  switch (dtype) {
    case DType::f64:
      return H5T_IEEE_F64LE;
    case DType::f32:
      return H5T_IEEE_F32LE;
    case DType::f16:
      return f16;
    case DType::bf16:
      return bf16;
    case DType::f8e4m3:
      return f8e4m3;
    case DType::f8e5m2:
      return f8e5m2;
    case DType::i64:
      return H5T_STD_I64LE;
    case DType::i32:
      return H5T_STD_I32LE;
    case DType::i16:
      return H5T_STD_I16LE;
    case DType::i8:
      return H5T_STD_I8LE;
    case DType::u8:
      return H5T_STD_U8LE;
    case DType::boolean:
      return boolean;
  }
  return H5I_INVALID_HID;
}

H5Id h5_string_type(std::size_t bytes) {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
  h5_check(H5Tset_size(type, std::max<std::size_t>(bytes, 1)), "set the size of a string type");
  h5_check(H5Tset_strpad(type, H5T_STR_NULLPAD), "set the padding of a string type");
  h5_check(H5Tset_cset(type, H5T_CSET_UTF8), "make a UTF-8 string type");
  return type;
}

std::string h5_type_name(hid_t type) {
  const auto lock = h5_lock();
  if (h5_check(H5Tget_class(type), "look at a type") == H5T_STRING) return "string";
  for (const auto dtype : all_dtypes)
    if (h5_check(H5Tequal(type, h5_type(dtype)), "compare types") > 0) return std::string(name_of(dtype));
  return "other";
}

std::string h5_dataset_type(hid_t dataset) {
  const auto lock = h5_lock();
  return h5_type_name(H5Id(H5Dget_type(dataset), H5Tclose, "read a dataset's type"));
}

std::string h5_attribute_type(hid_t object, const std::string& name) {
  const auto lock = h5_lock();
  H5Id attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "open attribute '" + name + "'");
  return h5_type_name(H5Id(H5Aget_type(attribute), H5Tclose, "read the type of attribute '" + name + "'"));
}

Shape h5_dataset_shape(hid_t dataset) {
  const auto lock = h5_lock();
  H5Id space(H5Dget_space(dataset), H5Sclose, "read a dataset's shape");
  const auto rank = h5_check(H5Sget_simple_extent_ndims(space), "read a dataset's rank");
  std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
  h5_check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read a dataset's shape");
  return Shape(extents.begin(), extents.end());
}

H5Id h5_space(const Shape& shape) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return H5Id(
      extents.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr),
      H5Sclose, "make a dataspace of shape " + to_string(shape));
}

std::vector<std::string> h5_attribute_names(hid_t object) {
  const auto lock = h5_lock();
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  h5_check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "list attributes");
  return names;
}

}  // namespace trainrt::io
