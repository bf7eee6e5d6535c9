#include "checkpoint/memory/state_copies.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/collective.hpp"
#include "checkpoint/device_memory.hpp"
#include "checkpoint/memory/state_pieces.hpp"
#include "comm/agreement.hpp"
#include "core/fault_point.hpp"
#include "core/rank_zero.hpp"
#include "core/text/byte_size.hpp"
#include "io/files/digest.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::string_view version = "1";
constexpr std::int64_t max_attempts = 3;             // attempts in a row that may begin from the same copy
constexpr std::uint64_t min_text_room = 4096;        // minimum reserve in bytes for growth of the note and the values
constexpr std::size_t block = std::size_t{1} << 18;  // bytes that are copied and then digested while they are in the cache

int slot_of(std::int64_t number) { return static_cast<int>(number % 2); }

/// Returns `note` and the values of `state` as bytes.
std::string packed(const CopyNote& note, const State& state) {
  Packer packer;
  packer.all(note.step, note.iteration, std::bit_cast<std::int64_t>(note.iteration_s), note.metrics.size());
  for (const auto& [name, value] : note.metrics) packer.all(name, std::bit_cast<std::int64_t>(value));
  packer.put(packed_values(state));
  return packer.bytes();
}

/// The note and the values in the bytes that packed() returned.
struct Unpacked {
  CopyNote note;
  std::string values;
};

Unpacked unpacked(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Unpacked content;
  auto& note = content.note;
  std::int64_t iteration_s = 0, count = 0;
  unpacker.all(note.step, note.iteration, iteration_s, count);
  note.iteration_s = std::bit_cast<double>(iteration_s);
  for (; count > 0; --count) {
    const auto name = unpacker.text();
    note.metrics[name] = std::bit_cast<double>(unpacker.number());
  }
  content.values = unpacker.text();
  return content;
}

/// Writes bytes one after the other into a slot, and computes their digest.
class SlotWriter {
 public:
  explicit SlotWriter(std::span<std::byte> slot) : slot_(slot) {}

  void write(std::span<const std::byte> bytes) {
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(block, bytes.size()))) {
      fault_point("copy_block");
      const auto part = bytes.first(std::min(block, bytes.size()));
      std::memcpy(slot_.data() + used_, part.data(), part.size());
      digest_.update(slot_.subspan(used_, part.size()));
      used_ += part.size();
    }
  }
  std::size_t used() const { return used_; }
  std::string digest() const { return digest_.hex(); }

 private:
  std::span<std::byte> slot_;
  std::size_t used_ = 0;
  io::Digest digest_;
};

/// Returns the bytes of packed() that a slot begins with: the note and the values of the State. Their size is stored
/// before them.
std::string_view text_in(std::span<const std::byte> slot) {
  std::uint64_t size = 0;
  std::memcpy(&size, slot.data(), sizeof size);
  return {reinterpret_cast<const char*>(slot.data()) + sizeof size, static_cast<std::size_t>(size)};
}

}  // namespace

StateCopies::StateCopies(int file, std::string run, Communicator& communicator)
    : file_(file), run_(std::move(run)), communicator_(communicator) {}

std::string StateCopies::open(const State& state, std::uint64_t max_bytes) {
  copies_.reset();
  std::string reason;
  if (any_on_device(state)) reason = "tensors in GPU memory cannot be copied";
  if (!state.files().empty()) reason = "files of the State cannot be copied";
  reason = first_of_all_ranks(reason);
  if (!reason.empty()) return reason;
  gather_layout(state);
  if (file_bytes() > max_bytes)
    reason = fmt::format("two copies of the State of all ranks take {} of memory, more than the {} that may be used",
                         byte_size(file_bytes()), byte_size(max_bytes));
  reason = communicator_.broadcast_text(reason, 0);
  return reason.empty() ? prepare_file() : reason;
}

/// Returns the `reason` of the lowest rank whose reason is not empty; "" if all are empty. Collective.
std::string StateCopies::first_of_all_ranks(const std::string& reason) {
  for (const auto& text : communicator_.all_gather(reason))
    if (!text.empty()) return text;
  return {};
}

/// Gathers the number of bytes that a copy needs on each rank, and computes a digest that identifies the run and the
/// layout of the State on all ranks. Collective.
void StateCopies::gather_layout(const State& state) {
  const StatePieces pieces(state);
  const auto room = std::bit_ceil(2 * packed({}, state).size() + min_text_room);
  const auto mine = Packer().all(room, pieces.own_bytes, io::digest_of(pieces.layout)).bytes();
  Packer identity;
  identity.all(version, std::string_view(run_));
  sizes_.clear();
  layout_.bytes.clear();
  const int ranks = communicator_.size();
  for (const auto& text : communicator_.all_gather(mine)) {
    const auto rank = static_cast<int>(sizes_.size());
    Sizes sizes;
    std::string digest;
    Unpacker(text).all(sizes.text_room, sizes.own, digest);
    sizes.share = pieces.share_begin(rank + 1, ranks) - pieces.share_begin(rank, ranks);
    sizes_.push_back(sizes);
    layout_.bytes.push_back(sizes.text_room + sizes.own + sizes.share);
    identity.all(sizes.own, digest);
  }
  layout_.identity = io::digest_of(identity.bytes());
}

