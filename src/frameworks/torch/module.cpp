#include <trainrt/train_function.hpp>

#include "fashion_mnist.hpp"
#include "gpt.hpp"
#include "resnet18.hpp"
#include "torchscript.hpp"

namespace {

const trainrt::TrainFunction functions[] = {
    {.name = "fashion_mnist",
     .help = "an MLP on images like FashionMNIST",
     .train = trainrt::frameworks::fashion_mnist,
     .predict = trainrt::frameworks::predict_fashion_mnist,
     .check = trainrt::frameworks::check_fashion_mnist},
    {.name = "resnet18",
     .help = "a ResNet-18 on images like FashionMNIST",
     .train = trainrt::frameworks::resnet18,
     .predict = trainrt::frameworks::predict_resnet18,
     .check = trainrt::frameworks::check_resnet18},
    {.name = "gpt",
     .help = "a GPT-2 on windows of tokens",
     .train = trainrt::frameworks::gpt,
     .predict = trainrt::frameworks::predict_gpt,
     .check = trainrt::frameworks::check_gpt},
    {.name = "torchscript",
     .help = "a model that TorchScript exported from Python",
     .train = trainrt::frameworks::torchscript,
     .predict = trainrt::frameworks::predict_torchscript,
     .check = trainrt::frameworks::check_torchscript},
};

}  // namespace

extern "C" TRAINRT_API const trainrt::Module trainrt_module;
const trainrt::Module trainrt_module = {trainrt::module_abi, 4, functions};
