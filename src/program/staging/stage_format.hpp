#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/plugin.hpp"
#include "program/staging/chunk_queue.hpp"

namespace trainrt::program::stage {

/// What a tree holds.
struct TreeSize {
  std::int64_t files = 0;     ///< and links, without folders
  std::int64_t bytes = 0;     ///< of the files
  std::int64_t left_out = 0;  ///< devices, pipes and sockets, which are not staged
};

using Emit = std::function<void(std::span<const char> bytes)>;  ///< throws Cancelled if nobody wants more
using Fetch = std::function<std::span<const char>()>;  ///< the next bytes, valid until the next call; none at the end

/// A plug-in: one file in program/staging/formats. A kind of source of a tree: how one rank makes a stream of
/// bytes of it, and how each node makes the tree of the stream. Both run in threads that have a current folder of their
/// own, and throw Error that names what could not be read or made.
struct StageFormat {
  std::string_view name;
  std::string_view help;
  /// By its content: whatever it is called. Reads a few bytes.
  bool (*fits)(const std::string& path);
  /// Returns what identity() would have said of what it has read.
  std::string (*read)(const std::string& path, const Emit& emit);
  /// A text that is another one if the source has changed: of sizes and times, not of contents.
  std::string (*identity)(const std::string& path);
  /// Into the current folder, which is empty. Nothing is made outside, whatever the stream says.
  TreeSize (*unpack)(const Fetch& fetch);
  /// What this node lacks to unpack it, and what to do; "" if nothing.
  std::string (*missing)();
};

PluginTable<StageFormat> format_table();

/// The format of a source. UsageError if it is not there, cannot be read, or is of no kind that is known.
const StageFormat& format_of(const std::string& path);

}  // namespace trainrt::program::stage
