#pragma once
// Include this header in one source file of a program with its own main, so that error.txt contains the stack at which the
// exception was thrown that ended the train function. It replaces __cxa_throw, which every throw of the program calls, so
// every throw takes the time of a stack trace. Modules with train functions do not need it.
#include <typeinfo>

#include <trainrt/export.hpp>

namespace trainrt {

/// Records the stack of this throw, and calls the C++ library's __cxa_throw.
[[noreturn]] TRAINRT_API void throw_noted(void* exception, std::type_info* type, void (*destructor)(void*));

}  // namespace trainrt

/// Defines __cxa_throw under another C++ name, because the compiler's built-in declaration differs from the library's.
extern "C" [[noreturn]] TRAINRT_API void trainrt_throw(void* exception, std::type_info* type,
                                                       void (*destructor)(void*)) __asm__("__cxa_throw");
extern "C" [[noreturn]] void trainrt_throw(void* exception, std::type_info* type, void (*destructor)(void*)) {
  trainrt::throw_noted(exception, type, destructor);
}
