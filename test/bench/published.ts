import { readFileSync, writeFileSync } from 'node:fs';
import { type BenchReport, reportText } from './report.ts';

/** What the page shows: of each kind the newest run that was published. */
export type Published = Partial<Record<Kind, BenchReport>>;

const KINDS = ['gates', 'micro', 'service', 'scenarios'] as const;
type Kind = (typeof KINDS)[number];

const TITLES: Readonly<Record<Kind, string>> = {
  gates: 'Scenarios beside the same work by hand',
  micro: 'Cases in memory',
  service: 'The process',
  scenarios: 'Scenarios from start to end, and the reference evaluator',
};

const FIGURES = new URL('figures.json', import.meta.url);
const PAGE = new URL('../../docs/performance.md', import.meta.url);
const BEGIN = '<!-- figures: written by npm run bench -- .. --publish -->';
const END = '<!-- end of figures -->';

/** Keeps the figures of a run and writes them into the page. */
export function publish(report: BenchReport): void {
  const published = merged(readPublished(), report);
  writeFileSync(FIGURES, `${JSON.stringify(published, null, 1)}\n`);
  writeFileSync(PAGE, withFigures(readFileSync(PAGE, 'utf8'), publishedText(published)));
}

export function readPublished(): Published {
  return JSON.parse(readFileSync(FIGURES, 'utf8')) as Published;
}

/** What a run measured takes the place of what an earlier one did; the other kinds stay. */
export function merged(published: Published, report: BenchReport): Published {
  const result: Published = { ...published };
  for (const kind of KINDS) if (report[kind].length > 0) result[kind] = only(kind, report);
  return result;
}

function only(kind: Kind, report: BenchReport): BenchReport {
  const nothing = { gates: [], pairs: [], micro: [], service: [], scenarios: [] };
  const pairs = kind === 'gates' ? { pairs: report.pairs } : {};
  return { ...report, ...nothing, ...pairs, [kind]: report[kind] };
}

/** Markdown, a part for each kind. */
export function publishedText(published: Published): string {
  return KINDS.map((kind) => {
    const report = published[kind];
    return `### ${TITLES[kind]}\n\n${report === undefined ? 'Not measured yet.' : reportText(report)}`;
  }).join('\n\n');
}

/** The page with these figures in the place of those it had. @throws Error when it has no place for them */
export function withFigures(page: string, figures: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`docs/performance.md has no place for figures: '${BEGIN}' up to '${END}'`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${figures}\n\n${page.slice(end)}`;
}
