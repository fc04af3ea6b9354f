import type { Page } from 'playwright-core';
// @ts-expect-error Code of the browser, without types.
import { goTo, isShown } from './in-page.mjs';

const parts = [
  '.',
  '..',
  '%2e%2e',
  '%2E',
  '../../x',
  '%2e%2e%2fx',
  '%',
  '%E0%A4%A',
  '%00',
  '__proto__',
  'constructor',
  '-1',
  'NaN',
  '9'.repeat(400),
];
const texts = [
  '<img src=x onerror=alert(1)>',
  '%3Cscript%3E',
  '\u{1f525}',
  '\u202e',
  ' ',
  "';--",
  '%0d%0aX:y',
  'a/b/c/d/e',
  '//',
  '?sort=__proto__&q=%',
  `?q=${'x'.repeat(5_000)}`,
];

/** Places of the console that somebody may have mistyped, cut off or made up, below each of these. */
export function oddPlaces(below: readonly string[]): readonly string[] {
  return below.flatMap((before) => [...parts, ...texts].map((odd) => `#/${before}${odd}`));
}

/** Those at which the page of the console ends in no heading and text: in none, or still waiting. */
export async function deadPlaces(page: Page, places: readonly string[]): Promise<readonly string[]> {
  const dead: string[] = [];
  for (const place of places) {
    await page.evaluate(goTo, place);
    await page.waitForFunction(isShown, undefined, { timeout: 10_000 }).catch(() => dead.push(place));
  }
  return dead;
}
