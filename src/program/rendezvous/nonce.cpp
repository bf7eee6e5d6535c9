#include "program/rendezvous/nonce.hpp"

#include <random>

#include <fmt/format.h>

namespace trainrt::program {

std::string random_nonce() {
  std::random_device device;
  std::string nonce;
  for (int part = 0; part < 4; ++part) nonce += fmt::format("{:08x}", device());
  return nonce;
}

bool is_same_secret(std::string_view found, std::string_view secret) {
  unsigned difference = found.size() == secret.size() && !secret.empty() ? 0 : 1;
  for (std::size_t at = 0; at < secret.size(); ++at)
    difference |= static_cast<unsigned char>((at < found.size() ? found[at] : '\0') ^ secret[at]);
  return difference == 0;
}

}  // namespace trainrt::program
