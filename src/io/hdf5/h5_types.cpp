#include "io/hdf5/h5_types.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

namespace trainrt::io {

static_assert(std::endian::native == std::endian::little, "tensors are written as they are in memory: little-endian");

namespace {

/// Makes an HDF5 float type of 1 + `exponent` + `mantissa` bits: sign, exponent with `bias`, mantissa.
///
/// The stored bytes are always exact, but HDF5's tools print f8e4m3 numbers from 256 on as NaN: their exponent is all ones,
/// which HDF5 interprets as infinity or NaN.
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

const std::map<DType, hid_t>& types() {
  static const std::map<DType, hid_t> ids{{DType::f64, H5T_IEEE_F64LE},
                                          {DType::f32, H5T_IEEE_F32LE},
                                          {DType::f16, small_float(5, 10, 15)},
                                          {DType::bf16, small_float(8, 7, 127)},
                                          {DType::f8e4m3, small_float(4, 3, 7)},
                                          {DType::f8e5m2, small_float(5, 2, 15)},
                                          {DType::i64, H5T_STD_I64LE},
                                          {DType::i32, H5T_STD_I32LE},
                                          {DType::i16, H5T_STD_I16LE},
                                          {DType::i8, H5T_STD_I8LE},
                                          {DType::u8, H5T_STD_U8LE},
                                          {DType::boolean, boolean_type()}};
  return ids;
}

}  // namespace

hid_t h5_type(DType dtype) { return types().at(dtype); }

H5Id h5_string_type(std::size_t bytes) {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
  h5_check(H5Tset_size(type, std::max<std::size_t>(bytes, 1)), "set the size of a string type");
  h5_check(H5Tset_strpad(type, H5T_STR_NULLPAD), "set the padding of a string type");
  h5_check(H5Tset_cset(type, H5T_CSET_UTF8), "make a UTF-8 string type");
  return type;
}

std::string h5_type_name(hid_t type) {
  const auto lock = h5_lock();
  if (h5_check(H5Tget_class(type), "read the class of a type") == H5T_STRING) return "string";
  for (const auto& [dtype, id] : types())
    if (h5_check(H5Tequal(type, id), "compare types") > 0) return std::string(name_of(dtype));
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
  const auto extents = h5_extents(space);
  return Shape(extents.begin(), extents.end());
}

std::vector<hsize_t> h5_extents(hid_t space) {
  std::vector<hsize_t> extents(static_cast<std::size_t>(h5_check(H5Sget_simple_extent_ndims(space), "read a rank")));
  h5_check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), "read a shape");
  return extents;
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

std::optional<H5Number> h5_number(hid_t type) {
  const auto lock = h5_lock();
  const auto kind = h5_check(H5Tget_class(type), "read the class of a type");
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) return std::nullopt;
  const H5Id little_endian(H5Tcopy(type), H5Tclose, "copy a type");
  H5Number number;
  if (kind != H5T_ENUM && H5Tget_order(type) == H5T_ORDER_BE) {
    h5_check(H5Tset_order(little_endian, H5T_ORDER_LE), "set the byte order of a type");
    number.swapped = H5Tget_size(type);
  }
  const auto name = h5_type_name(little_endian);
  if (name == "other") return std::nullopt;
  number.dtype = dtype_from(name);
  return number;
}

std::string h5_type_in_words(hid_t type) {
  static const std::map<H5T_class_t, std::string> names{{H5T_COMPOUND, "compound"},
                                                        {H5T_REFERENCE, "reference"},
                                                        {H5T_ENUM, "enum"},
                                                        {H5T_VLEN, "list of variable length"},
                                                        {H5T_ARRAY, "array"}};
  const auto lock = h5_lock();
  const auto bits = 8 * H5Tget_size(type);
  const auto kind = H5Tget_class(type);
  if (kind == H5T_FLOAT) return fmt::format("a non-standard float of {} bits", bits);
  if (kind == H5T_STRING) return H5Tis_variable_str(type) > 0 ? "string of variable length" : "string";
  if (kind == H5T_INTEGER)
    return H5Tget_sign(type) == H5T_SGN_NONE ? fmt::format("u{}", bits)
                                             : fmt::format("a non-standard integer of {} bits", bits);
  const auto found = names.find(kind);
  return found == names.end() ? "neither a number nor a string" : found->second;
}

}  // namespace trainrt::io
