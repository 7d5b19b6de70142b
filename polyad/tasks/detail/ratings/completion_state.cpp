#include "polyad/tasks/detail/ratings/completion_state.hpp"

#include <algorithm>

#include "polyad/base/memory.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/comm/runtime.hpp"
#include "polyad/io/models/rating_model_file.hpp"

namespace polyad {

CompletionModel::State::State(Comm processes, std::vector<ModeLabels> mode_labels)
    : comm(std::move(processes)), labels(std::move(mode_labels)) {
  io::name_rating_modes(labels);
}

const io::IndexSpace& CompletionModel::State::names() {
  if (!names_)
    names_ = std::make_unique<io::IndexSpace>(std::vector{run.num_users, run.num_items}, labels,
                                              io::IndexSpace::Unknown::fault);
  return *names_;
}

void CompletionModel::State::note_memory() {
  run.peak_memory_bytes = comm.all_reduce(polyad::peak_memory_bytes(), Reduce::max);
}

namespace tasks {
namespace {

template <class Real>
FoldParameters fold_parameters(const ListModel<Real>& lists) {
  return {lists.alpha, lists.power};
}

template <class Real>
WholeModel<Real> added_to(WholeModel<Real> whole, Index num_items, const std::vector<RatingsOfItem>& items) {
  auto& training = whole.training;
  add_items(whole.model, num_items, items, whole.ratings, training.shrinkage, FoldParameters{training.alpha});
  if (auto& lists = training.lists)
    add_items(lists->model, num_items, items, whole.ratings, lists->shrinkage, fold_parameters(*lists));
  if (!training.item_squares.empty()) training.item_squares.resize(std::size_t(num_items), Real(0));
  whole.ratings = with_ratings_of(whole.ratings, num_items, items);
  return whole;
}

}  // namespace

template <class Real>
void CompletionState<Real>::gather() {
  if (whole_) return;
  const OneProcessWorks patience;
  trim_memory();  // of training
  whole_ = gather_();
  gather_ = nullptr;
}

template <class Real>
Matrix<double> CompletionState<Real>::factors(RatingSide side) const {
  const auto& rows = side == RatingSide::user ? whole_->model.users : whole_->model.items;
  Matrix<double> result(rows.num_rows(), rows.num_cols());
  std::ranges::copy(rows.flat(), result.flat().begin());
  return result;
}

template <class Real>
std::vector<double> CompletionState<Real>::biases(RatingSide side) const {
  const auto& biases = side == RatingSide::user ? whole_->model.user_biases : whole_->model.item_biases;
  return {biases.begin(), biases.end()};
}

template <class Real>
void CompletionState<Real>::write(const std::filesystem::path& directory) const {
  auto training = whole_->training;
  training.prepared = prepared;
  io::write_rating_model(directory, whole_->model, training, whole_->ratings, labels);
}

template <class Real>
std::vector<report::ExampleUser> CompletionState<Real>::examples() const {
  return report::example_users(whole_->ranks(), whole_->ratings, labels);
}

template <class Real>
CompletionModel::State::AnyRecommender CompletionState<Real>::recommender(Ranks ranks) {
  const bool by_lists = ranks == Ranks::by_lists && whole_->training.lists;
  auto& recommender = recommenders_[by_lists ? 0 : 1];
  const auto& [model, training, ratings, learned] = *whole_;
  if (!recommender && !by_lists && learned)
    recommender = std::make_unique<Recommender<Real>>(model, ratings, *learned);
  if (!recommender)
    recommender = by_lists
                      ? std::make_unique<Recommender<Real>>(training.lists->model, ratings,
                                                            fold_parameters(*training.lists))
                      : std::make_unique<Recommender<Real>>(model, ratings, FoldParameters{training.alpha});
  return recommender.get();
}

template <class Real>
Shrinkage CompletionState<Real>::shrinkage(Ranks ranks) const {
  const auto& training = whole_->training;
  return ranks == Ranks::by_lists && training.lists ? training.lists->shrinkage : training.shrinkage;
}

template <class Real>
std::shared_ptr<CompletionModel::State> CompletionState<Real>::with_items(
    Index num_items, std::vector<std::string> item_labels, const std::vector<RatingsOfItem>& items) {
  auto all_labels = labels;
  all_labels[1].labels = std::move(item_labels);
  auto whole = std::make_shared<WholeModel<Real>>(collectively(
      comm, [&] { return comm.rank() == 0 ? added_to(*whole_, num_items, items) : WholeModel<Real>(); }));
  auto state = std::make_shared<CompletionState<Real>>(comm, std::move(all_labels),
                                                       [whole] { return std::move(*whole); });
  state->input = input;
  state->prepared = prepared;
  state->run = run;
  state->run.num_items = num_items;
  Index num_ratings = run.num_ratings;
  for (const auto& one : items) num_ratings += std::ssize(one.users);
  state->run.num_ratings = comm.broadcast(num_ratings, 0);
  return state;
}

template class CompletionState<float>;
template class CompletionState<double>;

}  // namespace tasks
}  // namespace polyad
