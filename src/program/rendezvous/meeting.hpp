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
  std::vector<int> nodes;  ///< of each rank; dense, by lowest rank
  std::string run_name;
  int restarts = 0;  ///< so often the programs were started before, by the same ranks
  int max_restarts = 0;
  bool has_gpu = false;
  bool hides_gpus = false;             ///< the program is to train without them, also if the node has some
  bool is_in_slurm = false;            ///< in a job of Slurm's, whatever has started the ranks
  std::vector<std::string> gpus;       ///< that this rank has, as CUDA_VISIBLE_DEVICES calls them
  bool own_gpus_only = false;          ///< its program sees no others
  std::string visible_gpus;            ///< that its program sees; "": as this process
  int cpus = 1;                        ///< that this rank has for itself
  std::string interface;               ///< of this node, by which it reaches the first rank's; "" if it is not known
  std::vector<std::string> addresses;  ///< of each rank's node, as the others reach it
  /// By framework: a port on each rank's node that is kept for that rank's program; 0 if the framework needs none there.
  std::map<std::string, std::vector<int>, std::less<>> ports;
  /// By framework: a socket of this rank's runtime that its program inherits under this number.
  std::map<std::string, int, std::less<>> sockets;
  std::string secret;          ///< of this start, 32 characters, which its ranks alone know
  std::string printed_secret;  ///< another one, for frameworks that print what they send
};

/// Whether one who connects from there may be of this run: of this node, or from where a node of the run reached the first.
bool is_of(const Meeting& meeting, std::string_view address);

/// "10.0.0.1:29500", "[fd00::1]:29500"
std::string endpoint(std::string_view address, int port);

}  // namespace trainrt::program
