#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/plugin.hpp"
#include "program/staging/chunk_queue.hpp"

namespace trainrt::program::stage {

/// Content of a tree.
struct TreeSize {
  std::int64_t files = 0;     ///< number of files and links, without folders
  std::int64_t bytes = 0;     ///< size of the files
  std::int64_t left_out = 0;  ///< number of devices, pipes and sockets, which are not staged
};

using Emit = std::function<void(std::span<const char> bytes)>;  ///< throws Cancelled if the transfer was cancelled
using Fetch = std::function<std::span<const char>()>;  ///< returns bytes, valid until the next call; empty at the end

/// A plug-in: one file in program/staging/formats. Converts a source into a byte stream on one rank, and the stream into a
/// tree on each node. Both functions run in threads with a current folder of their own, and throw an Error that names the
/// file that could not be read or written.
struct StageFormat {
  std::string_view name;
  std::string_view help;
  /// Returns whether the source has this format, judged by a few bytes of its content and not by its name.
  bool (*fits)(const std::string& path);
  /// Emits the source, and returns the identity() of the content that was read.
  std::string (*read)(const std::string& path, const Emit& emit);
  /// Returns a text that changes when the source changes. It is made of sizes and times, not of contents.
  std::string (*identity)(const std::string& path);
  /// Unpacks the stream into the current folder, which is empty. Must not create files outside of it for any stream.
  TreeSize (*unpack)(const Fetch& fetch);
  /// Returns the reason why this node cannot unpack the format, and a remedy; "" if it can.
  std::string (*missing)();
};

PluginTable<StageFormat> format_table();

/// Returns the format of a source. Throws UsageError if the source does not exist, cannot be read, or has an unknown
/// format.
const StageFormat& format_of(const std::string& path);

}  // namespace trainrt::program::stage
