#pragma once

namespace trainrt {

/// The compiler's 16-bit floating-point type (IEEE 754 binary16). Conversions from float round to nearest even. On aarch64,
/// GCC has `_Float16` in C++ only since version 13; `__fp16` has the same format there.
#if defined(__aarch64__)
using Float16 = __fp16;
#else
using Float16 = _Float16;
#endif

}  // namespace trainrt
