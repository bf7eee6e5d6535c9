#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt {

class Context;

namespace program {

/// The values that a rank's program needs to train together with the programs of the other ranks: ranks, nodes,
/// addresses, ports, GPUs and secrets. rendezvous_of() or the caller sets the members `rank` to `run_dir`;
/// add_node_facts() and LaunchServices set the other members.
struct Rendezvous {
  int rank = 0;
  int size = 1;
  int local_rank = 0;
  int local_size = 1;
  int node_rank = 0;
  std::vector<int> gpus;  ///< CUDA device numbers of this rank's GPUs
  std::string run_name;   ///< name of the run; a program that requests its run may choose another name
  std::string run_dir;

  int node_count = 1;
  std::vector<int> nodes;  ///< node of each rank; nodes are numbered in the order of their lowest ranks
  int restarts = 0;        ///< number of times that the ranks have restarted their programs
  int max_restarts = 0;
  bool has_gpu = false;                ///< the program may use a GPU
  bool hides_gpus = false;             ///< the program must not use the GPUs of its node
  bool is_in_slurm = false;            ///< this process belongs to a Slurm job, whichever launcher started it
  std::vector<std::string> gpu_names;  ///< names of the GPUs `gpus` in CUDA_VISIBLE_DEVICES
  bool own_gpus_only = false;          ///< the program sees only the GPUs of its own rank
  std::string visible_gpus;            ///< CUDA_VISIBLE_DEVICES of the program; "" to inherit the variable
  int cpus = 1;                        ///< number of CPUs for this rank's program
  std::string interface;               ///< network interface of this node that has the node's address; "" if unknown
  std::vector<std::string> addresses;  ///< for each rank, the address at which other nodes reach its node
  /// For each framework and rank, the port that is reserved for the rank's program, or 0 if the framework needs no port
  /// on this rank.
  std::map<std::string, std::vector<int>, std::less<>> ports;
  /// For each framework, the file descriptor of a socket that this rank's program inherits.
  std::map<std::string, int, std::less<>> sockets;
  std::string secret;          ///< 32 characters, new for each start of the programs, known only to the ranks
  std::string printed_secret;  ///< another secret, for frameworks that print their secret
};

/// Returns a Rendezvous with the members that the Context determines; the other members have their default values.
Rendezvous rendezvous_of(const Context& ctx);

/// Returns whether a connection from `address` may belong to this run: the address belongs to this node or to another
/// node of the run.
bool is_of_this_run(const Rendezvous& rendezvous, std::string_view address);

/// Returns address and port as a single text: "10.0.0.1:29500" or "[fd00::1]:29500".
std::string endpoint(std::string_view address, int port);

}  // namespace program

}  // namespace trainrt
