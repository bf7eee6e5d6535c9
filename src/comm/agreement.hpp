#pragma once
#include <functional>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "core/output/error_message.hpp"

namespace trainrt::comm {

/// An error that every rank throws at the same point: all of them can leave in order, and rank 0 alone says it.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// Runs `work` on this rank. Collective: if it throws on any rank, all ranks throw the same AgreedError: the lowest
/// failing rank's, worded by `explain`, with its rank and host if it is not the same on all.
void agreed(Communicator& communicator, const std::function<void()>& work, const Explain& explain = message_of);
/// The same for work that rank 0 does for all.
void agreed_on_first(Communicator& communicator, const std::function<void()>& work, const Explain& explain = message_of);

}  // namespace trainrt::comm
