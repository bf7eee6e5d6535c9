#include <trainrt/train_function.hpp>

#include "fashion_mnist.hpp"

namespace {

const trainrt::TrainFunction functions[] = {
    {"fashion_mnist", "an MLP on images like FashionMNIST", trainrt::frameworks::fashion_mnist},
};

}  // namespace

extern "C" TRAINRT_API const trainrt::Module trainrt_module;
const trainrt::Module trainrt_module = {trainrt::module_abi, 1, functions};
