#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/piece_reader.hpp"
#include "checkpoint/load/read_blocks.hpp"
#include "cli/checkpoints/tensor_stream.hpp"
#include "cli/files/atomic_file.hpp"
#include "core/plugin.hpp"

namespace trainrt::cli {

/// The tensors and values of a checkpoint that are exported. `reader` must outlive the object.
class ExportSource {
 public:
  using Values = std::vector<const checkpoint::PieceReader::NamedValue*>;

  /// `tensors` and `values` are the entries to export. `progress` is called while their bytes are read.
  ExportSource(const checkpoint::PieceReader& reader, Tensors tensors, Values values, checkpoint::OnProgress progress);

  const Tensors& tensors() const { return tensors_; }  ///< in the order of their names
  const Values& values() const { return values_; }     ///< in the order of their names
  const checkpoint::Meta& meta() const { return reader_.manifest().meta; }
  /// Returns the meta data of the checkpoint as a JSON text: {"index": 12, "iteration": 3, ...}.
  std::string meta_text() const;

  /// Reads the tensors in the given order, and passes their pieces to `take`; see stream_tensors(). All of them must belong
  /// to this source. Throws Error if a stop signal arrives.
  void stream(const Tensors& order, const std::function<void(const TensorPiece&)>& take) const;
  void stream(const std::function<void(const TensorPiece&)>& take) const { stream(tensors_, take); }

 private:
  const checkpoint::PieceReader& reader_;
  Tensors tensors_;
  Values values_;
  checkpoint::OnProgress progress_;
};

/// Returns the bytes of a number (little-endian) or of a string.
std::string bytes_of(const checkpoint::PieceReader::Value& value);

/// A plug-in that writes a checkpoint as one file for other programs (`trainrt export`). Each plug-in is one file in
/// cli/exporters.
struct Exporter {
  std::string_view name;       ///< "npz"
  std::string_view extension;  ///< extension of the files in this format: ".npz"
  std::string_view help;
  /// Writes the complete file, but does not call commit(). Returns notes for the user about differences between the
  /// file and the checkpoint.
  std::vector<std::string> (*write)(const ExportSource& source, AtomicFile& file);
};

PluginTable<Exporter> exporter_table();

/// Returns the exporter for the extension of `path`; nullptr for an unknown extension.
const Exporter* find_exporter(const std::string& path);
/// Throws UsageError for an extension without exporter. The message lists the valid extensions and `user_files`: the
/// names of the train function's own files in the checkpoint, which can be exported, too ("" if there are none).
[[noreturn]] void throw_unknown_extension(const std::string& path, const std::string& user_files);

}  // namespace trainrt::cli
