#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "polyad/algo/ratings/completion_progress.hpp"
#include "polyad/algo/ratings/step_schedule.hpp"
#include "polyad/tasks/checkpoint.hpp"
#include "polyad/tasks/completion_model.hpp"
#include "polyad/tasks/context.hpp"
#include "polyad/tasks/device.hpp"
#include "polyad/tasks/load.hpp"
#include "polyad/tasks/precision.hpp"
#include "polyad/tasks/tensor.hpp"

namespace polyad {

// Ratings that the model does not learn from, so that its predictions can be tested on them. By default there
// are none.
struct TestRatings {
  enum class Kind {
    none,
    fraction,       // a random share of the ratings: `fraction`
    leave_one_out,  // one random rating of every user that has at least two
    file,           // the ratings in `file`
    tensor          // the ratings in `tensor`
  };
  Kind kind = Kind::none;
  double fraction = 0.1;  // between 0 and 1
  // Users and items are found by label, or by number where the training ratings have no labels. Ratings of
  // others are left out, with a warning.
  std::filesystem::path file = {};
  // How to read the file; `dims` and `labels` are those of the ratings. Of several ratings of an item by a
  // user the last counts unless `duplicates` says otherwise.
  LoadOptions file_options = {};
  // With the dims and indices of the ratings. On several processes each passes a share, which may be empty.
  SparseTensor<double> tensor = {};
};

// Which rows are distributed over the processes, with their ratings. Rows of the other kind are communicated.
enum class DistributedSide {
  automatic,  // the one that is predicted to take less time per epoch
  users,
  items
};

// Which process gets which users or items.
enum class RatingPartition {
  random,      // balanced by ratings, as PartitionMethod::random is
  block,       // contiguous
  hypergraph,  // by a partition of the ratings' hypergraph, which is cached
  file         // read from CompleteOptions::partition_file: a part for each user, or for each item
};
std::string to_string(RatingPartition partition);

// The largest number of processes that fewer can act for.
inline constexpr int max_virtual_processes = 65535;

// How a model of ratings is trained.
enum class CompletionMethod {
  sgd,  // stochastic gradient descent
  als   // alternating least squares: a linear system for every user, then for every item
};
std::string to_string(CompletionMethod method);

// How alternating least squares improve the factors of a user or an item.
enum class RowSolver {
  automatic,  // cg from cg_from_factors factors on, unless a GPU is asked for; else cholesky
  cholesky,   // exactly, by a factorisation of the system: time grows as the square and cube of the factors
  cg          // by steps of conjugate gradients from the present factors: time grows as the factors
};
std::string to_string(RowSolver solver);

// The largest number of factors.
inline constexpr Index max_factors = 100000;

struct CompleteOptions {
  Index factors = 16;  // number of factors per user and item, from 1 to max_factors
  CompletionMethod method = CompletionMethod::sgd;
  // Learn which items users prefer, not how they would rate them: every cell counts, and a rating says how
  // sure it is that the user wants the item, or, where it is not positive, does not (Hu, Koren and Volinsky
  // 2008). By alternating least squares; without biases.
  bool implicit = false;
  // By which model items are ranked, in recommend() and in `ranking`. Not with `implicit`, which is for
  // lists.
  ListsBy lists = ListsBy::automatic;
  // With `implicit`: a rating of value x counts 1 + alpha * |x| / (the mean of |x|) times, another cell once.
  // In a model for lists beside that of ratings the same with the cubes of ratings.
  double alpha = 3;
  RowSolver solver = RowSolver::automatic;  // with alternating least squares
  // Steps of RowSolver::cg per sweep, at least 1; nothing: 3. Requires RowSolver::cg.
  std::optional<int> cg_steps = {};
  // In the same models: the score of an item is what the factors say + popularity * (the share of the users
  // that have rated it positively). Nothing: chosen, with the regularisation of these models, by lists on a
  // tenth of the training ratings where there are at least 20,000 and, with `implicit`, no regularisation and
  // shrinkage are named; else 0.25.
  std::optional<double> popularity = {};
  // In the same models: what is added to the score of an item, times its similarity to the items that the
  // user chose, by who chose both (kernels::ItemNeighbours). Nothing: chosen with `popularity`, else 0.
  std::optional<double> neighbours = {};
  int max_epochs = 50;  // an epoch learns from every rating once
  // How the learning rate changes from epoch to epoch, or from row to row.
  StepSchedule::Kind schedule = StepSchedule::Kind::adagrad;
  // The first learning rate, for ratings of standard deviation 1; nothing: 0.05 for adagrad, 0.03 for others.
  std::optional<double> learning_rate = {};
  // The rate of epoch e, counted from 0, is learning_rate / (1 + decay * e); nothing: 0.1. Requires
  // StepSchedule::Kind::inverse.
  std::optional<double> decay = {};
  // L2, of factors, per rating, for ratings of standard deviation 1; nothing: 0.05, with `implicit` 0.2
  // or chosen as `popularity` is.
  std::optional<double> regularisation = {};
  // Shrinks users and items with few ratings towards the mean, as this number of ratings at the mean would;
  // nothing: 2, with `implicit` 20.
  std::optional<double> shrinkage = {};
  // Steps as published: the regularisation acts where they begin, and may be too strong for large steps.
  // Default: it acts where they end.
  bool explicit_update = false;
  bool no_bias = false;  // factors only: no mean, and no biases of users and items
  TestRatings test = {};
  // Ratings that choose the epoch, apart from the test ratings, and are not learned from either; `fraction`
  // is of the ratings that the test leaves. By default there are none, and the test ratings choose it, which
  // makes the test error a little too low.
  TestRatings validate = {};
  // With test or validation ratings: stop after this number of epochs in which their error did not fall by
  // 0.01 %, and keep the epoch with the lowest. 0: train all epochs and keep the last. Not with `implicit`,
  // which has no errors.
  int patience = 3;
  // With test ratings: measure the quality of this number of recommendations per user; 0: do not.
  Index ranking = 10;
  // Test ratings of at least this are relevant for `ranking`; nothing: the mean of the training ratings,
  // which all are at least where they are equal.
  std::optional<double> relevant = {};
  std::uint64_t seed = 1;  // of the start, of the choice of test ratings and of RatingPartition::random
  Precision precision = Precision::float32;  // of factors and biases
  // That computes the epochs of alternating least squares. A GPU does so with RowSolver::cholesky. By
  // default, a model for lists beside one of gradient descent may be trained on a GPU, too.
  Device device = {};
  // Number of sub-epochs per epoch, after each of which the processes synchronise, from 1 to the number of
  // processes, or of virtual ones; or one of the two below.
  int sync = sync_auto;
  // Train as this number of processes would, on fewer, and with the same result: each process does the work
  // of several by turns. From the number of processes to max_virtual_processes; 0: as many as there are.
  int virtual_processes = 0;
  // Random owners of shared rows, as published: any of the processes that update a row at the same time
  // averages it. Default: the one that receives the least.
  bool random_owners = false;
  DistributedSide by = DistributedSide::automatic;
  RatingPartition partition = RatingPartition::random;
  std::filesystem::path partition_file = {};  // of users, unless `by` is items
  std::filesystem::path cache = {};           // folder of cached partitions; empty: the user's cache folder
  // Directory of a model to continue from, by gradient descent; a model for lists is trained anew. Empty: a
  // random start.
  std::filesystem::path resume = {};
  Index max_memory_bytes = 0;  // per process; 0: no limit
  // Whether the model will be saved, or reported: then what that takes counts for max_memory_bytes.
  bool will_save = false, will_report = false;
  // Where the state of the training is kept, and when it is saved: nothing for none. With it, training goes
  // on where an earlier call with the same ratings and options was, whatever ended it.
  std::optional<CheckpointOptions> checkpoint = {};
  // Stop before this time is over, from the beginning of reading the ratings; 0: no limit.
  double max_seconds = 0;
  // Called after each epoch on every process; training stops when it returns false on any.
  CompletionObserver observer = {};

