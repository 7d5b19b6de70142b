// Stops a decomposition from outside: here as soon as the fit has reached 90 % of what the first run reached.
// Shows the progress of the iterations and the messages of the library.

#include <cstdio>

#include "polyad/polyad.hpp"

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  polyad::ContextOptions options;
  options.on_message = [](const polyad::Message& message) {
    std::fprintf(stderr, "%s\n", message.text.c_str());
  };
  const polyad::Context context(polyad::Comm::world(), options);
  const auto x = polyad::load(context, argv[1]);

  const auto whole = polyad::decompose(context, x, {.rank = 4, .max_iterations = 30});
  polyad::DecomposeOptions brief{.rank = 4, .max_iterations = 30};
  brief.observer = [&](const polyad::CpProgress& progress) { return progress.fit < 0.9 * whole.fit(); };
  const auto stopped = polyad::decompose(context, x, brief);

  if (context.comm().rank() == 0)
    std::printf("%zu iterations: fit %.4f; stopped after %zu: %.4f\n", whole.fits().size(), whole.fit(),
                stopped.fits().size(), stopped.fit());
  const bool is_as_expected =
      stopped.stop_reason() == polyad::StopReason::observer && stopped.fits().size() < whole.fits().size();
  return is_as_expected ? 0 : 1;
}
