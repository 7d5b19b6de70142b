// Decomposes a tensor in a file into eight components and writes the model. Runs on one process or under
// mpirun.

#include <cstdio>

#include "polyad/polyad.hpp"

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const polyad::Context context(polyad::Comm::world());
  auto x = polyad::load(context, argv[1]);
  const auto model = polyad::decompose(context, std::move(x), {.rank = 8, .nonnegative = true});
  const auto table = model.component_table(3);
  if (context.comm().rank() == 0) std::printf("fit %.4f\n\n%s\n", model.fit(), table.c_str());
  if (argc > 2) polyad::save(context, model, argv[2]);
}
