// Decomposes the tensor in a file and prints the fit, on one process or under mpirun.

#include <cstdio>
#include <polyad/polyad.hpp>

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const polyad::Context context(polyad::Comm::world());
  const auto model = polyad::decompose(context, polyad::load(context, argv[1]),
                                       {.rank = 4, .max_iterations = 10, .tolerance = 0});
  const auto factor = model.factor(1);  // whole, on every process
  if (factor.num_rows() != model.dims()[1] || factor.num_cols() != 4) return 1;
  if (context.comm().rank() == 0) std::printf("%.12f\n", model.fit());
}
