// Fills two dense tensors, contracts them over two indices and writes the result for NumPy. Runs on one
// process or under mpirun.

#include <cstdio>

#include "polyad/polyad.hpp"

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const polyad::Context context(polyad::Comm::world());
  auto a = polyad::make_dense(context, {12, 8, 6, 10}), b = polyad::make_dense(context, {9, 8, 7, 10});
  fill(a, [](auto index) { return 1.0 / double(1 + index[0] + index[1] * index[2] + index[3]); });
  fill(b, [](auto index) { return double(index[0] - index[1]) + 0.5 * double(index[2] - index[3]); });
  const auto c = polyad::contract(context, "acik,bcjk->abji", a, b);
  if (context.comm().rank() == 0) std::printf("%s\n", c.report.summary().c_str());
  const auto elements = polyad::gather(context, c.tensor);  // on every process, the last index fastest
  if (context.comm().rank() == 0) std::printf("C[0,0,0,0] = %.6f\n", elements[0]);
  if (argc > 2) polyad::save(context, c.tensor, argv[2]);
}
