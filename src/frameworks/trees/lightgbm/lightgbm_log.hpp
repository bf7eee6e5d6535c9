#pragma once

namespace trainrt::frameworks::trees {

/// What LightGBM's log calls with pieces of a line: prints each line once, on standard output, and not again each round.
void print_lightgbm_log(const char* text);

}  // namespace trainrt::frameworks::trees
