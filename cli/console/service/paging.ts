import { answerTo, ask } from './requests.ts';

const perPage = 1_000;
const pagesMax = 10;

/** Of longer lists the first so many entries are shown, and that is said. */
export const listedMax = perPage * pagesMax;

interface Paged {
  readonly pagination: { readonly has_more: boolean };
}

type ListIn<T> = { [K in keyof T]: T[K] extends readonly unknown[] ? K : never }[keyof T];

/** An answer whose list comes in pages, with the entries of all of them; the rest of it is as the first page has it. */
export async function askPages<T extends Paged>(path: string, list: ListIn<T>, signal: AbortSignal): Promise<T> {
  let answer = await ask<T>(pageOf(path, 0), { signal });
  const first = answer;
  const all = [...(first[list] as readonly unknown[])];
  while (answer.pagination.has_more && all.length < listedMax) {
    answer = await ask<T>(pageOf(path, all.length), { signal });
    const entries = answer[list] as readonly unknown[];
    if (entries.length === 0) break;
    all.push(...entries);
  }
  return { ...first, [list]: all };
}

/** A list that comes in pages, without members around it. A page may hold fewer than were asked for. */
export async function askList<Entry>(path: string, signal: AbortSignal): Promise<readonly Entry[]> {
  const all: Entry[] = [];
  for (;;) {
    const answer = await answerTo(pageOf(path, all.length), { signal });
    const page = (await answer.json()) as readonly Entry[];
    all.push(...page);
    const total = answer.headers.get('x-total-count');
    const isLast = total === null ? page.length < perPage : all.length >= Number(total);
    if (isLast || page.length === 0 || all.length >= listedMax) return all;
  }
}

function pageOf(path: string, offset: number): string {
  return `${path}?limit=${perPage}&offset=${offset}`;
}
