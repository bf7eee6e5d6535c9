#pragma once
#include <string>

namespace trainrt {

/// The versions, such as "MPICH 4.0.2", of a library that this program was compiled with (`compiled`) and that it has
/// loaded (`loaded`).
struct LibraryVersion {
  std::string compiled;
  std::string loaded;
};

}  // namespace trainrt
