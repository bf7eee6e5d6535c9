#pragma once
// For one source file of a program with its own main: error.txt says then where in the program's code the exception was
// thrown that its train function failed of. It takes __cxa_throw over, through which every throw of the program goes, and
// every throw costs a walk of the stack. (The train functions of modules need no such thing.)
#include <typeinfo>

#include <trainrt/export.hpp>

namespace trainrt {

/// Notes the throw and hands it on to the C++ library.
[[noreturn]] TRAINRT_API void throw_noted(void* exception, std::type_info* type, void (*destructor)(void*));

}  // namespace trainrt

/// The compiler has a declaration of __cxa_throw in mind that differs from the C++ library's: so it has another name here.
extern "C" [[noreturn]] TRAINRT_API void trainrt_throw(void* exception, std::type_info* type,
                                                       void (*destructor)(void*)) __asm__("__cxa_throw");
extern "C" [[noreturn]] void trainrt_throw(void* exception, std::type_info* type, void (*destructor)(void*)) {
  trainrt::throw_noted(exception, type, destructor);
}
