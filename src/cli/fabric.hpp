#pragma once

namespace trainrt::cli::doctor {

/// An InfiniBand, RoCE or Omni-Path card is in this node (or what else offers remote direct memory access).
bool has_fabric();

}  // namespace trainrt::cli::doctor
