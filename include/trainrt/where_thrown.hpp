#pragma once
// Include this header in one source file of a program with its own main. If an exception ends the train function, error.txt
// then contains the stack trace of the throw. The header replaces __cxa_throw, the function that the compiler calls for
// each throw. Each throw of the program therefore records a stack trace, and takes longer. Shared libraries with train
// functions do not need this header.
#include <typeinfo>

#include <trainrt/export.hpp>

namespace trainrt {

/// Records the stack trace of the current throw, and calls the C++ library's __cxa_throw. Called by __cxa_throw of this
/// header, with the same arguments.
[[noreturn]] TRAINRT_API void throw_noted(void* exception, std::type_info* type, void (*destructor)(void*));

}  // namespace trainrt

/// Definition of __cxa_throw under the C++ name trainrt_throw, because the compiler's built-in declaration of __cxa_throw
/// differs from the library's.
extern "C" [[noreturn]] TRAINRT_API void trainrt_throw(void* exception, std::type_info* type,
                                                       void (*destructor)(void*)) __asm__("__cxa_throw");
extern "C" [[noreturn]] void trainrt_throw(void* exception, std::type_info* type, void (*destructor)(void*)) {
  trainrt::throw_noted(exception, type, destructor);
}
