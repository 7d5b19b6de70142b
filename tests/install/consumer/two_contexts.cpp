// Two decompositions at once, in two threads of a program without MPI, give what they give one after the
// other.

#include <cstdio>
#include <polyad/polyad.hpp>
#include <thread>

namespace {

double fit_with(const char* path, polyad::Index rank) {
  const auto context = polyad::Context::serial({.threads = 2});
  return polyad::decompose(context, polyad::load(context, path),
                           {.rank = rank, .max_iterations = 10, .tolerance = 0})
      .fit();
}

}  // namespace

int main(int, char** argv) {
  const double first = fit_with(argv[1], 4), second = fit_with(argv[1], 6);
  double first_again = 0, second_again = 0;
  std::thread one([&] { first_again = fit_with(argv[1], 4); });
  std::thread other([&] { second_again = fit_with(argv[1], 6); });
  one.join();
  other.join();
  if (first != first_again || second != second_again) return 1;
  std::printf("%.12f\n", first);
}
