#pragma once
#include <string>
#include <vector>

#include <trainrt/context.hpp>

namespace trainrt::program {

/// The rank that a program is started for, and its run as far as that is known then.
struct ProgramPlace {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int node_rank = 0;
  std::vector<int> gpus;  ///< CUDA device numbers
  std::string run_name;   ///< a program that opens its run itself may give another
  std::string run_dir;
};

inline ProgramPlace place_of(const Context& ctx) {
  return {.rank = ctx.world_rank(),
          .size = ctx.world_size(),
          .local_rank = ctx.local_rank(),
          .local_size = ctx.local_world_size(),
          .node_rank = ctx.node_rank(),
          .gpus = {ctx.gpus().begin(), ctx.gpus().end()},
          .run_name = ctx.run_name(),
          .run_dir = ctx.run_dir()};
}

}  // namespace trainrt::program
