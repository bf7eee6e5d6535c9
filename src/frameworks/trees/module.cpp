#include <trainrt/train_function.hpp>

#include "frameworks/trees/booster.hpp"

namespace trainrt::frameworks::trees {

extern const Library xgboost;
extern const Library lightgbm;

namespace {

const TrainFunction functions[] = {
    {.name = "xgboost",
     .help = "boosted trees by XGBoost",
     .train = [](Context& ctx) { train(ctx, xgboost); },
     .predict = [](Context& ctx, Predictions& predictions) { predict(ctx, predictions, xgboost); },
     .check = [](Context& ctx) { check(ctx, xgboost); }},
    {.name = "lightgbm",
     .help = "boosted trees by LightGBM",
     .train = [](Context& ctx) { train(ctx, lightgbm); },
     .predict = [](Context& ctx, Predictions& predictions) { predict(ctx, predictions, lightgbm); },
     .check = [](Context& ctx) { check(ctx, lightgbm); }},
};

}  // namespace

}  // namespace trainrt::frameworks::trees

extern "C" TRAINRT_API const trainrt::Module trainrt_module;
const trainrt::Module trainrt_module = {trainrt::module_abi,
                                        static_cast<int>(std::size(trainrt::frameworks::trees::functions)),
                                        trainrt::frameworks::trees::functions};
