#include "frameworks/program/nonce.hpp"

#include <random>

#include <fmt/format.h>

namespace trainrt::program {

std::string made_up_nonce() {
  std::random_device device;
  std::string nonce;
  for (int part = 0; part < 4; ++part) nonce += fmt::format("{:08x}", device());
  return nonce;
}

}  // namespace trainrt::program
