#pragma once
// Everything that a train function needs.
#include <trainrt/communicator.hpp>
#include <trainrt/context.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/error.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/random.hpp>
#include <trainrt/state.hpp>
#include <trainrt/tensor.hpp>
#include <trainrt/train_function.hpp>
