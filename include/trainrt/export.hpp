#pragma once
// Marks what the trainrt program exports to train functions in loadable modules. Everything else stays hidden.
#define TRAINRT_API __attribute__((visibility("default")))
