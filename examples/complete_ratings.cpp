// Learns from ratings which films people like, and recommends films to one of them and to a new person. The
// argument is a csv with the columns person, film and stars, as examples/ratings.csv. Runs on one process or
// under mpirun.

#include <cstdio>

#include "polyad/polyad.hpp"

namespace {

void show(const polyad::RecommendationList& list) {
  for (const auto& item : list.items) std::printf("  %s: %.1f\n", item.label.c_str(), item.score);
}

}  // namespace

int main(int argc, char** argv) {
  const polyad::Runtime runtime(argc, argv);
  const polyad::Context context(polyad::Comm::world());
  auto ratings = polyad::load(context, argv[1], {.columns = "person,film,stars"});
  polyad::CompleteOptions options{.factors = 2, .max_epochs = 200, .learning_rate = 0.2, .shrinkage = 0.2};
  options.test = {.kind = polyad::TestRatings::Kind::leave_one_out};
  options.patience = 20;
  const auto model = polyad::complete(context, std::move(ratings), options);

  const auto for_ada = polyad::recommend(context, model, {.user_names = {"Ada"}, .top = 3});
  const polyad::UserRatings liked{.items = {1, 3}, .ratings = {5, 5}};  // the second film and the fourth
  const auto for_new = polyad::recommend(context, model, {.new_user = liked, .top = 3});
  if (context.comm().rank() == 0) {
    std::printf("RMSE on test ratings %.2f (epoch %d)\nfor Ada:\n", model.test_errors()->rmse,
                model.best_epoch());
    show(for_ada.lists()[0]);
    std::printf("for somebody who likes %s and %s:\n", model.labels()[1].labels[1].c_str(),
                model.labels()[1].labels[3].c_str());
    show(for_new.lists()[0]);
  }
  if (argc > 2) polyad::save(context, model, argv[2]);
  return model.test_errors()->rmse < 0.7 ? 0 : 1;
}
