#include "polyad/report/html/component_cards.hpp"

namespace polyad::report {

// One accent colour; text in serifs, numbers and labels without. Nothing is fixed in width.
std::string_view cpd_page_style() {
  return R"css(
:root {
  --paper: #fff; --ink: #1c1f23; --soft: #59616b; --rule: #dcdfe3; --accent: #0a5a86;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, "Liberation Serif", serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #15181b; --ink: #e4e6e8; --soft: #a3abb4; --rule: #343a41; --accent: #6fb7e6; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.5 var(--serif); }
main, footer { max-width: 62rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
h1, h2, h3, h4, p, dl, ol, ul, figure, table { margin: 0; padding: 0; }
h1, h2, h3 { font-weight: 600; line-height: 1.2; text-wrap: balance; }
h1, h4, li, dd, td, th, .lead, .gist { overflow-wrap: anywhere; }
p { max-width: 40rem; }
b { font-weight: 600; }
li span, .gist span, td, dd { unicode-bidi: isolate; }
.opening { padding-top: clamp(1.5rem, 6vw, 4rem); }
.kicker { color: var(--accent); font: 600 .8125rem/1.4 var(--sans); letter-spacing: .06em; text-transform: uppercase; }
h1 { font-size: clamp(1.75rem, 5vw, 2.5rem); margin: .25rem 0 .75rem; }
.lead { font-size: 1.1875rem; }
.figures { display: flex; flex-wrap: wrap; gap: .75rem 2.5rem; margin-top: 1.5rem; padding: .75rem 0;
  border-top: 2px solid var(--ink); border-bottom: 1px solid var(--rule); }
dt, th, .note, .weight, footer, svg text { color: var(--soft); }
.figures dt, .facts dt, table, .note, .weight, h4, ol, footer, .warnings { font-family: var(--sans); font-size: .875rem; }
.figures dd { margin: 0; font: 600 1.375rem/1.3 var(--sans); font-variant-numeric: tabular-nums; }
.warnings { margin-top: 1.5rem; padding: .25rem 0 .25rem 1rem; border-left: 3px solid var(--accent); }
.warnings ul { list-style: none; }
section { margin-top: clamp(2rem, 6vw, 3.25rem); }
h2 { font-size: 1.5rem; margin-bottom: .75rem; }
.note { margin-top: .75rem; }
figure { display: flow-root; margin-top: .5rem; }
.share + p, figure + p { margin-top: .5rem; }
svg { display: block; overflow: visible; font-family: var(--sans); font-size: .75rem; font-variant-numeric: tabular-nums; }
svg text { fill: var(--soft); }
svg rect, .dot { fill: var(--accent); }
svg .negative { fill: var(--paper); stroke: var(--accent); stroke-width: 1; }
svg .tick { fill: var(--soft); }
svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .grid { stroke: var(--rule); stroke-width: 1; }
.curve polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; stroke-linejoin: round; stroke-linecap: round;
  vector-effect: non-scaling-stroke; }
.texts rect { fill: transparent; }
.texts rect:hover { fill: var(--soft); fill-opacity: .15; }
.chart .dot { stroke: transparent; stroke-width: 12; }
svg .y, svg .to { text-anchor: end; }
svg .x { text-anchor: middle; }
.chart { width: calc(100% - 3.75rem); height: 13rem; margin: 2rem .75rem 3rem 3rem; }
.pair { display: grid; gap: 0 3rem; }
.pair section { display: flex; flex-direction: column; min-width: 0; }
.pair figure { margin-top: auto; }
@media (min-width: 52rem) { .pair { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
.chart a:hover rect, .chart a:focus rect { fill: var(--ink); }
.share { width: 100%; max-width: 40rem; height: .875rem; padding: 1px; margin-bottom: 1.75rem; }
.card { margin-top: 1.5rem; padding-top: .875rem; border-top: 1px solid var(--ink); }
.card header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; }
h3 { font-size: 1.1875rem; }
.card + h3 { margin-top: 2.5rem; }
.weight { font-variant-numeric: tabular-nums; }
.weight b { color: var(--ink); }
.gist { flex-basis: 100%; max-width: none; font-style: italic; }
.modes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 11.5rem), 1fr)); gap: 1.25rem 2rem;
  margin-top: .75rem; }
