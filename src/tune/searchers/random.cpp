// Independent uniform draws. Bergstra and Bengio, Random Search for Hyper-Parameter Optimization, JMLR 13, 2012.
#include <trainrt/random.hpp>

#include "tune/search/searcher.hpp"

namespace trainrt::tune::plugins {

extern const Searcher random;
const Searcher random{.name = "random",
                      .help = "independent random values for each trial",
                      .unit = [](std::uint64_t seed, std::uint64_t trial, std::size_t dimension) {
                        return Random(mix_seed(seed, dimension), trial).uniform();
                      }};

}  // namespace trainrt::tune::plugins
