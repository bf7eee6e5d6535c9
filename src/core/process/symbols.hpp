#pragma once
#include <cstddef>

namespace trainrt {

/// The function and the file that contain an address of code.
struct Symbol {
  char name[512];      ///< mangled name, cut if it is longer; "": unknown
  std::size_t offset;  ///< bytes from the beginning of the function, or of the file if `name` is ""
  const char* file;    ///< program or library, valid as long as it is loaded; nullptr: unknown
};

/// Finds the function at `address`. The symbol table in the file on disk also has file-local functions, such as train
/// functions in anonymous namespaces; if the file has no such table, the loader's symbols are used. Reads the file, does
/// not allocate memory and does not throw, so that a crash handler can call it. Any thread may call it.
void find_symbol(const void* address, Symbol& symbol) noexcept;

}  // namespace trainrt