/// Uses the layout of the existing file if the file belongs to the same run and State and its slots are large enough.
/// Otherwise initializes the file.
void StateCopies::choose_rooms() {
  const auto found = CopyFile::layout_of(file_, communicator_.size());
  const bool is_usable =
      found && found->identity == layout_.identity && std::ranges::equal(found->bytes, layout_.bytes, std::greater_equal());
  if (is_usable)
    layout_ = *found;
  else
    CopyFile::make(file_, layout_);
}

/// Maps the file on every rank. Before that, rank 0 initializes the file if the file belongs to another run or State,
/// or if values of the State have grown and no longer fit. Returns the first error, or "". Collective.
std::string StateCopies::prepare_file() {
  std::string failure;
  Packer rooms;
  RankZero(communicator_.rank()).run([&] {
    try {
      choose_rooms();
      for (const auto bytes : layout_.bytes) rooms.put(bytes);
    } catch (const Error& error) {
      failure = error.what();
    }
  });
  failure = communicator_.broadcast_text(failure, 0);
  if (!failure.empty()) return failure;
  const auto text = communicator_.broadcast_text(rooms.bytes(), 0);
  Unpacker unpacker(text);
  for (std::size_t rank = 0; rank < sizes_.size(); ++rank) {
    layout_.bytes[rank] = static_cast<std::uint64_t>(unpacker.number());
    sizes_[rank].text_room = layout_.bytes[rank] - sizes_[rank].own - sizes_[rank].share;
  }
  try {
    copies_.emplace(file_, layout_);
  } catch (const Error& error) {
    failure = error.what();
  }
  return first_of_all_ranks(failure);
}

void StateCopies::close() {
  copies_.reset();
  communicator_.barrier("copies of the State in memory");  // all ranks have unmapped the file; rank 0 may truncate it
  RankZero(communicator_.rank()).run([&] { CopyFile::clear(file_); });
}

std::optional<CopyNote> StateCopies::newest() {
  const int rank = communicator_.rank();
  std::array<std::int64_t, 4> mine{};
  for (const int slot : {0, 1})
    if (const auto number = copies_->number(rank, slot); number > 0 && copies_->is_intact(rank, slot))
      mine[static_cast<std::size_t>(slot)] = number;
  mine[2] = copies_->origin();
  mine[3] = copies_->attempts_from_origin();
  const auto all = comm::agree_min_max(communicator_, mine, "numbers of the copies of the State in memory");
  std::int64_t newest = 0;
  for (const std::size_t slot : {0, 1})
    if (all[slot].alike()) newest = std::max(newest, all[slot].min);
  if (newest == all[2].max && all[3].max >= max_attempts) newest = 0;
  number_ = std::max({all[0].max, all[1].max, all[2].max});
  for (const int slot : {0, 1})
    if (newest == 0 || slot != slot_of(newest)) copies_->unseal(rank, slot);
  // The next copy must not be written into the slot of the newest copy.
  if (newest > 0) number_ = newest;
  communicator_.barrier("copies of the State in memory");  // no rank seals a copy before all ranks have removed old seals
  if (newest == 0) return std::nullopt;
  return unpacked(text_in(copies_->bytes(rank, slot_of(newest)))).note;
}

void StateCopies::load(const State& state) {
  const int rank = communicator_.rank(), slot = slot_of(number_);
  const auto mine = copies_->bytes(rank, slot);
  set_values(state, unpacked(text_in(mine)).values);
  const StatePieces pieces(state);
  const auto* from = mine.data() + sizes_[static_cast<std::size_t>(rank)].text_room;
  const auto take = [&](StatePieces::Piece to) {
    std::memcpy(to.data(), from, to.size());
    from += to.size();
  };
  for (const auto& piece : pieces.own) take(piece);
  std::uint64_t begin = 0;
  for (int other = 0; other < communicator_.size(); ++other) {
    const auto& sizes = sizes_[static_cast<std::size_t>(other)];
    from = copies_->bytes(other, slot).data() + sizes.text_room + sizes.own;
    for_each_part(pieces.common, begin, begin + sizes.share, take);
    begin += sizes.share;
  }
}

void StateCopies::begin_from_copy(bool begins) {
  if (!begins)
    for (const int slot : {0, 1}) copies_->unseal(communicator_.rank(), slot);
  RankZero(communicator_.rank()).run([&] { copies_->begin_attempt(begins ? number_ : 0); });
}

bool StateCopies::copy(const State& state, const CopyNote& note) {
  const int rank = communicator_.rank(), slot = slot_of(++number_);
  state.bring_up_to_date();
  const auto text = packed(note, state);
  const auto room = sizes_[static_cast<std::size_t>(rank)].text_room;
  const std::uint64_t size = text.size();
  if (sizeof size + size > room) return false;
  copies_->unseal(rank, slot);
  std::vector<std::byte> head(room);
  std::memcpy(head.data(), &size, sizeof size);
  std::memcpy(head.data() + sizeof size, text.data(), text.size());
  const StatePieces pieces(state);
  SlotWriter writer(copies_->bytes(rank, slot));
  writer.write(head);
  for (const auto& piece : pieces.own) writer.write(piece);
  const int ranks = communicator_.size();
  for_each_part(pieces.common, pieces.share_begin(rank, ranks), pieces.share_begin(rank + 1, ranks),
                [&](StatePieces::Piece piece) { writer.write(piece); });
  copies_->seal(rank, slot, number_, writer.used(), writer.digest());
  return true;
}

}  // namespace trainrt::checkpoint
