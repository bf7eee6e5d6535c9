#include "program/rendezvous/rendezvous.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/context.hpp>

namespace trainrt::program {

Rendezvous rendezvous_of(const Context& ctx) {
  return {.rank = ctx.world_rank(),
          .size = ctx.world_size(),
          .local_rank = ctx.local_rank(),
          .local_size = ctx.local_world_size(),
          .node_rank = ctx.node_rank(),
          .gpus = {ctx.gpus().begin(), ctx.gpus().end()},
          .run_name = ctx.run_name(),
          .run_dir = ctx.run_dir()};
}

bool is_of_this_run(const Rendezvous& rendezvous, std::string_view address) {
  return address.starts_with("127.") || address == "::1" ||
         std::ranges::find(rendezvous.addresses, address) != rendezvous.addresses.end();
}

std::string endpoint(std::string_view address, int port) {
  return address.find(':') == std::string_view::npos ? fmt::format("{}:{}", address, port)
                                                     : fmt::format("[{}]:{}", address, port);
}

}  // namespace trainrt::program
