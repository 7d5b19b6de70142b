// The list of public data sets. Addresses are those that their publishers give; a checksum is stated only for
// files that were at hand when the list was made, as published. Names of files are ours, so that label
// files belong to their tensor by name.

#include <fmt/format.h>

#include "polyad/tasks/get_data.hpp"

namespace polyad {
namespace {

DataSet about(const std::string& name, const std::string& content, const std::string& size,
              const std::string& licence = "not stated") {
  return {.name = name, .content = content, .size = size, .licence = licence};
}

// FROSTT (Smith, Choi, Li, Vuduc, Park, Liu, Karypis: FROSTT, the formidable repository of open sparse
// tensors and tools). `labels` are the names of label files there.
DataSet frostt(DataSet set, const std::string& page, const std::string& tensor,
               const std::vector<std::string>& labels = {}) {
  const std::string root = "https://s3.us-east-2.amazonaws.com/frostt/frostt_data/";
  const auto slash = tensor.rfind('/');
  const auto folder = root + tensor.substr(0, slash + 1), file = tensor.substr(slash + 1);
  set.page = "http://frostt.io/tensors/" + page + "/";
  set.data = file + ".tns.gz";
  set.files = {{root + tensor + ".tns.gz", set.data}};
  for (const auto& label : labels)
    set.files.push_back(
        {fmt::format("{}{}.map.gz", folder, label), fmt::format("{}.{}.map.gz", file, label)});
  return set;
}

DataSet movielens(DataSet set, const std::string& member, const std::string& data) {
  set.licence = "research use, no redistribution";
  set.page = "https://grouplens.org/datasets/movielens/";
  set.files = {{"https://files.grouplens.org/datasets/movielens/" + set.name + ".zip", set.name + ".zip"}};
  set.member = member;
  set.data = data;
  set.has_ratings = true;
  return set;
}

// Last.fm of HetRec 2011 (Cantador, Brusilovsky, Kuflik).
DataSet lastfm(DataSet set, const std::string& member) {
  set.licence = "non-commercial use";
  set.page = "https://grouplens.org/datasets/hetrec-2011/";
  set.files = {{"https://files.grouplens.org/datasets/hetrec2011/hetrec2011-lastfm-2k.zip",
                "hetrec2011-lastfm-2k.zip"}};
  set.member = member;
  set.data = set.name + ".tsv";
  return set;
}

// Stanford Large Network Dataset Collection (Leskovec, Krevl).
DataSet snap(DataSet set, const std::string& page, const std::string& file) {
  set.page = "https://snap.stanford.edu/data/" + page + ".html";
  set.files = {{"https://snap.stanford.edu/data/" + file, file}};
  set.data = file;
  return set;
}

// A file in a repository, at a commit, so that it does not change.
struct Repository {
  std::string name, commit;
};
DataSet github(DataSet set, const Repository& repository, const std::string& path, const std::string& data,
               const std::string& sha256 = "") {
  set.page = "https://github.com/" + repository.name;
  set.files = {{"https://raw.githubusercontent.com/" + repository.name + "/" + repository.commit + "/" + path,
                data, sha256}};
  set.data = data;
  return set;
}

DataSet with_columns(DataSet set, const std::string& columns, const std::string& value) {
  set.columns = columns;
  set.value = value;
  return set;
}

void add_frostt(std::vector<DataSet>& sets) {
  sets.push_back(frostt(
      about("uber", "Uber pickups in New York, April to August 2014: day, hour, latitude, longitude; counts",
            "183 x 24 x 1,140 x 1,717, 3,309,490 nonzeros", "CC0"),
      "uber-pickups", "uber-pickups/uber",
      {"mode-1-dates", "mode-2-hours", "mode-3-latitudes", "mode-4-longitudes"}));
  sets.push_back(frostt(
      about("chicago-crime", "crime reports in Chicago, 2001 to 2017: day, hour, community, type; counts",
            "6,186 x 24 x 77 x 32, 5,330,673 nonzeros", "terms of the City of Chicago"),
      "chicago-crime", "chicago-crime/comm/chicago-crime-comm",
      {"mode-1-date", "mode-2-hour", "mode-3-communityarea", "mode-4-crimetype"}));
  sets.push_back(frostt(about("nips", "papers of NIPS, 1987 to 2003: paper, author, word, year; counts",
                              "2,482 x 2,862 x 14,036 x 17, 3,101,609 nonzeros"),
                        "nips", "nips/nips", {"mode-1-papers", "mode-3-words"}));
  sets.push_back(frostt(
      about("lbnl-network", "network traffic at LBNL: sender, port, receiver, port, second; bytes",
            "1,605 x 4,198 x 1,631 x 4,209 x 868,131, 1,698,825 nonzeros"),
      "lbnl-network", "lbnl-network/lbnl-network",
      {"mode-1-send_ips", "mode-2-send_ports", "mode-3-dest_ips", "mode-4-dest_ports", "mode-5-times"}));
  sets.push_back(
      frostt(about("vast-2015-mc1", "visitors of a theme park (synthetic): second, person, action, x, y; 1",
                   "165,427 x 11,374 x 2 x 100 x 89, 26,021,945 nonzeros"),
             "vast-2015-mc1", "vast-2015-mc1/vast-2015-mc1-5d",
             {"mode-1-times", "mode-2-persons", "mode-3-actions", "mode-4-xlocs", "mode-5-ylocs"}));
  sets.push_back(frostt(about("enron", "e-mails of Enron: sender, receiver, word, day; counts",
                              "6,066 x 5,699 x 244,268 x 1,176, 54,202,099 nonzeros"),
                        "enron", "enron/enron",
                        {"mode-1-senders", "mode-2-receivers", "mode-3-words", "mode-4-dates"}));
  sets.push_back(frostt(about("nell-2", "Never Ending Language Learner, pruned: entity, relation, entity",
                              "12,092 x 9,184 x 28,818, 76,879,419 nonzeros"),
                        "nell-2", "nell/nell-2"));
  sets.push_back(frostt(about("nell-1", "Never Ending Language Learner: entity, relation, entity",
                              "2,902,330 x 2,143,368 x 25,495,389, 143,599,552 nonzeros"),
                        "nell-1", "nell/nell-1"));
  sets.push_back(frostt(about("flickr-3d", "tags of Flickr: user, image, tag; 1",
                              "319,686 x 28,153,045 x 1,607,191, 112,890,310 nonzeros"),
                        "flickr", "flickr/flickr-3d", {"mode-3-tags"}));
  sets.push_back(frostt(about("delicious-3d", "tags of Delicious: user, page, tag; 1",
                              "532,924 x 17,262,471 x 2,480,308, 140,126,181 nonzeros"),
                        "delicious", "delicious/delicious-3d", {"mode-3-tags"}));
  sets.push_back(frostt(about("amazon-reviews", "reviews of Amazon: user, product, word; counts",
                              "4,821,207 x 1,774,269 x 1,805,187, 1,741,809,018 nonzeros"),
                        "amazon-reviews", "amazon/amazon-reviews"));
}

void add_ratings(std::vector<DataSet>& sets) {
  sets.push_back(
      movielens(about("ml-latest-small", "MovieLens, a small recent sample: user, film; half stars up to 5",
                      "610 users, 9,742 films, 100,836 ratings in 2018; changes"),
                "ml-latest-small/ratings.csv", "ml-latest-small.csv"));
  sets.push_back(movielens(
      about("ml-100k", "MovieLens 100K: user, film; 1 to 5 stars", "943 users, 1,682 films, 100,000 ratings"),
      "ml-100k/u.data", "ml-100k.data"));
  sets.push_back(movielens(
      about("ml-1m", "MovieLens 1M: user, film; 1 to 5 stars", "6,040 users, 3,706 films, 1,000,209 ratings"),
      "ml-1m/ratings.dat", "ml-1m.dat"));
  sets.push_back(movielens(about("ml-10m", "MovieLens 10M: user, film; half stars up to 5",
                                 "69,878 users, 10,677 films, 10,000,054 ratings"),
                           "ml-10M100K/ratings.dat", "ml-10m.dat"));
  sets.push_back(movielens(about("ml-25m", "MovieLens 25M: user, film; half stars up to 5",
                                 "162,541 users, 62,423 films, 25,000,095 ratings"),
                           "ml-25m/ratings.csv", "ml-25m.csv"));
  sets.push_back(movielens(about("ml-32m", "MovieLens 32M: user, film; half stars up to 5",
                                 "200,948 users, 87,585 films, 32,000,204 ratings"),
                           "ml-32m/ratings.csv", "ml-32m.csv"));
  sets.push_back(github(about("movietweetings-100k", "ratings of films in tweets: user, film; 0 to 10",
                              "16,554 users, 10,506 films, 100,000 ratings", "MIT"),
                        {"sidooms/MovieTweetings", "44c525d0c766944910686c60697203cda39305d6"},
                        "snapshots/100K/ratings.dat", "movietweetings-100k.dat",
                        "c0dd868c2632d10002ebc928ddc5345f33adeaa59eca52c2941c26a2c5e36fd6"));
  sets.back().has_ratings = true;
  sets.push_back(
      with_columns(github(about("goodbooks-10k", "ratings of popular books: user, book; 1 to 5 stars",
                                "53,424 users, 10,000 books, 5,976,479 ratings", "CC BY-SA 4.0"),
                          {"zygmuntz/goodbooks-10k", "6dd165b555a7b47b2dd36743a425776e641ff50c"},
                          "ratings.csv", "goodbooks-10k.csv"),
                   "user_id,book_id", "rating"));
  sets.back().has_ratings = true;
  sets.push_back(
      github(about("gowalla-lists",
                   "places that users of Gowalla visited, as LightGCN learns from them: user, place; 1",
                   "29,858 users, 40,981 places, 810,128 visits"),
             {"gusye1234/LightGCN-PyTorch", "947ca2b3b1d2d3545b114145710cb06c4e57b3d2"},
             "data/gowalla/train.txt", "gowalla-lists.txt"));
  sets.back().format = "adjacency";
}

void add_tables(std::vector<DataSet>& sets) {
  sets.push_back(with_columns(lastfm(about("lastfm-plays", "Last.fm: user, artist; number of plays",
                                           "1,892 users, 17,632 artists, 92,834 entries"),
                                     "user_artists.dat"),
                              "userID,artistID", "weight"));
  sets.push_back(with_columns(lastfm(about("lastfm-tags", "Last.fm: user, artist, tag, month; counts",
                                           "1,892 users, 17,632 artists, 11,946 tags, 186,479 assignments"),
                                     "user_taggedartists-timestamps.dat"),
                              "userID,artistID,tagID,timestamp:month", "1"));
  sets.push_back(with_columns(
      github(about("uber-2014-04",
                   "Uber pickups in New York, April 2014, the raw table: day, latitude, longitude; counts",
                   "564,516 pickups"),
             {"fivethirtyeight/uber-tlc-foil-response", "63bb878b76f47f69b4527d50af57aac26dead983"},
             "uber-trip-data/uber-raw-data-apr14.csv", "uber-2014-04.csv"),
      "Date/Time:day,Lat,Lon", "1"));
  sets.push_back(
      with_columns(snap(about("college-msg", "private messages of students: sender, receiver, day; counts",
                              "1,899 users, 59,835 messages"),
                        "CollegeMsg", "CollegeMsg.txt.gz"),
                   "1,2,3:day", "1"));
  sets.push_back(with_columns(
      snap(about("mathoverflow", "answers and comments on Math Overflow: user, user, month; counts",
                 "24,818 users, 506,550 entries"),
           "sx-mathoverflow", "sx-mathoverflow.txt.gz"),
      "1,2,3:month", "1"));
  sets.push_back(with_columns(
      snap(about("stackoverflow", "answers and comments on Stack Overflow: user, user, month; counts",
                 "2,601,977 users, 63,497,050 entries"),
           "sx-stackoverflow", "sx-stackoverflow.txt.gz"),
      "1,2,3:month", "1"));
  sets.push_back(
      with_columns(snap(about("bitcoin-otc", "trust among traders of Bitcoin: user, user, month; -10 to 10",
                              "5,881 users, 35,592 ratings"),
                        "soc-sign-bitcoin-otc", "soc-sign-bitcoinotc.csv.gz"),
                   "1,2,4:month", "3"));
  sets.push_back(with_columns(snap(about("epinions-trust", "who trusts whom on Epinions: user, user; 1",
                                         "75,879 users, 508,837 entries"),
                                   "soc-Epinions1", "soc-Epinions1.txt.gz"),
                              "1,2", "1"));
  sets.push_back(with_columns(snap(about("gowalla", "check-ins of Gowalla: user, place, week; counts",
                                         "196,591 users, 6,442,890 check-ins"),
                                   "loc-Gowalla", "loc-gowalla_totalCheckins.txt.gz"),
                              "1,5,2:week", "1"));
}

void add_knowledge_graphs(std::vector<DataSet>& sets) {
  const Repository codex{"tsafavi/codex", "3132e426c2a6b643b70bad679905a3a6270be440"};
  sets.push_back(github(about("codex-s", "CoDEx, small, training part, of Wikidata: head, relation, tail; 1",
                              "2,034 entities, 42 relations, 32,888 triples", "MIT"),
                        codex, "data/triples/codex-s/train.txt", "codex-s.txt",
                        "64f93b7f314f3936a6f65739721429db3f6a7c8f5a1e1104ec3bb544f7434f59"));
  sets.push_back(github(about("codex-m", "CoDEx, medium, training part, of Wikidata: head, relation, tail; 1",
                              "17,050 entities, 51 relations, 185,584 triples", "MIT"),
                        codex, "data/triples/codex-m/train.txt", "codex-m.txt",
                        "d99c3437ab51690391a26d96976adf6e5494dba7ef6902e77000551bfa566556"));
  const Repository villmow{"villmow/datasets_knowledge_embedding",
                           "9e392453d6804d1f51c13e5650ae58ed48b638d5"};
  sets.push_back(github(about("fb15k-237", "FB15k-237, training part, of Freebase: head, relation, tail; 1",
                              "14,541 entities, 237 relations, 272,115 triples", "MIT (of the repository)"),
                        villmow, "FB15k-237/train.txt", "fb15k-237.txt"));
  sets.push_back(github(about("wn18rr", "WN18RR, training part, of WordNet: head, relation, tail; 1",
                              "40,714 entities, 11 relations, 86,835 triples", "MIT (of the repository)"),
                        villmow, "WN18RR/text/train.txt", "wn18rr.txt",
                        "a35aca3c963b71b8efa935c172bf07afe4472655552a0ad8d3b396b4154f1f29"));
  sets.push_back(
      github(about("nations", "relations of countries, training part: relation, country, country; 1",
                   "14 countries, 56 relations, 1,619 triples", "MIT (of the repository)"),
             villmow, "other/nations/train.txt", "nations.txt",
             "b923bd0e8393b7cad275ee567b5570886f9ff12426e0b3e84e2af17523281b47"));
  const Repository renet{"INK-USC/RE-Net", "a0e5f4732c5bb20d939f0f69e34fb9cf156ac1b2"};
  sets.push_back(with_columns(
      github(about("icews18", "ICEWS 2018, training part, events: actor, relation, actor, hour; counts",
                   "23,033 actors, 256 relations, 373,018 events"),
             renet, "data/ICEWS18/train.txt", "icews18.txt"),
      "1,2,3,4", "1"));
  sets.back().separator = " ";
  sets.push_back(with_columns(
      github(about("yago-facts", "YAGO with years, training part: entity, relation, entity, year; 1",
                   "9,736 entities, 10 relations, 178 years, 161,540 facts"),
             renet, "data/YAGO/train.txt", "yago-facts.txt",
             "31f78c30627ffe143940a5dadf06562602944e58f1c766481e894a366561f7ec"),
      "1,2,3,4", "1"));
}

}  // namespace

const std::vector<DataSet>& public_data_sets() {
  static const std::vector<DataSet> sets = [] {
    std::vector<DataSet> list;
    add_frostt(list);
    add_ratings(list);
    add_tables(list);
    add_knowledge_graphs(list);
    return list;
  }();
  return sets;
}

}  // namespace polyad
