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

template <class Real>
WholeModel<Real> updated_by(WholeModel<Real> whole, Index num_users,
                            const std::vector<RatingsOfUser>& users) {
  auto& training = whole.training;
  update_users(whole.model, num_users, users, whole.ratings, training.shrinkage,
               FoldParameters{training.alpha});
  if (auto& lists = training.lists)
    update_users(lists->model, num_users, users, whole.ratings, lists->shrinkage, fold_parameters(*lists));
  if (!training.user_squares.empty()) training.user_squares.resize(std::size_t(num_users), Real(0));
  whole.ratings = with_ratings_of(whole.ratings, num_users, users);
  return whole;
}

// From process 0 to the others; likewise below. Collective.
template <class Real>
void share_matrix(const Comm& comm, Matrix<Real>& matrix) {
  const Index num_rows = comm.broadcast(matrix.num_rows(), 0);
  const Index num_cols = comm.broadcast(matrix.num_cols(), 0);
  collectively(comm, [&] {
    if (comm.rank() != 0) matrix = Matrix<Real>(num_rows, num_cols);
  });
  comm.broadcast(std::span<Real>(matrix.flat()), 0);
}

template <class Real>
void share_rows(const Comm& comm, RatingModel<Real>& model) {
  model.mean = comm.broadcast(model.mean, 0);
  model.neighbours = comm.broadcast(model.neighbours, 0);
  model.confidence = comm.broadcast(model.confidence, 0);
  share_matrix(comm, model.users);
  share_matrix(comm, model.items);
  comm.broadcast(model.user_biases, 0);
  comm.broadcast(model.item_biases, 0);
}

template <class Real>
void share_training(const Comm& comm, RatingTraining<Real>& training) {
  training.epochs = comm.broadcast(training.epochs, 0);
  training.step = comm.broadcast(training.step, 0);
  training.shrinkage = comm.broadcast(training.shrinkage, 0);
  comm.broadcast(training.user_squares, 0);
  comm.broadcast(training.item_squares, 0);
  training.range = comm.broadcast(training.range, 0);
  training.alpha = comm.broadcast(training.alpha, 0);
  if (!comm.broadcast(training.lists.has_value(), 0)) return;
  if (!training.lists) training.lists.emplace();
  auto& [model, shrinkage, alpha, power] = *training.lists;
  share_rows(comm, model);
  shrinkage = comm.broadcast(shrinkage, 0);
  alpha = comm.broadcast(alpha, 0);
  power = comm.broadcast(power, 0);
}

SparseTensor<double> shared_ratings(const Comm& comm, const SparseTensor<double>& ratings) {
  std::vector<Index> extents = ratings.extents();
  comm.broadcast(extents, 0);
  std::vector<Array<Index>> indices;
  for (int m = 0; m < int(extents.size()); ++m) {
    auto& of_mode = indices.emplace_back();
    if (comm.rank() == 0) of_mode.assign(ratings.indices(m).begin(), ratings.indices(m).end());
    comm.broadcast(of_mode, 0);
  }
  Array<double> values;
  if (comm.rank() == 0) values.assign(ratings.values().begin(), ratings.values().end());
  comm.broadcast(values, 0);
  return {std::move(extents), std::move(indices), std::move(values)};
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
template <class Change>
std::shared_ptr<CompletionState<Real>> CompletionState<Real>::changed(std::vector<ModeLabels> all_labels,
                                                                      Change change) const {
  auto whole = std::make_shared<WholeModel<Real>>(
      collectively(comm, [&] { return comm.rank() == 0 ? change(*whole_) : WholeModel<Real>(); }));
  auto state = std::make_shared<CompletionState<Real>>(comm, std::move(all_labels),
                                                       [whole] { return std::move(*whole); });
  state->input = input;
  state->prepared = prepared;
  state->run = run;
  state->run.num_ratings = comm.broadcast(whole->ratings.num_nonzeros(), 0);
  return state;
}

template <class Real>
std::shared_ptr<CompletionModel::State> CompletionState<Real>::with_items(
    Index num_items, std::vector<std::string> item_labels, const std::vector<RatingsOfItem>& items) {
  auto all_labels = labels;
  all_labels[1].labels = std::move(item_labels);
  auto state = changed(std::move(all_labels),
                       [&](const WholeModel<Real>& whole) { return added_to(whole, num_items, items); });
  state->run.num_items = num_items;
  return state;
}

template <class Real>
std::shared_ptr<CompletionModel::State> CompletionState<Real>::with_users(
    Index num_users, std::vector<std::string> user_labels, const std::vector<RatingsOfUser>& users) {
  auto all_labels = labels;
  all_labels[0].labels = std::move(user_labels);
  auto state = changed(std::move(all_labels),
                       [&](const WholeModel<Real>& whole) { return updated_by(whole, num_users, users); });
  state->run.num_users = num_users;
  return state;
}

template <class Real>
std::shared_ptr<CompletionModel::State> CompletionState<Real>::on_every_process() {
  gather();
  const auto whole = std::make_shared<WholeModel<Real>>(comm.rank() == 0 ? *whole_ : WholeModel<Real>());
  share_rows(comm, whole->model);
  share_training(comm, whole->training);
  whole->ratings = shared_ratings(comm, whole->ratings);
  auto state =
      std::make_shared<CompletionState<Real>>(Comm::self(), labels, [whole] { return std::move(*whole); });
  state->input = input;
  state->settings = settings;
  state->is_trained = is_trained;
  state->run = run;
  state->prepared = prepared;
  return state;
}

template class CompletionState<float>;
template class CompletionState<double>;

}  // namespace tasks
}  // namespace polyad
