#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <trainrt/context.hpp>

#include "program/staging/stage_format.hpp"
#include "program/staging/worker.hpp"

namespace trainrt::program::stage {

/// The tasks of one rank while a source is copied to the nodes (Transfer).
struct TransferRole {
  bool reads = false;            ///< the rank reads the source; true on the first unpacking rank only
  std::function<void()> before;  ///< called in the unpacking thread, before it starts to unpack
  std::string folder;            ///< folder to unpack into; "" if the rank does not unpack
  std::string node;              ///< name of the node, for error messages
};

struct TransferResult {
  std::string identity;  ///< identity of the source; set on ranks that unpack
  TreeSize size;         ///< size of the tree that this rank has unpacked
};

/// Transfers a source from the rank that reads it to the ranks that unpack it, in chunks of 4 MiB. Each rank has only a
/// few chunks in memory. Reading, broadcasting and unpacking overlap. All ranks exchange their status after each chunk;
/// thus every rank learns of an error on any rank, and the run can be stopped.
class Transfer {
 public:
  Transfer(Context& ctx, const StageFormat& format, std::string source, TransferRole role, double timeout_s);

  /// Transfers the source. If reading or unpacking fails, or makes no progress for the timeout, throws on all ranks an
  /// Error that names the source or the node. Collective.
  TransferResult run();

 private:
  struct Status;
  Status exchange_status();
  void broadcast_chunk(std::size_t size);
  void check_source(Status& mine);
  void check_tree(Status& mine);
  [[noreturn]] void throw_cause();

  Context& ctx_;
  const StageFormat& format_;
  const std::string source_;
  const TransferRole role_;
  const double timeout_s_;
  std::shared_ptr<TransferResult> found_ =
      std::make_shared<TransferResult>();    ///< shared with the threads, which may outlive this object
  std::unique_ptr<Communicator> unpacking_;  ///< connects the ranks that unpack
  std::optional<Chunk> next_;
  bool is_read_ = false;
  double last_chunk_s_;
  double last_room_s_;
  std::string error_;
  std::optional<Worker> reader_;
  std::optional<Worker> unpacker_;
};

}  // namespace trainrt::program::stage
