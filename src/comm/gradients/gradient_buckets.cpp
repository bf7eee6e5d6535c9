#include <trainrt/gradient_buckets.hpp>

#include <cmath>
#include <cstring>
#include <vector>

#include <trainrt/error.hpp>

#include "comm/gradients/bucket_plan.hpp"
#include "comm/gradients/gradient_norm.hpp"
#include "comm/reduce.hpp"

namespace trainrt {

namespace {

void require_host(Device device, const std::string& what) {
  if (device != Device::host)
    throw UsageError("GradientBuckets supports " + what + " in host memory only; on a GPU, use your framework's function");
}

}  // namespace

/// The state of the gradient buckets. Within a training step, buckets [0, finished) have been reduced, buckets [finished,
/// started) are being reduced, and the remaining buckets are being filled with gradients.
struct GradientBuckets::Impl {
  Communicator& communicator;
  Device device;
  std::vector<Parameter> parameters;
  comm::BucketPlan plan;
  bool narrow_wire;
  Memory memory;
  Memory wire;                       // bf16 copies of the f32 buckets; the copies are sent instead of the buckets
  std::vector<std::size_t> wire_of;  // offset of each bucket in `wire`, in bytes
  std::vector<std::size_t> missing;  // number of gradients of each bucket that are not ready yet
  std::vector<char> is_ready;        // whether the gradient of each parameter is ready
  std::vector<Communicator::Ticket> tickets;
  std::size_t started = 0, finished = 0, reduced_bytes = 0;
  double overlapped = 0;

  Impl(Communicator& c, std::span<const Parameter> all, const GradientOptions& options, Device where)
      : communicator(c),
        device(where),
        parameters(all.begin(), all.end()),
        plan(comm::plan_buckets(all, options.bucket_bytes)),
        narrow_wire(options.bf16_on_the_wire),
        memory(c.allocate(plan.bytes, where)),
        is_ready(all.size()),
        tickets(plan.buckets.size()) {
    if (narrow_wire) make_wire();
    begin_step();
  }

  bool is_narrowed(const comm::PlannedBucket& bucket) const { return narrow_wire && bucket.dtype == DType::f32; }

  void make_wire() {
    require_host(device, "bf16 on the wire");
    std::size_t bytes = 0;
    for (const auto& bucket : plan.buckets) {
      wire_of.push_back(bytes);
      if (is_narrowed(bucket)) bytes += bucket.bytes() / 2;
    }
    if (bytes > 0) wire = communicator.allocate(bytes);
  }

  void begin_step() {
    started = finished = reduced_bytes = 0;
    missing.clear();
    for (const auto& bucket : plan.buckets) missing.push_back(bucket.members);
    std::fill(is_ready.begin(), is_ready.end(), 0);
  }

  Buffer values_of(std::size_t parameter) const {
    const auto& [name, count, dtype] = parameters[parameter];
    return {memory.get() + plan.offset_of[parameter], count, dtype, device};
  }

  void start_next() {
    const auto number = started++;
    const auto& bucket = plan.buckets[number];
    Buffer buffer{memory.get() + bucket.offset, bucket.count, bucket.dtype, device};
    if (is_narrowed(bucket)) {
      buffer = Buffer{wire.get() + wire_of[number], bucket.count, DType::bf16};
      comm::narrow(floats_of(bucket), wire.get() + wire_of[number], bucket.count, DType::bf16);
    }
    tickets[number] =
        communicator.start({.kind = Collective::Kind::all_reduce, .buffer = buffer, .op = Op::mean, .name = bucket.name});
  }

  void finish_next() {
    const auto number = finished++;
    const auto& bucket = plan.buckets[number];
    if (is_narrowed(bucket)) comm::widen(wire.get() + wire_of[number], floats_of(bucket), bucket.count, DType::bf16);
    reduced_bytes += bucket.bytes();
  }

  float* floats_of(const comm::PlannedBucket& bucket) const {
    return reinterpret_cast<float*>(memory.get() + bucket.offset);
  }
};

GradientBuckets::GradientBuckets(Communicator& communicator, std::span<const Parameter> parameters,
                                 const GradientOptions& options, Device device)
    : impl_(std::make_unique<Impl>(communicator, parameters, options, device)) {}

/// After a failure in the middle of a step, reductions may still be in progress and write to the gradient memory. The
/// memory is then never freed.
GradientBuckets::~GradientBuckets() {
  if (impl_->finished < impl_->started) static_cast<void>(impl_.release());
}

void* GradientBuckets::gradient(std::size_t parameter) const {
  return impl_->memory.get() + impl_->plan.offset_of.at(parameter);
}

void GradientBuckets::zero() {
  auto& s = *impl_;
  require_host(s.device, "zero()");
  if (s.finished < s.started)
    throw UsageError("cannot zero the gradients: " + s.plan.buckets[s.finished].name +
                     " is being reduced; call average() first, which ends the step");
  std::memset(s.memory.get(), 0, s.plan.bytes);
}

void GradientBuckets::ready(std::size_t parameter) {
  auto& s = *impl_;
  if (s.is_ready.at(parameter) != 0)
    throw UsageError("ready() was called twice in a step for the gradient of '" + s.parameters[parameter].name +
                     "'; average() ends a step");
  s.is_ready[parameter] = 1;
  --s.missing[s.plan.bucket_of[parameter]];
  while (s.started < s.plan.buckets.size() && s.missing[s.started] == 0) s.start_next();
  while (s.finished < s.started && s.communicator.test(s.tickets[s.finished])) s.finish_next();
}

void GradientBuckets::average() {
  auto& s = *impl_;
  s.overlapped = static_cast<double>(s.reduced_bytes) / static_cast<double>(s.plan.bytes);
  while (s.started < s.plan.buckets.size()) s.start_next();
  while (s.finished < s.started) {
    s.communicator.wait(s.tickets[s.finished]);
    s.finish_next();
  }
  s.begin_step();
}

double GradientBuckets::clip(double max_norm) {
  auto& s = *impl_;
  require_host(s.device, "clip()");
  if (!(max_norm > 0))
    throw UsageError("cannot clip gradients to a norm of " + std::to_string(max_norm) + "; it must be greater than 0");
  double squares = 0;
  for (std::size_t i = 0; i < s.parameters.size(); ++i) squares += comm::sum_of_squares(s.values_of(i));
  const double norm = std::sqrt(squares);
  if (std::isfinite(norm) && norm > max_norm)
    for (std::size_t i = 0; i < s.parameters.size(); ++i) comm::scale(s.values_of(i), max_norm / norm);
  return norm;
}

std::size_t GradientBuckets::bucket_count() const { return impl_->plan.buckets.size(); }

double GradientBuckets::overlapped() const { return impl_->overlapped; }

}  // namespace trainrt
