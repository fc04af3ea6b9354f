import type { GeneratedEvent } from './generator.ts';
import type { Random } from './random.ts';

/** How often a story begins, as a share of the events. */
const BEGIN = 1 / 250;
/** How often the next event belongs to a story that is under way. */
const GO_ON = 0.25;

export interface StoryTelling {
  readonly random: Random;
  readonly ordinary: () => GeneratedEvent;
  /** What may happen besides; each gives the events of one story, in order. */
  readonly stories: readonly (() => readonly GeneratedEvent[])[];
}

/** Ordinary events, with stories told between them: several may be under way at once, and each keeps its order. */
export function tell({ random, ordinary, stories }: StoryTelling): () => GeneratedEvent {
  const underWay: GeneratedEvent[][] = [];
  return () => {
    if (random.chance(BEGIN)) underWay.push([...random.pick(stories)()]);
    if (underWay.length === 0 || !random.chance(GO_ON)) return ordinary();
    const at = random.whole(0, underWay.length - 1);
    const story = underWay[at];
    const event = story?.shift();
    if (story?.length === 0) underWay.splice(at, 1);
    return event ?? ordinary();
  };
}
