#pragma once

namespace trainrt::frameworks::trees {

/// The callback for LightGBM's log, which passes parts of lines. Prints each line on standard output, the same line only
/// once per thread.
void print_lightgbm_log(const char* text);

}  // namespace trainrt::frameworks::trees