  static constexpr Index cg_from_factors = 64;
  static constexpr int sync_auto = 0;  // chosen by predicted time to a given error
  static constexpr int sync_max = -1;  // as many as it takes for no row to be stale
};

// Throws Error{bad_option} for options that make no sense whatever the ratings.
void validate(const CompleteOptions& options);

// Reads ratings as `load` does, except that of several ratings of an item by a user the last counts unless
// options.duplicates says otherwise; the options transform and min_count see one rating of each. Collective.
Tensor load_ratings(const Context& context, const TensorFiles& files, LoadOptions options = {});

// Learns a model of ratings, for recommending items to users and for predicting ratings, by stochastic
// gradient descent or alternating least squares. The first mode of the tensor are users, the second items; a
// place without a rating is unknown, and a rating of 0 is one. Of several ratings of an item by a user the
// last counts. The result depends on the ratings, the options and, with gradient descent, the number of
// processes or virtual ones, not on that of threads. Move the tensor in if it is not needed afterwards.
// Throws Error{bad_input} for a tensor that has not two modes, Error{resource} when training or testing is
// predicted to need more than max_memory_bytes. Collective.
CompletionModel complete(const Context& context, Tensor ratings, const CompleteOptions& options = {});

// Throws Error{interrupted} for a model whose training a signal or the time limit has ended.
void require_finished(const CompletionModel& model);

// One line on an epoch for people: its errors and its time.
std::string to_text(const EpochRecord& record);

}  // namespace polyad
