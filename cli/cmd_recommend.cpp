#include <memory>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/option_text.hpp"
#include "polyad/base/error.hpp"
#include "polyad/comm/collective.hpp"
#include "polyad/polyad.hpp"

namespace polyad::cli {
namespace {

struct RecommendArgs {
  CommonOptions common;
  std::string model, ratings, new_users, new_items, lists = "auto", candidates, exclude, known, out;
  std::vector<std::string> at;
  RecommendOptions recommend;
};

ModePlace parse_place(const std::string& text) {
  const auto sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
    throw Error(Errc::bad_option, "--at " + text + ": expected a mode and a place, as in hour=9");
  return {text.substr(0, sign), text.substr(sign + 1)};
}

RecommendOptions parse(const RecommendArgs& args) {
  auto options = args.recommend;
  options.new_user_file = args.ratings;
  options.new_users_file = args.new_users;
  options.new_items_file = args.new_items;
  options.candidates_file = args.candidates;
  options.exclude_file = args.exclude;
  options.known_file = args.known;
  for (const auto& text : args.at) options.at.push_back(parse_place(text));
  options.out = args.out;
  options.lists = parse_lists(args.lists);
  validate(options);
  if (options.all_users && args.out.empty())
    throw Error(Errc::bad_option, "--all requires --out FILE, for the table");
  return options;
}

FilePlan file_plan(const RecommendArgs& args) {
  FilePlan plan;
  plan.reads("the model", args.model)
      .reads("the ratings", args.ratings)
      .reads("the new users", args.new_users)
      .reads("the new items", args.new_items);
  plan.reads("the candidates", args.candidates).reads("the items to exclude", args.exclude);
  plan.reads("what users have", args.known);
  return plan.writes("--out", args.out);
}

void run(const Comm& comm, const RecommendArgs& args) {
  require_one_process(comm, "recommend");
  const auto options = parse(args);
  Console console(comm, args.common, collectively(comm, [&] { return file_plan(args); }));
  const auto& context = console.context();
  const auto found = recommend(context, std::filesystem::path(args.model), options);
  console.say(found.summary());
  if (!args.out.empty()) console.say("wrote recommendations to " + args.out);
  console.result(found.json());
}

}  // namespace

void add_recommend(CLI::App& app, const Comm& comm) {
  auto args = std::make_shared<RecommendArgs>();
  auto& options = args->recommend;
  auto* command =
      app.add_subcommand("recommend", "Recommend items to users, by a model of ratings or a CP model");
  command->add_option("model", args->model, "The model that complete --out or cpd --out wrote")->required();
  command
      ->add_option("--user", options.user_names,
                   "Recommend to this user: a label, or a number from 1; may be repeated")
      ->allow_extra_args(false);
  command->add_flag("--all", options.all_users,
                    "Recommend to every user that has ratings, into the table that --out names");
  command->add_option("--ratings", args->ratings,
                      "Recommend to a new user with the ratings in this file: an item and a rating per line");
  command->add_option(
      "--new-users", args->new_users,
      "Recommend to new users with the ratings in this file: a user, an item and a rating per "
      "line");
  add_new_items_option(*command, args->new_items);
  command
      ->add_option("--similar-items", options.similar_item_names,
                   "Find the items most similar to this one, by the cosine of their factors; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--similar-users", options.similar_user_names,
                   "Find the users most similar to this one in the same way; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--support", options.support,
                   "Similar items and users: multiply the cosine of one with n ratings by n / (n + support)")
      ->capture_default_str()
      ->check(fault_of_real)
      ->check(from_zero());
  add_lists_option(
      *command, args->lists,
      "Rank and compare items by the model for lists (ranking), or by that of ratings; auto: by the "
      "former if the model has it");
  command->add_option("--candidates", args->candidates,
                      "Recommend only items in this file, which has one per line");
  command->add_option("--exclude", args->exclude, "Do not recommend the items in this file");
  command->add_option("--top", options.top, "Maximum number of items in each list")
      ->capture_default_str()
      ->check(in_range(1, 1000000));
  command->add_flag("--with-rated", options.with_rated, "Also recommend items that the user has rated");
  command->add_option("--out", args->out,
                      "Write the recommendations to this table: .tsv or .csv, or .tsv.gz or .csv.gz");
  command->option_defaults()->group("Models of cpd");
  command
      ->add_option("--at", args->at,
                   "Recommend at this place of another mode, as in hour=9; may be repeated, for other modes. "
                   "A mode that is not named is averaged over")
      ->allow_extra_args(false);
  command->add_option("--user-mode", options.user_mode,
                      "The mode of the users, by name or number (default: the first)");
  command->add_option("--item-mode", options.item_mode,
                      "The mode of the items, by name or number (default: the second)");
  command->add_option("--known", args->known,
                      "Leave out what users have by this file: the tensor of the model, or a table of users "
                      "and items");
  command->add_option("--columns", options.columns,
                      "The columns of users and items in the table of --known, as in user,item (default: "
                      "those with the names of the modes)");
  add_common_options(*command, args->common);
  command->footer("Example: polyad recommend model --user 7 --top 5");
  command->callback([args, comm] { run(comm, *args); });
}

}  // namespace polyad::cli
