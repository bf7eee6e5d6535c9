#pragma once
#include <cstddef>

namespace trainrt {

/// The function, and the program or library, that contain an address of code.
struct Symbol {
  char name[512];      ///< mangled name of the function, truncated if it is longer; "": unknown
  std::size_t offset;  ///< offset of the address in bytes from the start of the function, or of the file if `name` is ""
  const char* file;    ///< path of the program or library, valid while the file is loaded; nullptr: unknown
};

/// Finds the function that contains `address` and fills `symbol`. Uses the symbol table in the program or library file on
/// disk, which includes file-local functions, such as train functions in anonymous namespaces. If the file has no symbol
/// table, uses the dynamic symbols of the loader. Reads the file, allocates no memory and does not throw, so that a crash
/// handler can call it. Thread-safe.
void find_symbol(const void* address, Symbol& symbol) noexcept;

}  // namespace trainrt
