#pragma once

#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/cp_model.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

// For programs whose processes each have all of a tensor or a model, as those in Python do.

// Of a tensor that every process has whole, the share of this process: with those of the others it is the
// tensor that tasks take. Throws Error{bad_input} on all processes, with the number of the first that differs
// from process 0, unless all have the same. Collective.
Tensor own_share(const Context& context, const Tensor& whole);

// Throws Error{bad_input} on all processes unless the shares that they have of a tensor have the same dims
// and labels. Collective.
void check_shares(const Context& context, const Tensor& share);

// All of a model on this process, which needs no other for anything: what is collective of the copy is not.
// Models of single precision become double. Collective over the processes of the model.
CpModel on_every_process(const CpModel& model);
// The same, with the ratings that it was trained on.
CompletionModel on_every_process(const CompletionModel& model);

}  // namespace polyad
