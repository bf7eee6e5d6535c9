#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

// Leaks that the leak detection of AddressSanitizer ignores: fontconfig keeps its configuration until the process ends.
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }  // NOLINT
