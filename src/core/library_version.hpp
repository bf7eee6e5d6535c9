#pragma once
#include <string>

namespace trainrt {

/// The versions of a library that this program was compiled with and that is loaded: "MPICH 4.0.2".
struct LibraryVersion {
  std::string compiled;
  std::string loaded;
};

}  // namespace trainrt
