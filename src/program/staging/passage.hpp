#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <trainrt/context.hpp>

#include "program/staging/stage_format.hpp"
#include "program/staging/worker.hpp"

namespace trainrt::program::stage {

/// A rank's part in passing a source on.
struct Part {
  bool reads = false;            ///< one rank: the first of the communicator of those that unpack
  std::function<void()> before;  ///< in the thread that unpacks: what is to be done first
  std::string folder;            ///< that it unpacks into; "": it does not
  std::string node;              ///< for messages
};

struct Passed {
  std::string identity;  ///< of what was read; where it unpacks
  TreeSize size;         ///< of what was unpacked here
};

/// From the one rank that reads the source to those that unpack it, a chunk at a time: they go on together, turn by turn,
/// so that the run can stop, and that an error of any is known to all. Reading, passing on and unpacking overlap. Memory:
/// a few chunks of 4 MiB.
class Passage {
 public:
  Passage(Context& ctx, const StageFormat& format, std::string source, Part part, double timeout_s);

  /// Collective. Error that names the source or the node if reading or unpacking fails on any, or stands still for the
  /// timeout.
  Passed run();

 private:
  struct Turn;
  Turn turn();
  void pass_on(std::size_t size);
  void look_at_source(Turn& mine);
  void look_at_tree(Turn& mine);
  [[noreturn]] void throw_cause();

  Context& ctx_;
  const StageFormat& format_;
  const std::string source_;
  const Part part_;
  const double timeout_s_;
  std::shared_ptr<Passed> found_ = std::make_shared<Passed>();  ///< by the threads, which may outlive this
  std::unique_ptr<Communicator> unpacking_;                     ///< the ranks that unpack
  std::optional<Chunk> next_;
  bool is_read_ = false;
  double last_chunk_s_;
  double last_room_s_;
  std::string error_;
  std::optional<Worker> reader_;
  std::optional<Worker> unpacker_;
};

}  // namespace trainrt::program::stage
