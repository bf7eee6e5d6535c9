#pragma once
#include <cstddef>

namespace trainrt {

/// What lies at an address of code.
struct Symbol {
  char name[512];      ///< as the linker knows it (mangled), cut if it is longer; "" = not known
  std::size_t offset;  ///< of the address from the beginning of the name, or of the file if there is no name
  const char* file;    ///< the program or library; lives as long as that is loaded; nullptr = not known
};

/// Finds the function that an address lies in: by the symbol table of its file on disk, if file-local functions stand
/// too (as train functions in anonymous namespaces are), else by what the loader knows. Takes no memory and throws nothing,
/// so that a crash handler can call it; it reads the file. Any thread.
void find_symbol(const void* address, Symbol& symbol) noexcept;

}  // namespace trainrt
