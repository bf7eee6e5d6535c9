#pragma once
#include <string>

namespace trainrt {

/// Which version of a library this program was compiled against, and which one is loaded: "MPICH 4.0.2".
struct LibraryVersion {
  std::string compiled;
  std::string loaded;
};

}  // namespace trainrt
