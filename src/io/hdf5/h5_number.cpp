#include "io/hdf5/h5_number.hpp"

#include <fmt/format.h>

#include "io/hdf5/h5_types.hpp"

namespace trainrt::io {

std::optional<H5Number> h5_number(hid_t type) {
  const auto lock = h5_lock();
  const auto kind = h5_check(H5Tget_class(type), "look at a type");
  if (kind != H5T_INTEGER && kind != H5T_FLOAT && kind != H5T_ENUM) return std::nullopt;
  const H5Id little(H5Tcopy(type), H5Tclose, "copy a type");
  H5Number number;
  if (kind != H5T_ENUM && H5Tget_order(type) == H5T_ORDER_BE) {
    h5_check(H5Tset_order(little, H5T_ORDER_LE), "turn a type round");
    number.swapped = H5Tget_size(type);
  }
  const auto name = h5_type_name(little);
  if (name == "other") return std::nullopt;
  number.dtype = dtype_from(name);
  return number;
}

std::string h5_type_in_words(hid_t type) {
  const auto lock = h5_lock();
  const auto bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return H5Tget_sign(type) == H5T_SGN_NONE ? fmt::format("u{}", bits)
                                               : fmt::format("an integer of {} bits in a form of its own", bits);
    case H5T_FLOAT:
      return fmt::format("a float of {} bits in a form of its own", bits);
    case H5T_STRING:
      return H5Tis_variable_str(type) > 0 ? "string of variable length" : "string";
    case H5T_COMPOUND:
      return "compound";
    case H5T_REFERENCE:
      return "reference";
    case H5T_ENUM:
      return "enum";
    case H5T_VLEN:
      return "list of variable length";
    case H5T_ARRAY:
      return "array";
    default:
      return "neither number nor text";
  }
}

}  // namespace trainrt::io
