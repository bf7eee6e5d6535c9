// Compares trainrt's declarations of NCCL's binary interface with NCCL's header. All checks happen at compile time. The
// file is compiled only if nccl.h is found.
#include <cstddef>

#include <nccl.h>

#include "comm/nccl/api.hpp"

namespace own = trainrt::comm::nccl;

static_assert(sizeof(own::UniqueId) == sizeof(ncclUniqueId));
static_assert(sizeof(own::Config) <= sizeof(ncclConfig_t));
static_assert(offsetof(own::Config, magic) == offsetof(ncclConfig_t, magic));
static_assert(offsetof(own::Config, version) == offsetof(ncclConfig_t, version));
static_assert(offsetof(own::Config, blocking) == offsetof(ncclConfig_t, blocking));
static_assert(offsetof(own::Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
static_assert(offsetof(own::Config, net_name) == offsetof(ncclConfig_t, netName));
static_assert(offsetof(own::Config, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(static_cast<int>(own::Result::remote_error) == ncclRemoteError);
static_assert(static_cast<int>(own::Result::in_progress) == ncclInProgress);
static_assert(static_cast<int>(own::Type::u8) == ncclUint8 && static_cast<int>(own::Type::i32) == ncclInt32);
static_assert(static_cast<int>(own::Type::i64) == ncclInt64 && static_cast<int>(own::Type::f16) == ncclFloat16);
static_assert(static_cast<int>(own::Type::f32) == ncclFloat32 && static_cast<int>(own::Type::f64) == ncclFloat64);
static_assert(static_cast<int>(own::Type::bf16) == ncclBfloat16);
static_assert(static_cast<int>(own::RedOp::sum) == ncclSum && static_cast<int>(own::RedOp::avg) == ncclAvg);
static_assert(static_cast<int>(own::RedOp::min) == ncclMin && static_cast<int>(own::RedOp::max) == ncclMax);
