#include "polyad/report/html/plan_page.hpp"

namespace polyad::report {

// Curves differ in colour and in dashes, so that they are distinguishable without colour. On a narrow screen
// a row of a wide table becomes a block with the names of its columns.
std::string_view plan_page_style() {
  return R"css(
:root { --s1: #0a5a86; --s2: #c2500a; --s3: #00775a; --s4: #a6427c; --s5: #7a5c00; --s6: #5b5fc7; --s7: #59616b; }
@media (prefers-color-scheme: dark) {
  :root { --s1: #6fb7e6; --s2: #f0945a; --s3: #4fc9a4; --s4: #e69ac4; --s5: #d9b84a; --s6: #a6a9f5; --s7: #a3abb4; }
}
.series-1 polyline { stroke: var(--s1); } circle.series-1 { fill: var(--s1); }
.series-2 polyline { stroke: var(--s2); stroke-dasharray: 7 3; } circle.series-2 { fill: var(--s2); }
.series-3 polyline { stroke: var(--s3); stroke-dasharray: 2 3; } circle.series-3 { fill: var(--s3); }
.series-4 polyline { stroke: var(--s4); stroke-dasharray: 9 3 2 3; } circle.series-4 { fill: var(--s4); }
.series-5 polyline { stroke: var(--s5); stroke-dasharray: 4 2; } circle.series-5 { fill: var(--s5); }
.series-6 polyline { stroke: var(--s6); stroke-dasharray: 12 4; } circle.series-6 { fill: var(--s6); }
.series-7 polyline { stroke: var(--s7); stroke-dasharray: 1 2; } circle.series-7 { fill: var(--s7); }
.sample { display: inline-block; width: 28px; height: 8px; vertical-align: middle; }
.sample polyline { fill: none; stroke-width: 1.5; }
.processes { width: calc(100% - 4.25rem); margin-left: 3.625rem; margin-right: .625rem; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .125rem 1.25rem; font: .875rem/1.5 var(--sans); }
.plots { display: grid; gap: 0 2.5rem; }
.plots > * { min-width: 0; }
@media (min-width: 52rem) { .plots { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.stacked { height: 8px; }
svg .part-2 { fill: var(--s7); }
svg .part-3 { fill: var(--s2); }
.times li { max-width: 44rem; }
@media screen and (max-width: 40rem) { .times li { grid-template-columns: minmax(0, 1fr); } }
.wide { max-width: none; }
.wide th, .wide td { padding-left: .75rem; }
.wide :first-child { padding-left: 0; }
.best th, .best td { font-weight: 600; }
.too-large th, .too-large td { color: var(--soft); }
h3 { margin-top: 1.75rem; margin-bottom: .25rem; }
@media screen and (max-width: 52rem) {
  .wide thead { display: none; }
  .wide, .wide tbody { display: block; }
  .wide tr { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1rem; padding: .5rem 0;
    border-bottom: 1px solid var(--rule); }
  .wide th, .wide td { display: flex; justify-content: space-between; gap: .5rem; border: 0; padding: 0;
    min-width: 0; }
  .wide tbody th { grid-column: 1 / -1; font-weight: 600; }
  .wide td::before { content: attr(data-name); color: var(--soft); font-weight: 400; }
}
@media screen and (max-width: 26rem) { .wide tr { grid-template-columns: 1fr; } }
@media print { .wide { font-size: .75rem; } .plots { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
)css";
}

}  // namespace polyad::report
