#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

class Context;

namespace program {

/// Everything that a rank's program must know to train together with the programs of the other ranks. Plain data.
/// rendezvous_of() or the caller sets the members of the first group; add_node_facts() and LaunchServices add the others.
struct Rendezvous {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int node_rank = 0;
  std::vector<int> gpus;  ///< CUDA device numbers of this rank
  std::string run_name;   ///< a program that opens its run itself may choose another name
  std::string run_dir;

  int node_count = 1;
  std::vector<int> nodes;  ///< node of each rank, numbered without gaps in the order of the nodes' lowest ranks
  int restarts = 0;        ///< number of times that these ranks have restarted their programs
  int max_restarts = 0;
  bool has_gpu = false;                ///< the program may use a GPU
  bool hides_gpus = false;             ///< the program must not use GPUs, even if the node has some
  bool is_in_slurm = false;            ///< this process belongs to a Slurm job, whichever launcher started it
  std::vector<std::string> gpu_names;  ///< `gpus` as CUDA_VISIBLE_DEVICES names them
  bool own_gpus_only = false;          ///< the program sees only the GPUs of its own rank
  std::string visible_gpus;            ///< CUDA_VISIBLE_DEVICES of the program; "" to inherit the value of this process
  int cpus = 1;                        ///< number of CPUs of this rank alone
  std::string interface;               ///< network interface of this node that reaches rank 0's node; "" if unknown
  std::vector<std::string> addresses;  ///< address of each rank's node, as the other nodes reach it
  /// By framework: for each rank, the port that is reserved for its program; 0 if the framework needs no port on that rank.
  std::map<std::string, std::vector<int>, std::less<>> ports;
  /// By framework: file descriptor of the socket that this rank's program inherits.
  std::map<std::string, int, std::less<>> sockets;
  std::string secret;          ///< 32 characters, new for each start and known only to its ranks
  std::string printed_secret;  ///< a second secret for frameworks that print the secret they are given
};

/// Returns the first group of members, from the Context.
Rendezvous rendezvous_of(const Context& ctx);

/// Returns whether a connection from `address` may belong to this run: it comes from this node or another node of the run.
bool is_of_this_run(const Rendezvous& rendezvous, std::string_view address);

/// Returns address and port as one text: "10.0.0.1:29500" or "[fd00::1]:29500".
std::string endpoint(std::string_view address, int port);

}  // namespace program

}  // namespace trainrt
