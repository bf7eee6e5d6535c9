#include "cli/checkpoints/exporter.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "batch/signals.hpp"

namespace trainrt::cli {

using checkpoint::PieceReader;

ExportSource::ExportSource(const PieceReader& reader, Tensors tensors, Values values, checkpoint::OnProgress progress)
    : reader_(reader), tensors_(std::move(tensors)), values_(std::move(values)), progress_(std::move(progress)) {}

std::string ExportSource::meta_text() const {
  const auto& meta = reader_.manifest().meta;
  nlohmann::ordered_json json = {{"index", meta.number}};
  if (meta.attempt > 0) json.update({{"iteration", meta.iteration}, {"step", meta.step}});  // 0: saved by a CheckpointStore
  json.update({{"ranks", meta.ranks}, {"created", meta.created}, {"metrics", meta.metrics}});
  json["metadata"] = nlohmann::ordered_json::parse(meta.metadata);
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void ExportSource::stream(const Tensors& order, const std::function<void(const TensorPiece&)>& take) const {
  std::uint64_t all = 0;
  for (const auto* tensor : order) all += bytes_of(*tensor);
  std::uint64_t done = 0;
  stream_tensors(reader_, order, [&](const TensorPiece& piece) {
    if (const int signal = batch::stop_signal(); signal != 0)
      throw Error(fmt::format("stopped by {}: nothing was exported", batch::signal_name(signal)));
    take(piece);
    done += piece.bytes.size();
    if (progress_) progress_(done, all);
  });
}

std::string bytes_of(const PieceReader::Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>)
          return v;
        else
          return {reinterpret_cast<const char*>(&v), sizeof v};
      },
      value);
}

const Exporter* find_exporter(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  for (const auto* exporter : exporter_table())
    if (exporter->extension == extension) return exporter;
  return nullptr;
}

void throw_unknown_extension(const std::string& path, const std::string& user_files) {
  const std::filesystem::path file(path);
  constexpr std::array<std::string_view, 3> of_torch = {".pt", ".pth", ".ckpt"};
  if (std::ranges::find(of_torch, file.extension().string()) != of_torch.end() && user_files.empty())
    throw UsageError(fmt::format(
        "cannot write '{}': trainrt cannot write {} files. Write '{}' instead, and load it in PyTorch by "
        "safetensors.torch.load_file()",
        path, file.extension().string(), std::filesystem::path(file).replace_extension(".safetensors").string()));
  std::vector<std::string> known;
  for (const auto* exporter : exporter_table()) known.emplace_back(exporter->extension);
  throw UsageError(fmt::format("unknown extension of the output file '{}'{}; valid extensions are {}{}", path,
                               did_you_mean(std::filesystem::path(path).extension().string(), known), join(known),
                               user_files.empty() ? "" : ", and those of the checkpoint's own files: " + user_files));
}

}  // namespace trainrt::cli