.mode { min-width: 0; }
@media (min-width: 36rem) { .scale { grid-column: span 2; } }
h4 { color: var(--accent); font-weight: 600; margin-bottom: .375rem; }
ol { list-style: none; line-height: 1.35; font-variant-numeric: tabular-nums; }
.entries li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 .75rem; margin-bottom: .4375rem; }
li b { font-weight: 400; color: var(--soft); }
.entries li b { align-self: end; }
.bar { grid-column: 1 / -1; width: 100%; height: 4px; margin-top: 1px; }
.line { width: calc(100% - 3.25rem); height: 4.5rem; margin: 1.625rem .25rem 1.75rem 3rem; }
.peaks { display: flex; flex-wrap: wrap; gap: .125rem 1rem; }
table { border-collapse: collapse; width: 100%; max-width: 44rem; }
th { text-align: left; font-weight: 400; }
th, td { padding: .3125rem 0; border-bottom: 1px solid var(--rule); vertical-align: baseline; }
th + *, td + * { padding-left: 1.25rem; }
tbody th { color: var(--ink); }
.number, .short td:nth-child(-n+2) { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.short th:nth-child(-n+2) { text-align: right; }

.facts { max-width: 44rem; }
table + .facts { margin-top: 1rem; }
.facts div { display: grid; grid-template-columns: 8.5rem minmax(0, 1fr); gap: 0 .75rem; padding: .125rem 0; }
.facts dd { margin: 0; font-family: var(--sans); font-size: .875rem; font-variant-numeric: tabular-nums; }
.command { display: block; margin-top: .75rem; padding: .5rem .75rem; border-left: 3px solid var(--accent);
  font: .875rem/1.5 ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; }
.contents { margin-top: 1rem; }
.contents ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font: .875rem/1.5 var(--sans); }
a { color: var(--accent); }
figure + table { margin-top: 1rem; }
.downloads { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-top: .5rem;
  font: .875rem/1.5 var(--sans); }
.command + .facts { margin-top: 1rem; }
.settings { max-width: none; columns: 20rem 2; column-gap: 3rem; }
.settings div { break-inside: avoid; }
small { font-size: inherit; color: var(--soft); }
#record h3 { margin: 1.5rem 0 .25rem; }
footer { margin-top: 3rem; padding-bottom: 2rem; }
@media screen and (max-width: 30rem) {
  .facts div { grid-template-columns: 1fr; padding: .25rem 0; }
  .figures { display: grid; grid-template-columns: 1fr 1fr; gap: .5rem 1rem; }
  .mode-table tr { display: grid; grid-template-columns: minmax(0, 1fr) 6rem 5rem; padding: .3125rem 0;
    border-bottom: 1px solid var(--rule); }
  .mode-table th, .mode-table td { border: 0; padding: 0; }
  .mode-table tr :last-child { grid-column: 1 / -1; color: var(--soft); }
}
@media print {
  :root { --paper: #fff; --ink: #000; --soft: #333; --rule: #bbb; --accent: #000; }
  @page { margin: 16mm; }
  html { font-size: 75%; }
  main, footer { max-width: none; padding: 0; }
  .opening { padding-top: 0; }
  section { margin-top: 2rem; }
  .pair { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); }
  .scale { grid-column: span 2; }
  .card, .pair, figure, tr, .facts div, .warnings { break-inside: avoid; }
  h2, h3, h4, thead, .note { break-after: avoid; }
  .chart { height: 10rem; }
}
)css";
}

}  // namespace polyad::report
