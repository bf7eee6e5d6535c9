#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

namespace {

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw Error(fmt::format("cannot read '{}', the model of the checkpoint", path));
  return std::move(text).str();
}

}  // namespace

void predict(Context& ctx, Predictions& predictions, const Library& library) {
  const auto& checkpoint = predictions.checkpoint();
  std::string layout_text;
  std::int32_t best_round = -1;
  State state;
  state.value("layout", layout_text);
  state.value("best_round", best_round);
  ctx.load(state, checkpoint.path);
  const auto layout = TableLayout::from_json(layout_text);
  const auto data = predictions.dataset();
  require_fields(layout, data, predictions.dataset_name(), false);
  const auto model = library.load(
      ctx, layout, text_of_file(fmt::format("{}/files/{}", checkpoint.path, library.model_file)), best_round + 1);
  const auto outputs = static_cast<std::int64_t>(model->outputs());
  predictions.begin({{"prediction", DType::f64, outputs > 1 ? Shape{outputs} : Shape{}}});
  TableRows rows(ctx, data, predictions.dataset_name(), layout, false);
  std::vector<double> values;
  while (const auto* const block = rows.next()) {
    model->predict(*block, values);
    const auto count = static_cast<std::int64_t>(block->rows);
    predictions.add(rows.batch(), {{values.data(), DType::f64, outputs > 1 ? Shape{count, outputs} : Shape{count}}});
  }
}

}  // namespace trainrt::frameworks::trees
