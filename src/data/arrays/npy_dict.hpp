#pragma once
#include <string>
#include <string_view>

#include <trainrt/tensor.hpp>

namespace trainrt::data {

/// The dictionary in a .npy file's header, as it stands there.
struct NpyDict {
  std::string descr;           ///< "<f4"
  bool is_structured = false;  ///< `descr` is a list of fields
  bool fortran_order = false;
  Shape shape;
};

/// Reads the literal of a Python dictionary that has exactly the keys descr, fortran_order and shape, in any order. Nothing
/// is ever evaluated. `what` names the array in the UsageError that says what is wrong; of a structured descr no more is
/// read.
NpyDict parse_npy_dict(std::string_view text, const std::string& what);

}  // namespace trainrt::data
