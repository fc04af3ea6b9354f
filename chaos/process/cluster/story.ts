import { beatWindowMs } from './programs.ts';

/** An event as a producer sends it. */
export interface StoryEvent {
  readonly event_type: 'Open' | 'Close' | 'Tick' | 'Left' | 'Right' | 'Beat';
  readonly fields: { readonly producer: string; readonly number: number; readonly order: string };
  /** Epoch ms. @default when it is sent for the first time */
  readonly timestamp?: number;
}

/** How many steps after its beginning a pair ends. */
const closeAfter = 3;
const rightAfter = 2;

/**
 * What a producer sends in its n-th step, in this order. Pairs and joins of several steps overlap, so something is always half done. Every
 * fifth pair is closed before it is opened, and every fourth order has no left side: these must give nothing.
 */
export function step(producer: string, number: number): readonly StoryEvent[] {
  const event = (event_type: StoryEvent['event_type'], of: number): StoryEvent => {
    return { event_type, fields: { producer, number: of, order: `${producer}-${of}` } };
  };
  const events: StoryEvent[] = [];
  if (isReversed(number)) events.push(event('Close', number));
  events.push(event('Open', number), event('Tick', number));
  if (number % 4 !== 3) events.push(event('Left', number));
  if (number >= rightAfter) events.push(event('Right', number - rightAfter));
  if (number >= closeAfter && !isReversed(number - closeAfter)) events.push(event('Close', number - closeAfter));
  return events;
}

/** An event some time ago. Its order is the window that it belongs to. */
export function beat(producer: string, number: number, agoMs: number): StoryEvent {
  const timestamp = Date.now() - agoMs;
  return { event_type: 'Beat', fields: { producer, number, order: String(Math.floor(timestamp / beatWindowMs)) }, timestamp };
}

function isReversed(number: number): boolean {
  return number % 5 === 4;
}
