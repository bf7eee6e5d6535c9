#include <trainrt/train_function.hpp>

#include "fashion_mnist.hpp"
#include "gpt.hpp"
#include "resnet18.hpp"
#include "torchscript.hpp"

namespace {

const trainrt::TrainFunction functions[] = {
    {"fashion_mnist", "an MLP on images like FashionMNIST", trainrt::frameworks::fashion_mnist},
    {"resnet18", "a ResNet-18 on images like FashionMNIST", trainrt::frameworks::resnet18},
    {"gpt", "a GPT-2 on windows of tokens", trainrt::frameworks::gpt},
    {"torchscript", "a model that TorchScript exported from Python", trainrt::frameworks::torchscript},
};

}  // namespace

extern "C" TRAINRT_API const trainrt::Module trainrt_module;
const trainrt::Module trainrt_module = {trainrt::module_abi, 4, functions};
