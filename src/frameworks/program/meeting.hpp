#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::program {

/// What the program of a rank needs to know to train together with those of the other ranks. Plain data.
struct Meeting {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int node_rank = 0;
  int node_count = 1;
  std::string run_name;
  int restarts = 0;  ///< so often the programs were started before, by the same ranks
  int max_restarts = 0;
  bool has_gpu = false;
  int cpus = 1;                        ///< that this rank has for itself
  std::string interface;               ///< of this node, by which it reaches the first rank's; "" if it is not known
  std::vector<std::string> addresses;  ///< of each rank's node, as the others reach it
  /// By framework: a port on each rank's node that is kept for that rank's program; 0 if the framework needs none there.
  std::map<std::string, std::vector<int>, std::less<>> ports;
};

/// "10.0.0.1:29500", "[fd00::1]:29500"
std::string endpoint(std::string_view address, int port);

}  // namespace trainrt::program
