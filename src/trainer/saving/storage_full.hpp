#pragma once
#include "comm/agreement.hpp"

namespace trainrt::trainer {

/// Exception thrown on all ranks if checkpoints cannot be saved because the storage is full. The run is not restarted,
/// since a restart would repeat work and fail in the same way.
class StorageFull : public comm::AgreedError {
 public:
  using AgreedError::AgreedError;
};

}  // namespace trainrt::trainer
