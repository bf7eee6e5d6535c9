#include "watch/thrown.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <typeinfo>

#include <cxxabi.h>
#include <dlfcn.h>
#include <trainrt/where_thrown.hpp>

namespace trainrt::watch {

namespace {

struct Throw {
  const void* exception = nullptr;
  StackFrames frames;
};

/// Number of recent throws that each thread records. More than one, because unwinding may throw other exceptions, and an
/// exception may be stored and rethrown.
constexpr std::size_t kept = 4;
thread_local std::array<Throw, kept> throws;
thread_local std::size_t next_throw = 0;

[[gnu::noinline]] void note_throw(const void* exception) noexcept {
  auto& entry = throws[next_throw++ % kept];
  entry.exception = exception;
  entry.frames = stack_here(3);  // without the frames of this function, throw_noted() and __cxa_throw
}

/// Returns the address of the exception object that is being handled. __cxa_throw was called with this address, and
/// libstdc++ stores it in a std::exception_ptr.
const void* current_exception_object() {
  const auto current = std::current_exception();
  static_assert(sizeof current == sizeof(void*));
  const void* object = nullptr;
  std::memcpy(static_cast<void*>(&object), static_cast<const void*>(&current), sizeof object);
  return object;
}

}  // namespace

StackFrames thrown_at() {
  const auto* object = current_exception_object();
  for (std::size_t back = 1; object != nullptr && back <= kept; ++back)
    if (const auto& entry = throws[(next_throw + kept - back) % kept]; entry.exception == object) return entry.frames;
  return {};
}

std::string thrown_type() {
  const auto* type = abi::__cxa_current_exception_type();
  return type == nullptr ? "" : demangled(type->name());
}

}  // namespace trainrt::watch

// where_thrown.hpp replaces libstdc++'s __cxa_throw, in programs and in this library, by a function that calls
// throw_noted() for each throw. throw_noted() records the stack and calls the real __cxa_throw.
[[gnu::noinline]] void trainrt::throw_noted(void* exception, std::type_info* type, void (*destructor)(void*)) {
  using Real = void (*)(void*, std::type_info*, void (*)(void*));
  static const auto real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "__cxa_throw"));
  watch::note_throw(exception);
  real(exception, type, destructor);
  __builtin_unreachable();
}
