import { plural } from '../parts/text.ts';

/** What a pattern says of itself where it shows no run: trends are in open windows. */
export function noRunTexts(isTrend: boolean): { readonly title: string; readonly begins: string } {
  return isTrend ? { title: 'Trends', begins: 'A trend begins with:' } : { title: 'No run is open', begins: 'One begins with:' };
}

/** How many events of one side of a join wait for others, and how many until time has come to them. */
export function waitingText(waiting: number, heldBack: number): string {
  const held = `${plural(heldBack, 'event')} that time has not reached`;
  if (heldBack === 0) return `${plural(waiting, 'event')} waiting`;
  return waiting === 0 ? held : `${plural(waiting, 'event')} waiting, ${held}`;
}
