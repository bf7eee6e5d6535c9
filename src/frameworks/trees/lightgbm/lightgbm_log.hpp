#pragma once

namespace trainrt::frameworks::trees {

/// The callback for LightGBM's log, which LightGBM calls with parts of lines. It prints each line on standard output.
/// The same line is printed only once per thread.
void print_lightgbm_log(const char* text);

}  // namespace trainrt::frameworks::trees
