#define CATCH_CONFIG_MAIN  // makes Catch2 2 define main(); Catch2 3 has main() in its library
#include <catch2/catch.hpp>

// Suppresses reports of sanitizers about libraries that are built without sanitizers: fontconfig keeps its configuration
// until the process ends, and glib and fontconfig synchronize their threads by means that ThreadSanitizer does not know.
// NOLINTBEGIN: the names are those of the sanitizers
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libfontconfig\n";
}
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_suppressions() {
  return "race:libfontconfig\nrace:libglib-2.0\nrace:FcValueSave\n";
}
// NOLINTEND
